import { useBranches, useEngine, type BranchInfo, type ContextEngine } from 'contextree';
import { Fragment, useEffect, useId, useState, type ReactNode, type RefObject } from 'react';
import { age, plural } from '../quantities.ts';
import { onFirstClick } from '../shell/once.ts';
import { useAttempt } from '../shell/useAttempt.ts';
import { useTellDone } from '../shell/useUndo.ts';
import { Icon } from '../ui/Icon.tsx';
import { NameDialog } from '../ui/NameDialog.tsx';
import { Popover } from '../ui/Popover.tsx';
import { usePassFocus } from '../ui/usePassFocus.ts';
import { branchRows, type BranchRow } from './branchTree.ts';
import { CompareBranch } from './CompareBranch.tsx';
import type { News } from './useBranchNews.ts';

/** From how many branches on they can be searched. */
const MANY = 10;

/** All branches, a line each: which one is shown, what happens on them, and what can be done with them. */
export function AllBranches({ news, opener, onClose }: AllBranchesProps): ReactNode {
  const { branches } = useBranches();
  const [query, setQuery] = useState('');
  const isMany = branches.length >= MANY;
  const words = isMany ? query.trim().toLowerCase() : '';
  const all = branchRows(branches);
  const asked = useBranchesAsked(branches, words);
  const rows = all.filter(
    ({ label, branch }) =>
      asked.has(branch.id) || `${label} ${branch.label} ${branch.name}`.toLowerCase().includes(words),
  );
  return (
    <Popover title="Branches" opener={opener} onClose={onClose}>
      {isMany && (
        <input
          type="search"
          className="search"
          aria-label="Search branches"
          placeholder="Search branches"
          value={query}
          onChange={(event) => setQuery(event.target.value)}
        />
      )}
      <ul className="branches" aria-label="All branches">
        {rows.map((row) => (
          <OneBranch
            key={row.branch.id}
            row={words === '' ? row : { ...row, lanes: [], hasOwn: false }}
            news={news.get(row.branch.id)}
            isLast={branches.length === 1}
            onChoose={onClose}
          />
        ))}
      </ul>
      {rows.length === 0 && <p className="nothing">No branch has these words.</p>}
    </Popover>
  );
}

/** The ids of the branches whose first own message holds some words; a label holds only its beginning. */
function useBranchesAsked(branches: readonly BranchInfo[], words: string): ReadonlySet<string> {
  const engine = useEngine();
  const [found, setFound] = useState<{ readonly words: string; readonly keys: ReadonlySet<string> }>();
  useEffect(() => {
    if (words === '') return undefined;
    let isGone = false;
    const look = async (): Promise<void> => {
      const results = await engine.store.searchMessages(engine.chatId, words, { limit: 200 });
      if (!isGone) setFound({ words, keys: new Set(results.map(({ record }) => record.key)) });
    };
    look().catch(() => {});
    return () => {
      isGone = true;
    };
  }, [engine, words]);
  if (found?.words !== words) return NONE;
  return new Set(branches.filter((one) => found.keys.has(firstOwn(engine, one))).map(({ id }) => id));
}

const NONE: ReadonlySet<string> = new Set();

/** The key of the first message that a branch does not share with the one that it came from; '' for none. */
function firstOwn(engine: ContextEngine, { headKey, forkedAt }: BranchInfo): string {
  let first = '';
  for (let at = headKey; at !== null && at !== forkedAt; at = engine.node(at)?.parentKey ?? null) first = at;
  return first;
}

function OneBranch({ row, news, isLast, onChoose }: OneBranchProps): ReactNode {
  const { branch, label } = row;
  const { current, switchBranch } = useBranches();
  const engine = useEngine();
  const attempt = useAttempt();
  const item = usePassFocus<HTMLLIElement>(() => {});
  const said = engine.node(branch.headKey ?? '')?.createdAt ?? branch.createdAt;
  const noteId = useId();
  const count = plural(branch.messageCount, 'message');
  const facts = [age(Math.max(said, branch.createdAt)), ...(news ? [news] : [])];
  const show = (): void => {
    attempt(() => switchBranch(branch.id));
    onChoose();
  };
  return (
    <li ref={item} className="branch-row">
      <Lanes row={row} isShown={branch.isActive} />
      <button
        type="button"
        className="branch-name"
        aria-label={`${label}, ${count}`}
        aria-describedby={noteId}
        aria-current={branch.isActive}
        title={branch.name}
        onClick={show}
      >
        <span dir="auto">{label}</span> <small data-more={` · ${facts.join(' · ')}`}>{count}</small>
        {news && <i className="dot" data-news={news} />}
      </button>
      <span id={noteId} hidden>
        {[branch.name, ...facts].join(', ')}
      </span>
      <div className="branch-actions">
        <CompareBranch branch={branch} shown={current} label={label} />
        <RenameBranch branch={branch} label={label} />
        <DeleteBranch branch={branch} label={label} isLast={isLast} />
      </div>
    </li>
  );
}

/** A small graph: the lines of the branches on the way to this one, and a point for its end. */
function Lanes({ row: { lanes, hasOwn }, isShown }: LanesProps): ReactNode {
  const shown = lanes.slice(-DEEPEST);
  const own = shown.length - 1;
  return (
    <span className="lanes" style={{ inlineSize: `${own + 1.25}rem` }} aria-hidden="true">
      {shown.map((goesOn, i) => {
        const lane = { insetInlineStart: `${i - 0.5}rem` };
        if (i === 0) return null;
        return (
          <Fragment key={i}>
            {i === own && <i data-lane="bend" style={lane} />}
            {goesOn && <i data-lane="through" style={lane} />}
          </Fragment>
        );
      })}
      {hasOwn && <i data-lane="below" style={{ insetInlineStart: `${own + 0.5}rem` }} />}
      <b data-shown={isShown || undefined} style={{ insetInlineStart: `${own + 0.5}rem` }} />
    </span>
  );
}

/** How many lanes are drawn at most. */
const DEEPEST = 5;

function RenameBranch({ branch, label }: ActionProps): ReactNode {
  const [renaming, setRenaming] = useState(false);
  const { rename } = useBranches();
  return (
    <>
      <button
        type="button"
        className="icon-button"
        aria-label={`Rename branch: ${label}`}
        title="Rename branch"
        onClick={() => setRenaming(true)}
      >
        <Icon name="pencil" />
      </button>
      {renaming && (
        <NameDialog
          title="Rename branch"
          initial={label}
          onSave={(name) => rename(branch.id, name)}
          onClose={() => setRenaming(false)}
        />
      )}
    </>
  );
}

function DeleteBranch({ branch, label, isLast }: ActionProps & { readonly isLast: boolean }): ReactNode {
  const { remove } = useBranches();
  const tellDone = useTellDone();
  const attempt = useAttempt();
  const removeIt = async (): Promise<void> => {
    await remove(branch.id);
    tellDone({ text: `Branch “${label}” deleted`, lasts: 10_000 });
  };
  return (
    <button
      type="button"
      className="icon-button"
      data-same="delete"
      aria-label={`Delete branch: ${label}`}
      aria-disabled={isLast}
      title={isLast ? 'The last branch can’t be deleted' : 'Delete branch'}
      onClick={onFirstClick(() => {
        if (!isLast) attempt(removeIt);
      })}
    >
      <Icon name="bin" />
    </button>
  );
}

interface AllBranchesProps {
  readonly news: ReadonlyMap<string, News>;
  /** The button that it hangs from. */
  readonly opener: RefObject<HTMLElement | null>;
  readonly onClose: () => void;
}

interface OneBranchProps {
  /** A branch was chosen: the list may close. */
  readonly onChoose: () => void;
  readonly row: BranchRow;
  readonly news: News | undefined;
  /** Whether there is no other one. */
  readonly isLast: boolean;
}

interface LanesProps {
  readonly row: BranchRow;
  readonly isShown: boolean;
}

interface ActionProps {
  readonly branch: BranchInfo;
  readonly label: string;
}
