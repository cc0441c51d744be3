import { useBranches } from 'contextree';
import { useRef, useState, type ReactNode } from 'react';
import { Icon } from '../ui/Icon.tsx';
import { late } from '../ui/late.tsx';
import { labelOn } from './branchTree.ts';
import { useBranchNews, type News } from './useBranchNews.ts';

const AllBranches = late(async () => (await import('./BranchList.tsx')).AllBranches);

/** Which branch of the conversation is shown, and the way to all of them. */
export function Branches(): ReactNode {
  const { branches, current } = useBranches();
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const news = useBranchNews();
  const kinds = [...news.values()];
  const kind = kinds.includes('unread') ? 'unread' : kinds[0];
  const label = current ? labelOn(current) : 'main';
  return (
    <>
      <button
        ref={button}
        type="button"
        className="button branch-button"
        aria-label={`Branch: ${label}`}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        title={[current?.name, kind && NEWS[kind]].filter(Boolean).join(', ')}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="branch" />
        <span dir="auto">{label}</span>
        {branches.length > 1 && <small data-count={branches.length} />}
        {kind && <i className="dot" data-news={kind} />}
      </button>
      {isOpen && <AllBranches news={news} opener={button} onClose={() => setOpen(false)} />}
    </>
  );
}

/** What the dot on the button says. */
const NEWS: Readonly<Record<News, string>> = {
  unread: 'a new answer in another branch',
  growing: 'an answer is growing in another branch',
};
