import { createContext, type ReactNode, useCallback, useContext, useLayoutEffect, useState } from 'react';
import { createPortal } from 'react-dom';

/** Light, dark, or whatever the system says. */
export type DevtoolsTheme = 'light' | 'dark' | 'system';

/** The content of a shadow root, and its styles. */
interface ShadowProps {
  readonly css: string;
  /** For pages whose policy refuses styles, in browsers without constructable style sheets. */
  readonly nonce?: string | undefined;
  readonly theme?: DevtoolsTheme | undefined;
  /** Declarations for the host, the one element that the page's own styles reach. */
  readonly host?: string;
  readonly className?: string;
  /** `--size` inside, in CSS pixels. */
  readonly size?: number | undefined;
  readonly children: ReactNode;
}

/** The root that shows a component, and its window. */
interface Showing {
  readonly window: Window | null;
  readonly root: ShadowRoot | null;
  readonly nonce?: string | undefined;
}

const Shown = createContext<Showing>({ window: null, root: null });

/** The window that shows the calling component, with its frames and its clipboard; it need not be the app's window. */
export function useShownIn(): Window {
  return useContext(Shown).window ?? window;
}

/** Styles that are loaded with their component: adopted before it is painted, and kept. */
export function Style({ css }: { readonly css: string }): ReactNode {
  const { root, nonce } = useContext(Shown);
  useLayoutEffect(() => {
    if (root && canAdopt(root)) adopt(root, css);
  }, [root, css]);
  return root && !canAdopt(root) && <style nonce={nonce}>{css}</style>;
}

/**
 * Children in a shadow root of their own. The page's styles end at it, and so do events inside it: an app must not take a key
 * pressed here for one of its own. The root is open, so that tests and assistive tools see into it.
 */
export function Shadow({
  css,
  nonce,
  theme = 'system',
  host = '',
  className = '',
  size,
  children,
}: ShadowProps): ReactNode {
  const [root, setRoot] = useState<ShadowRoot | null>(null);
  const attach = useCallback(
    (element: HTMLElement | null) => {
      if (!element) return;
      element.style.cssText = `all:initial!important;${host}`;
      setRoot(element.shadowRoot ?? element.attachShadow({ mode: 'open' }));
    },
    [host],
  );
  const content = root && (
    <div
      className={`root ${className}`}
      style={{
        colorScheme: theme === 'system' ? 'light dark' : theme,
        ...(size === undefined ? {} : { ['--size' as string]: `${size}px` }),
      }}
      lang="en"
      {...quiet}
    >
      <Shown.Provider value={{ window: windowOf(root), root, nonce }}>
        <Style css={css} />
        {children}
      </Shown.Provider>
    </div>
  );
  return <div ref={attach}>{root && createPortal(content, root)}</div>;
}

/** The root's window; null for the app's own: tests and tools may have replaced what that one has. */
function windowOf({ ownerDocument }: ShadowRoot): Window | null {
  return ownerDocument === document ? null : ownerDocument.defaultView;
}

function canAdopt(root: ShadowRoot): boolean {
  const view = root.ownerDocument.defaultView;
  return 'adoptedStyleSheets' in root && typeof view?.CSSStyleSheet?.prototype.replaceSync === 'function';
}

/** The sheets that each root has adopted. */
const sheets = new WeakMap<ShadowRoot, Set<string>>();

/** A constructed sheet needs no permission from a content security policy. It belongs to one document. */
function adopt(root: ShadowRoot, css: string): void {
  const known = sheets.get(root) ?? new Set();
  sheets.set(root, known);
  if (known.has(css)) return;
  known.add(css);
  const sheet = new (root.ownerDocument.defaultView as Window & typeof globalThis).CSSStyleSheet();
  sheet.replaceSync(css);
  root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
}

function stop(event: { stopPropagation(): void }): void {
  event.stopPropagation();
}

/** React lets events of a portal bubble to the component that rendered it; these handlers stop them. */
const quiet = {
  onClick: stop,
  onDoubleClick: stop,
  onContextMenu: stop,
  onMouseDown: stop,
  onMouseUp: stop,
  onPointerDown: stop,
  onPointerUp: stop,
  onTouchStart: stop,
  onTouchEnd: stop,
  onWheel: stop,
  onKeyDown: stop,
  onKeyUp: stop,
  onFocus: stop,
  onBlur: stop,
  onInput: stop,
  onChange: stop,
  onCopy: stop,
};
