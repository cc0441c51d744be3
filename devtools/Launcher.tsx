import type { ContextEngine, InspectOptions } from 'contextree';
import {
  type FunctionComponent,
  type ReactNode,
  useEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import { createPortal } from 'react-dom';
import { Guard } from './Guard.tsx';
import type { DevtoolsPosition, Panel } from './Panel.tsx';
import { recall, remember } from './memory.ts';
import { type DevtoolsTheme, Shadow } from './Shadow.tsx';

/** The corner in which the button stands; `relative`: where the component is rendered. */
export type DevtoolsButtonPosition = 'top-left' | 'top-right' | 'bottom-left' | 'bottom-right' | 'relative';

/** Which engine to show, and how it looks. */
export interface ContextDevtoolsPanelProps {
  /** Whose chat to show; without it, the engine of the nearest `ContextEngineProvider`. */
  readonly engine?: ContextEngine;
  /** Default `system`. */
  readonly theme?: DevtoolsTheme;
  /** For pages with a content security policy, in browsers without constructable style sheets. */
  readonly styleNonce?: string;
  /** The model whose prices and limits to show: `openai:gpt-4o`. Default: the one that the chat's metadata name. */
  readonly modelId?: string;
  /**
   * What counts tokens, instead of the estimate: `createWorkerTokenizer()` of `contextree/tokenizers/o200k-worker`,
   * made once outside of components, counts exactly and off the main thread. Where it fails, the estimate counts.
   */
  readonly tokenizer?: InspectOptions['tokenizer'];
}

/** The same, and where it stands. */
export interface ContextDevtoolsProps extends ContextDevtoolsPanelProps {
  /** Whether it is open on a first visit; afterwards what the person did last decides. Default false. */
  readonly initialIsOpen?: boolean;
  /** Default `right`. */
  readonly position?: DevtoolsPosition;
  /** Default `bottom-right`. */
  readonly buttonPosition?: DevtoolsButtonPosition;
  /** Fetch the panel's code at once and not when it is first opened: for apps that go offline. Default false. */
  readonly preload?: boolean;
  /** Told on mounting and on each change, so that an app can make room: at the sides the panel is 420 pixels wide. */
  readonly onOpenChange?: (isOpen: boolean) => void;
}

/**
 * Fetches the panel's code. Whoever makes the devtools says how, so that the `import()` stands where a bundler can see
 * that it is never reached.
 */
export type LoadPanel = () => Promise<{ readonly Panel: typeof Panel }>;

/** A button that opens the panel at an edge of the window. While it is closed, nothing of the engine is read. */
export function floatingDevtools(load: LoadPanel): FunctionComponent<ContextDevtoolsProps> {
  return function ContextDevtools(props) {
    return (
      <Guest>
        <Launcher {...props} load={load} />
      </Guest>
    );
  };
}

/** The panel, always open, filling the place where it is rendered. */
export function embeddedDevtools(load: LoadPanel): FunctionComponent<ContextDevtoolsPanelProps> {
  return function ContextDevtoolsPanel(props) {
    return (
      <Guest>
        <Embedded {...props} load={load} />
      </Guest>
    );
  };
}

/** Nothing on a server, and nothing where something failed. */
function Guest({ children }: { readonly children: ReactNode }): ReactNode {
  return useIsClient() ? <Guard renderFailure={() => null}>{children}</Guard> : null;
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
  const loaded = useLoaded(load, true);
  return loaded && <loaded.Panel {...props} />;
}

function Launcher({
  engine,
  theme,
  styleNonce,
  modelId,
  tokenizer,
  initialIsOpen = false,
  position = 'right',
  buttonPosition = 'bottom-right',
  preload = false,
  onOpenChange,
  load,
}: ContextDevtoolsProps & Loading): ReactNode {
  const [isOpen, setIsOpen] = useState(() => recall().isOpen ?? initialIsOpen);
  const [isAsked, setIsAsked] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const loaded = useLoaded(load, isOpen || preload);
  useEffect(() => onOpenChange?.(isOpen), [onOpenChange, isOpen]);
  useEffect(() => {
    if (isAsked && !isOpen) button.current?.focus();
  }, [isAsked, isOpen]);

  const show = (open: boolean): void => {
    remember({ isOpen: open });
    setIsAsked(true);
    setIsOpen(open);
  };
  const opener = (
    <Shadow
      css={buttonCss}
      nonce={styleNonce}
      theme={theme}
      host={hostOf(buttonPosition)}
      className={isOpen ? 'hidden' : ''}
    >
      <button
        ref={button}
        type="button"
        aria-label="Open contextree devtools"
        title="contextree"
        onClick={() => show(true)}
      >
        <svg
          width="20"
          height="20"
          viewBox="0 0 20 20"
          fill="none"
          stroke="currentColor"
          strokeWidth="2"
          aria-hidden="true"
        >
          <path d="M5 6v8M5 12c0-4 10-2 10-6" />
          <circle cx="5" cy="4" r="2" />
          <circle cx="5" cy="16" r="2" />
          <circle cx="15" cy="4" r="2" />
        </svg>
      </button>
    </Shadow>
  );
  const panel = isOpen && loaded && (
    <loaded.Panel
      engine={engine}
      position={position}
      theme={theme}
      styleNonce={styleNonce}
      modelId={modelId}
      tokenizer={tokenizer}
      takesFocus={isAsked}
      onClose={() => show(false)}
    />
  );
  // An ancestor with a transform or a filter would catch what is fixed to the window.
  return (
    <>
      {buttonPosition === 'relative' ? opener : createPortal(opener, document.body)}
      {panel && createPortal(panel, document.body)}
    </>
  );
}

/** The panel's code, fetched when it is first wanted. */
function useLoaded(load: LoadPanel, isWanted: boolean): Awaited<ReturnType<LoadPanel>> | undefined {
  const [loaded, setLoaded] = useState<Awaited<ReturnType<LoadPanel>>>();
  useEffect(() => {
    if (!isWanted || loaded) return undefined;
    let isCurrent = true;
    load().then(
      (module) => isCurrent && setLoaded(module),
      (error: unknown) => console.error('The contextree devtools could not be loaded.', error),
    );
    return () => {
      isCurrent = false;
    };
  }, [load, isWanted, loaded]);
  return loaded;
}

function hostOf(position: DevtoolsButtonPosition): string {
  if (position === 'relative') return 'display:inline-block!important';
  const sides = position.split('-').map((side) => `${side}:12px!important;`);
  return `position:fixed!important;z-index:2147482999!important;${sides.join('')}`;
}

const buttonCss = `.hidden{visibility:hidden}
button{display:grid;place-items:center;width:44px;height:44px;margin:0;padding:0;border-radius:22px;cursor:pointer;
color:light-dark(#1f5fd0,#82aeff);background:light-dark(#fff,#15171c);border:1px solid light-dark(#8b929e,#747c89)}
button:hover{background:light-dark(#f0f2f6,#21252d)}
button:focus-visible{outline:2px solid;outline-offset:2px}`;
