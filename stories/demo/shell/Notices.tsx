import { createContext, use, useState, type ReactNode } from 'react';
import { Icon } from '../ui/Icon.tsx';
import { usePassFocus } from '../ui/usePassFocus.ts';

/**
 * Short messages about what just happened, with a way to follow or undo it.
 *
 * They stand between the conversation and the composer and cover neither. One of a kind at a time: `key` says which
 * kind it is, and a newer one takes its place. They outlive the page that they speak of.
 */

/** What to tell. */
interface Notice {
  readonly key: string;
  readonly text: string;
  readonly action?: {
    readonly label: string;
    /** More words about it, where the label leaves a doubt. */
    readonly about?: string;
    readonly run: () => unknown;
  };
  /** Milliseconds until it goes by itself; without it, it stays until it is dismissed. */
  readonly lasts?: number;
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

/** The place where notices are shown. `afterLast` takes the focus when the last one goes away with it. */
export function Notices({ afterLast }: { readonly afterLast: () => void }): ReactNode {
  const { take } = useNotices();
  return (
    <div role="status" className="notices">
      {use(Current).map((notice) => (
        <NoticeLine key={notice.key} notice={notice} dismiss={() => take(notice.key)} afterLast={afterLast} />
      ))}
    </div>
  );
}

function NoticeLine({ notice, dismiss, afterLast }: NoticeLineProps): ReactNode {
  const { text, action } = notice;
  const line = usePassFocus<HTMLDivElement>(afterLast);
  const act = (): void => {
    dismiss();
    action?.run();
  };
  return (
    <div ref={line} className="notice">
      <p dir="auto">{text}</p>
      {action && (
        <button type="button" className="notice-action" title={action.about} onClick={act}>
          {action.label}
        </button>
      )}
      <button type="button" className="icon-button" aria-label="Dismiss" onClick={dismiss}>
        <Icon name="close" />
      </button>
    </div>
  );
}

interface NoticeLineProps {
  readonly notice: Notice;
  readonly dismiss: () => void;
  readonly afterLast: () => void;
}

type SetNotices = (change: (notices: readonly Notice[]) => readonly Notice[]) => void;

function boardOver(setNotices: SetNotices): NoticeBoard {
  const timers = new Map<string, ReturnType<typeof setTimeout>>();
  const take = (key: string): void => {
    clearTimeout(timers.get(key));
    timers.delete(key);
    setNotices((notices) => notices.filter((notice) => notice.key !== key));
  };
  const tell = (notice: Notice): void => {
    clearTimeout(timers.get(notice.key));
    setNotices((notices) => [...notices.filter(({ key }) => key !== notice.key), notice]);
    if (notice.lasts !== undefined)
      timers.set(
        notice.key,
        setTimeout(() => take(notice.key), notice.lasts),
      );
  };
  return { tell, take };
}
