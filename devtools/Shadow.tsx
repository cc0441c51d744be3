import { type CSSProperties, type ReactNode, useCallback, useState } from 'react';
import { createPortal } from 'react-dom';

/** Light, dark, or whatever the system says. */
export type DevtoolsTheme = 'light' | 'dark' | 'system';

/** Props of a shadow root. */
export interface ShadowProps {
  readonly theme?: DevtoolsTheme | undefined;
  /** Declarations for the host, the one element that the page's own styles reach. */
  readonly host?: string;
  readonly className?: string;
  readonly style?: CSSProperties;
  /** Renders the content of the root. */
  readonly children: (root: ShadowRoot) => ReactNode;
}

/**
 * Content in a shadow root of its own. The page's styles end at it, and so do events inside it: an app must not take a key
 * pressed here for one of its own. The root is open, so that tests and assistive tools see into it.
 */
export function Shadow({ theme = 'system', host = '', className, style, children }: ShadowProps): ReactNode {
  const [root, setRoot] = useState<ShadowRoot | null>(null);
  const attach = useCallback(
    (element: HTMLElement | null) => {
      if (!element) return;
      element.style.cssText = `all:initial!important;${host}`;
      setRoot(element.shadowRoot ?? element.attachShadow({ mode: 'open' }));
    },
    [host],
  );
  const colorScheme = theme === 'system' ? 'light dark' : theme;
  const content = root && (
    <div className={className} style={{ colorScheme, ...style }} lang="en" {...quiet}>
      {children(root)}
    </div>
  );
  return <div ref={attach}>{root && createPortal(content, root)}</div>;
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
