import { useBranches } from 'contextree';
import { useRef, useState, type ReactNode } from 'react';
import { Icon } from '../ui/Icon.tsx';
import { late } from '../ui/late.tsx';
import { labelOn } from './branchTree.ts';
import { useBranchNews } from './useBranchNews.ts';

const AllBranches = late(async () => (await import('./BranchList.tsx')).AllBranches);

/** Which branch of the conversation is shown, and the way to all of them. */
export function Branches(): ReactNode {
  const { branches, current } = useBranches();
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const news = useBranchNews();
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
        title={current?.name}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="branch" />
        <span dir="auto">{label}</span>
        {branches.length > 1 && <small data-count={branches.length} />}
        {news.size > 0 && (
          <i className="dot" data-news={[...news.values()].includes('unread') ? 'unread' : 'growing'} />
        )}
      </button>
      {isOpen && <AllBranches news={news} opener={button} onClose={() => setOpen(false)} />}
    </>
  );
}
