import { createContext, use, useCallback, useEffect, useState, type FocusEvent, type ReactNode } from 'react';
import { cutBetweenWords } from '../titles.ts';
import { Icon } from '../ui/Icon.tsx';
import { usePassFocus } from '../ui/usePassFocus.ts';

/**
 * Short messages about what just happened, with an action or an undo.
 *
 * They stand between the conversation and the composer and cover neither. There is one of each kind at a time: a notice with
 * the same `key` replaces the older one. They stay when the person goes to another page. A notice with a time limit stays while
 * it is hovered or focused, and its time begins again afterwards.
 */

/** What to tell. */
export interface Notice {
  readonly key: string;
  readonly text: string;
  /** The action that it offers. */
  readonly action?: NoticeAction;
  /** The undo that it offers. */
  readonly undo?: NoticeAction;
  /** How long it stays, in ms, while nobody hovers or focuses it; without it, until it is dismissed. */
  readonly lasts?: number;
}

interface NoticeAction {
  readonly label: string;
  /** A longer description, if the label alone is unclear. */
  readonly about?: string;
  readonly run: () => unknown;
}

interface NoticeBoard {
  readonly tell: (notice: Notice) => void;
  readonly take: (key: string) => void;
}

const Board = createContext<NoticeBoard>({ tell: () => {}, take: () => {} });
const Current = createContext<readonly Notice[]>([]);

/** Tells of something, or takes it back. Both functions are stable. */
export function useNotices(): NoticeBoard {
  return use(Board);
}

/** Keeps the notices of what is inside. */
export function NoticeKeeper({ children }: { readonly children: ReactNode }): ReactNode {
  const [notices, setNotices] = useState<readonly Notice[]>([]);
  const [board] = useState(() => boardOver(setNotices));
  return (
    <Board value={board}>
      <Current value={notices}>{children}</Current>
    </Board>
  );
}

/** Shows the notices. `afterLast` takes the focus when the last one is removed with the focus in it. */
export function Notices({ afterLast }: { readonly afterLast: () => void }): ReactNode {
  const { take } = useNotices();
  return (
    <div role="status" className="notices">
      {use(Current).map((notice) => (
        <NoticeLine key={notice.key} notice={notice} take={take} afterLast={afterLast} />
      ))}
    </div>
  );
}

function NoticeLine({ notice, take, afterLast }: NoticeLineProps): ReactNode {
  const { text, action, undo } = notice;
  const short = text.replaceAll(/“([^”]+)”/g, (_, name: string) => `“${cutBetweenWords(name, LONGEST)}”`);
  const line = usePassFocus<HTMLDivElement>(afterLast);
  const { isHeld, holders } = useHeld();
  const { key } = notice;
  const dismiss = useCallback(() => take(key), [take, key]);
  useEffect(() => {
    if (isHeld || notice.lasts === undefined) return undefined;
    const timer = setTimeout(dismiss, notice.lasts);
    return () => clearTimeout(timer);
  }, [notice, isHeld, dismiss]);
  return (
    <div ref={line} className="notice" {...holders}>
      <p dir="auto" title={short === text ? undefined : text}>
        {short}
      </p>
      {[action, undo].map(
        (one) =>
          one && (
            <button
              key={one.label}
              type="button"
              className="notice-action"
              title={one.about}
              onClick={() => {
                dismiss();
                one.run();
              }}
            >
              {one.label}
            </button>
          ),
      )}
      <button type="button" className="icon-button" aria-label="Dismiss" onClick={dismiss}>
        <Icon name="close" />
      </button>
    </div>
  );
}

/** The longest name in a notice, in code units: on the smallest phone it stays within two lines. */
const LONGEST = 24;

interface NoticeLineProps {
  readonly notice: Notice;
  readonly take: (key: string) => void;
  readonly afterLast: () => void;
}

type SetNotices = (change: (notices: readonly Notice[]) => readonly Notice[]) => void;

function boardOver(setNotices: SetNotices): NoticeBoard {
  return {
    tell: (notice) => setNotices((all) => [...without(all, notice.key), notice]),
    take: (key) => setNotices((all) => without(all, key)),
  };
}

function without(all: readonly Notice[], key: string): readonly Notice[] {
  return all.some((one) => one.key === key) ? all.filter((one) => one.key !== key) : all;
}

/** Whether an element is hovered or has the focus in it, and the handlers that tell, to be spread on it. */
function useHeld(): { readonly isHeld: boolean; readonly holders: object } {
  const [isHovered, setHovered] = useState(false);
  const [isFocused, setFocused] = useState(false);
  const holders = {
    onPointerEnter: () => setHovered(true),
    onPointerLeave: () => setHovered(false),
    onFocus: () => setFocused(true),
    onBlur: ({ currentTarget, relatedTarget }: FocusEvent) =>
      setFocused(relatedTarget instanceof Node && currentTarget.contains(relatedTarget)),
  };
  return { isHeld: isHovered || isFocused, holders };
}
