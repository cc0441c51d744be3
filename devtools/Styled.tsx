import { createContext, type ReactNode, useContext, useLayoutEffect } from 'react';
import { Shadow, type ShadowProps } from './Shadow.tsx';

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

interface StyledProps extends Omit<ShadowProps, 'children'> {
  readonly css: string;
  /** For pages whose policy refuses styles, in browsers without constructable style sheets. */
  readonly nonce?: string | undefined;
  readonly children: ReactNode;
}

/** Children in a shadow root with these styles. */
export function Styled({ css, nonce, className = '', children, ...place }: StyledProps): ReactNode {
  return (
    <Shadow {...place} className={`root ${className}`}>
      {(root) => (
        <Shown.Provider value={{ window: windowOf(root), root, nonce }}>
          <Style css={css} />
          {children}
        </Shown.Provider>
      )}
    </Shadow>
  );
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
