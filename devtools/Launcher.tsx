import type { ContextEngine, InspectOptions } from 'contextree';
import {
  type CSSProperties,
  type FunctionComponent,
  type ReactNode,
  useEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import { createPortal } from 'react-dom';
import { Guard } from './Guard.tsx';
import type { DevtoolsPosition, Insets } from './dock.ts';
import { HOTKEY, isHotkey } from './hotkey.ts';
import { useLoaded } from './loaded.ts';
import type { Consoles } from './Consoles.tsx';
import type { EmbeddedPanel, FloatingPanel, Recording } from './Panel.tsx';
import { recall, remember } from './memory.ts';
import { type DevtoolsTheme, Shadow } from './Shadow.tsx';
import type { RunSettings } from './view.ts';

/** The corner of the button; `relative`: where the component is rendered. */
export type DevtoolsButtonPosition = 'top-left' | 'top-right' | 'bottom-left' | 'bottom-right' | 'relative';

/** Props of the panel: the engine to show, and its appearance. */
export interface ContextDevtoolsPanelProps {
  /** The engine to show; default: that of the nearest `ContextEngineProvider`. */
  readonly engine?: ContextEngine;
  /** Several engines, for a page with several chats: the panel has a picker for them. */
  readonly engines?: readonly ContextEngine[];
  /** Default `system`; a person's choice in the panel comes first. */
  readonly theme?: DevtoolsTheme;
  /** For pages with a content security policy, in browsers without constructable style sheets. */
  readonly styleNonce?: string;
  /** The model whose prices and limits to show: `openai:gpt-4o`. Default: the one in the chat's metadata. */
  readonly modelId?: string;
  /**
   * The tokenizer to use instead of the estimate: `createWorkerTokenizer()` of `contextree/tokenizers/o200k-worker`, made once
   * outside of components, counts exactly and off the main thread. Where it fails, the estimate is used.
   */
  readonly tokenizer?: InspectOptions['tokenizer'];
  /** The models that the view Run may call, and how: `{ models: ['gpt-4o', 'gpt-5'], body: (model) => ({ model }) }`. */
  readonly run?: RunSettings;
}

/** Props of the floating devtools: those of the panel, and its place. */
export interface ContextDevtoolsProps extends ContextDevtoolsPanelProps {
  /** Whether the panel is open on a first visit; later visits restore the last state. Default false. */
  readonly initialIsOpen?: boolean;
  /**
   * The edge of the window to dock at, until a person chooses another one. Default: right where the window is at least 1,152
   * pixels wide. A narrower one has room at the top or the bottom only, for at most half of its height.
   */
  readonly position?: DevtoolsPosition;
  /**
   * The hotkey that opens and closes the panel: modifiers (`Mod` is Ctrl or Cmd) and a key's `code`. Default
   * `Mod+Shift+Period`; null for none.
   */
  readonly hotkey?: string | null;
  /** Default `bottom-right`. */
  readonly buttonPosition?: DevtoolsButtonPosition;
  /** Whether to load the panel's code at once and not when it is first opened: for apps that go offline. Default false. */
  readonly preload?: boolean;
  /** Called on mounting and on each change. */
  readonly onOpenChange?: (isOpen: boolean) => void;
  /**
   * Called with the CSS pixels that the panel takes of each edge of the window, on each change, so that an app can make room.
   * Style sheets find the same values as `--contextree-inset-top`, `-right`, `-bottom` and `-left` on `:root`. All are 0 while
   * the panel is closed, or has a window of its own.
   */
  readonly onInsetsChange?: (insets: Insets) => void;
}

/**
 * Loads the panel's code. The maker of the devtools passes the function, so that the `import()` stands where a bundler can see
 * that it is never reached.
 */
export type LoadPanel = () => Promise<{
  readonly FloatingPanel: typeof FloatingPanel;
  readonly EmbeddedPanel: typeof EmbeddedPanel;
  readonly Recording: typeof Recording;
}>;

/** Loads the code of the console API. */
type LoadConsole = () => Promise<{ readonly Consoles: typeof Consoles }>;

/**
 * A button that opens the panel at an edge of the window. While it is closed, nothing of the engine is read, unless a person
 * chose to record.
 */
export function floatingDevtools(
  load: LoadPanel,
  loadConsole?: LoadConsole,
): FunctionComponent<ContextDevtoolsProps> {
  return function ContextDevtools(props) {
    return (
      <Guest {...props} load={loadConsole}>
        <Launcher {...props} load={load} />
      </Guest>
    );
  };
}

/** The panel, always open, filling the place where it is rendered. */
export function embeddedDevtools(
  load: LoadPanel,
  loadConsole?: LoadConsole,
): FunctionComponent<ContextDevtoolsPanelProps> {
  return function ContextDevtoolsPanel(props) {
    return (
      <Guest {...props} load={loadConsole}>
        <Embedded {...props} load={load} />
      </Guest>
    );
  };
}

/** Renders nothing on a server, and nothing after an error. */
function Guest({ load, engine, engines, children }: GuestProps): ReactNode {
  if (!useIsClient()) return null;
  return (
    <>
      <Guard renderFailure={nothing}>{children}</Guard>
      <Guard renderFailure={nothing}>{load && <Console {...{ load, engine, engines }} />}</Guard>
    </>
  );
}

interface GuestProps {
  readonly engine?: ContextEngine | undefined;
  readonly engines?: readonly ContextEngine[] | undefined;
  readonly load: LoadConsole | undefined;
  readonly children: ReactNode;
}

function nothing(): ReactNode {
  return null;
}

/** Gives the page's console access to the engines; nothing without an engine. */
function Console({ load, ...of }: Omit<GuestProps, 'children'> & { readonly load: LoadConsole }): ReactNode {
  const loaded = useLoadedCode(load, true);
  return loaded && <loaded.Consoles engine={of.engine} engines={of.engines} />;
}

/** False on the server and while its HTML is hydrated. */
function useIsClient(): boolean {
  return useSyncExternalStore(
    () => () => undefined,
    () => true,
    () => false,
  );
}

interface Loading {
  readonly load: LoadPanel;
}

function Embedded({ load, ...props }: ContextDevtoolsPanelProps & Loading): ReactNode {
  const loaded = useLoadedCode(load, true);
  return loaded && <loaded.EmbeddedPanel {...props} />;
}

function Launcher({
  load,
  initialIsOpen = false,
  buttonPosition = 'bottom-right',
  hotkey = HOTKEY,
  preload = false,
  onOpenChange,
  ...shown
}: ContextDevtoolsProps & Loading): ReactNode {
  const [isOpen, setIsOpen] = useState(() => recall().isOpen ?? initialIsOpen);
  const [isAsked, setIsAsked] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const isRecording = !isOpen && recall().recordsClosed === true;
  const loaded = useLoadedCode(load, isOpen || preload || isRecording);
  useEffect(() => onOpenChange?.(isOpen), [onOpenChange, isOpen]);
  useEffect(() => {
    // Nothing is stored for an app that never opens the panel.
    if (isOpen || isAsked) remember({ isOpen });
    if (isAsked && !isOpen) button.current?.focus();
  }, [isAsked, isOpen]);

  const show = (open: boolean): void => {
    setIsAsked(true);
    setIsOpen(open);
  };
  const onKey = (event: KeyboardEvent): void => {
    if (!isHotkey(event, hotkey)) return;
    event.preventDefault();
    show(!isOpen);
  };
  useEffect(() => {
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  });
  const opener = (
    <Shadow theme={shown.theme} host={hostOf(buttonPosition)}>
      {() => (
        <button
          ref={button}
          aria-label="Open contextree devtools"
          title="contextree"
          style={{ ...buttonStyle, visibility: isOpen ? 'hidden' : 'visible' }}
          onClick={() => show(true)}
          // Key events in here do not leave the shadow root, and the button has the focus after the panel was closed.
          onKeyDown={({ nativeEvent }) => onKey(nativeEvent)}
        >
          <svg width="20" height="20" fill="none" stroke="currentColor" strokeWidth="2" aria-hidden="true">
            <path d="M5 6v8M5 12c0-4 10-2 10-6" />
            <circle cx="5" cy="4" r="2" />
            <circle cx="5" cy="16" r="2" />
            <circle cx="15" cy="4" r="2" />
          </svg>
        </button>
      )}
    </Shadow>
  );
  const panel = isOpen && loaded && (
    <loaded.FloatingPanel {...shown} hotkey={hotkey} takesFocus={isAsked} onClose={() => show(false)} />
  );
  // An ancestor with a transform or a filter would contain what is fixed to the window.
  return (
    <>
      {buttonPosition === 'relative' ? opener : createPortal(opener, document.body)}
      {panel && createPortal(panel, document.body)}
      {isRecording && loaded && <loaded.Recording {...shown} />}
    </>
  );
}

/** Code of the devtools, loaded when it is first needed. */
function useLoadedCode<T>(load: () => Promise<T>, isWanted: boolean): T | undefined {
  const { value, error } = useLoaded(load, isWanted);
  useEffect(() => {
    if (error) console.error('The contextree devtools could not be loaded.', error);
  }, [error]);
  return value;
}

function hostOf(position: DevtoolsButtonPosition): string {
  if (position === 'relative') return 'display:inline-block!important';
  const sides = position.split('-').map((side) => `${side}:12px!important;`);
  return `position:fixed!important;z-index:2147482999!important;${sides.join('')}`;
}

/** Without a style sheet, which a page's policy may refuse. */
const buttonStyle: CSSProperties = {
  display: 'grid',
  placeItems: 'center',
  width: 44,
  height: 44,
  padding: 0,
  borderRadius: 22,
  cursor: 'pointer',
  color: 'light-dark(#265,#8ca)',
  background: 'light-dark(#fff,#111)',
  border: '1px solid light-dark(#889,#778)',
};
