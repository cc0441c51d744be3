import { useBranches, useEngine, type BranchInfo } from 'contextree';
import { useState, type ReactNode } from 'react';
import { useNotices } from '../shell/Notices.tsx';
import { onFirstClick } from '../shell/once.ts';
import { useAttempt } from '../shell/useAttempt.ts';
import { Icon } from '../ui/Icon.tsx';
import { NameDialog } from '../ui/NameDialog.tsx';
import { bringBranchBack } from './bringBranchBack.ts';

/** Which branch of the conversation is shown, and what can be done with it. */
export function BranchBar(): ReactNode {
  const { branches, current, switchBranch } = useBranches();
  const attempt = useAttempt();
  return (
    <div className="branch-bar" role="group" aria-label="Branches">
      <select
        aria-label="Branch"
        className="select"
        value={current?.name ?? 'main'}
        onChange={(event) => {
          const { value } = event.target;
          attempt(() => switchBranch(value));
        }}
      >
        {branches.map(({ id, name }) => (
          <option key={id} value={name}>
            {name}
          </option>
        ))}
      </select>
      {current && <RenameBranch branch={current} />}
      {current && <DeleteBranch branch={current} />}
      <ByTheWay />
    </div>
  );
}

function RenameBranch({ branch }: { readonly branch: BranchInfo }): ReactNode {
  const [renaming, setRenaming] = useState(false);
  const { rename } = useBranches();
  return (
    <>
      <button
        type="button"
        className="icon-button"
        aria-label="Rename branch"
        title="Rename branch"
        onClick={() => setRenaming(true)}
      >
        <Icon name="pencil" />
      </button>
      {renaming && (
        <NameDialog
          title="Rename branch"
          initial={branch.name}
          onSave={(name) => rename(branch.id, name)}
          onClose={() => setRenaming(false)}
        />
      )}
    </>
  );
}

function DeleteBranch({ branch }: { readonly branch: BranchInfo }): ReactNode {
  const engine = useEngine();
  const { remove } = useBranches();
  const { tell } = useNotices();
  const attempt = useAttempt();
  const removeIt = async (): Promise<void> => {
    await remove(branch.id);
    tell({
      key: 'branch',
      text: `Branch ${branch.name} deleted`,
      action: { label: 'Undo', run: () => attempt(() => bringBranchBack(engine, branch)) },
      lasts: 10_000,
    });
  };
  return (
    <button
      type="button"
      className="icon-button"
      aria-label="Delete branch"
      title="Delete branch"
      onClick={onFirstClick(() => attempt(removeIt))}
    >
      <Icon name="bin" />
    </button>
  );
}

/** A side question: the same conversation once more, on a branch of its own, while this one stays where it is. */
function ByTheWay(): ReactNode {
  const { btw, switchBranch } = useBranches();
  const { tell } = useNotices();
  const attempt = useAttempt();
  const begin = async (): Promise<void> => {
    const branch = await btw();
    tell({
      key: 'branch',
      text: `Branch ${branch.name} created`,
      action: { label: `Open ${branch.name}`, run: () => attempt(() => switchBranch(branch.name)) },
    });
  };
  return (
    <button
      type="button"
      className="button by-the-way"
      aria-label="By the way"
      title="A branch for a side question; this one stays"
      onClick={onFirstClick(() => attempt(begin))}
    >
      <Icon name="aside" />
      <span>By the way</span>
    </button>
  );
}
