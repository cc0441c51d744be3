import { type ReactNode, useLayoutEffect, useRef, useState, useSyncExternalStore } from 'react';
import { createPortal } from 'react-dom';
import {
  type DevtoolsPosition,
  type Extent,
  type Insets,
  insetsOf,
  isBeside,
  type Place,
  placeOf,
  WIDE,
} from './dock.ts';
import { Dressed } from './Dressed.tsx';
import { exactly } from './figures.ts';
import type { MenuItem } from './Menu.tsx';
import { recall, remember } from './memory.ts';
import { useOwnWindow } from './ownWindow.ts';
import type { DevtoolsTheme } from './Shadow.tsx';
import { Styled } from './Styled.tsx';
import { panelCss } from './theme.ts';

interface DockProps {
  /** The edge to begin with, until a person chooses one. Undefined: beside the app if there is room, else at the top. */
  readonly position: DevtoolsPosition | undefined;
  readonly theme: DevtoolsTheme | undefined;
  readonly styleNonce: string | undefined;
  /** Called with how much of the window is taken; `:root` gets the same as `--contextree-inset-top` and the like. */
  readonly onInsetsChange: ((insets: Insets) => void) | undefined;
  /** The content, for the groups of its menu and its end: an alert, and the edge by which it is resized. */
  readonly children: (groups: Readonly<Record<string, readonly MenuItem[]>>, end: ReactNode) => ReactNode;
}

/** The panel at an edge of the window, or in a window of its own. */
export function Dock({ position, theme, styleNonce, onInsetsChange, children }: DockProps): ReactNode {
  const [chosen, setChosen] = useState(recall);
  const own = useOwnWindow();
  const extent = useExtent();
  const place = placeOf(chosen.side ?? position, chosen, extent);
  const [isUnder, setUnder] = useState(false);
  useInsets(own.window ? undefined : place, onInsetsChange);
  const worn = chosen.theme ?? theme ?? 'system';

  const choose = (more: ReturnType<typeof recall>): void => {
    setChosen({ ...chosen, ...more });
    remember(more);
  };
  const standAt = (side: DevtoolsPosition): void => {
    own.close();
    choose({ side });
  };
  const groups = {
    Dock: [
      ...SIDES.map((label) => ({
        label,
        isChosen: !own.window && place.side === lower(label),
        off:
          placeOf(lower(label), chosen, extent).side === lower(label)
            ? undefined
            : `from ${exactly(WIDE)} px on`,
        run: () => standAt(lower(label)),
      })),
      { label: 'Own window', isChosen: own.window !== null, run: own.open },
    ],
    Theme: THEMES.map((label) => ({
      label,
      isChosen: worn === lower(label),
      run: () => choose({ theme: lower(label) }),
    })),
  };
  const resize = (size: number): void => choose(isBeside(place.side) ? { width: size } : { height: size });
  const content = (
    <Styled
      key={own.window ? 'own' : 'docked'}
      css={panelCss}
      nonce={styleNonce}
      theme={worn}
      host={
        own.window
          ? 'display:block!important;height:100vh!important'
          : 'position:relative!important;z-index:2147483000!important'
      }
      className={own.window ? 'embedded own' : `floating ${place.side}${isUnder ? ' collapsed' : ''}`}
      style={own.window ? {} : { ['--size' as string]: `${place.size}px` }}
    >
      {children(
        groups,
        !own.window && (
          <>
            {own.alert}
            <Dressed>
              {({ Resizer }) => <Resizer place={place} extent={extent} onSize={resize} onUnder={setUnder} />}
            </Dressed>
          </>
        ),
      )}
    </Styled>
  );
  return own.window ? createPortal(content, own.window.document.body) : content;
}

const SIDES = ['Right', 'Bottom', 'Left', 'Top'] as const;
const THEMES = ['System', 'Light', 'Dark'] as const;

function lower<T extends string>(label: T): Lowercase<T> {
  return label.toLowerCase() as Lowercase<T>;
}

/** The size of the window, in CSS pixels. */
function useExtent(): Extent {
  const width = useSyncExternalStore(onResize, () => innerWidth);
  const height = useSyncExternalStore(onResize, () => innerHeight);
  return { width, height };
}

function onResize(hear: () => void): () => void {
  addEventListener('resize', hear);
  return () => removeEventListener('resize', hear);
}

/** Reports to the app, and to its styles, how much of the window is taken; nothing after unmounting. */
function useInsets(place: Place | undefined, tell: ((insets: Insets) => void) | undefined): void {
  const { side, size } = place ?? {};
  const told = useRef(tell);
  useLayoutEffect(() => {
    told.current = tell;
  });
  useLayoutEffect(() => {
    setInsets(insetsOf(side, size), told.current);
  }, [side, size]);
  useLayoutEffect(() => () => setInsets(insetsOf(), told.current), []);
}

function setInsets(insets: Insets, tell: ((insets: Insets) => void) | undefined): void {
  const { style } = document.documentElement;
  for (const [side, size] of Object.entries(insets))
    style.setProperty(`--contextree-inset-${side}`, `${size}px`);
  tell?.(insets);
}
