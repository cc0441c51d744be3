import { type ReactNode, useCallback, useLayoutEffect, useState } from 'react';
import { createPortal } from 'react-dom';

/** Light, dark, or whatever the system says. */
export type DevtoolsTheme = 'light' | 'dark' | 'system';

/** What stands in a shadow root, and how it is dressed. */
interface ShadowProps {
  readonly css: string;
  /** For pages whose policy refuses styles and browsers without constructable sheets. */
  readonly nonce?: string | undefined;
  readonly theme?: DevtoolsTheme | undefined;
  /** Declarations of the host, the one element that the page's own styles could reach. */
  readonly host?: string;
  readonly className?: string;
  readonly children: ReactNode;
}

/**
 * Children in a shadow root of their own. The page's styles end at it, and so do the events that happen inside: an
 * app must not take a key pressed here for one of its own. It is open, so that tests and assistive tools see in.
 */
export function Shadow({
  css,
  nonce,
  theme = 'system',
  host = '',
  className = '',
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
  useLayoutEffect(() => {
    if (root && canAdopt(root)) adopt(root, css);
  }, [root, css]);
  const content = root && (
    <div
      className={`root ${className}`}
      style={{ colorScheme: theme === 'system' ? 'light dark' : theme }}
      lang="en"
      {...quiet}
    >
      {!canAdopt(root) && <style nonce={nonce}>{css}</style>}
      {children}
    </div>
  );
  return <div ref={attach}>{root && createPortal(content, root)}</div>;
}

function canAdopt(root: ShadowRoot): boolean {
  const view = root.ownerDocument.defaultView;
  return 'adoptedStyleSheets' in root && typeof view?.CSSStyleSheet?.prototype.replaceSync === 'function';
}

/** A constructed sheet needs no permission from a content security policy. It belongs to one document. */
function adopt(root: ShadowRoot, css: string): void {
  const sheet = new (root.ownerDocument.defaultView as Window & typeof globalThis).CSSStyleSheet();
  sheet.replaceSync(css);
  root.adoptedStyleSheets = [sheet];
}

function stop(event: { stopPropagation(): void }): void {
  event.stopPropagation();
}

/** React lets events of a portal rise to the component that rendered it; here they end. */
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
