import { useEngine, type BranchInfo, type ContextEngine } from 'contextree';
import { useEffect } from 'react';
import { useNotices } from '../shell/Notices.tsx';
import { useAttempt } from '../shell/useAttempt.ts';
import { labelOn } from './branchTree.ts';
import type { Standing } from './useStanding.ts';

/**
 * The notices of this chat: a turn that had to take a branch of its own, because another tab was faster; a branch that was
 * deleted under an answer, and that came back with it. Leaving the chat removes its notices, refusals included; a deleted
 * chat offers no action in them.
 */
export function useChatNotices(standing: Standing): void {
  const engine = useEngine();
  const { tell, take } = useNotices();
  const attempt = useAttempt();
  useEffect(() => {
    const called = (name: string): string => {
      const branch = engine.state.getState().branches.find((one) => one.name === name);
      return `“${branch ? labelOn(branch) : name}”`;
    };
    return engine.subscribe((event) => {
      if (event.type === 'branch' && event.hasGrown === true)
        whenListed(engine, event.id, (branch) =>
          tell({
            key: 'branch',
            text: `“${labelOn(branch)}” is back: it was written to after it was deleted`,
          }),
        );
      if (event.type !== 'conflict' || event.policy !== 'fork') return;
      const { from, to } = event;
      // Beside an answer that never came a branch goes on under its own name.
      if (from === to) return;
      const go = (branch: string) => () => attempt(() => engine.switchBranch(branch));
      // Where one is shows already; then the other one is what there is to see.
      const show = async (): Promise<void> => {
        const [there, back] = engine.branch === to ? [from, to] : [to, from];
        await engine.switchBranch(there);
        tell({
          key: 'conflict',
          text:
            there === from
              ? `This is ${called(from)}, as another tab wrote it`
              : `This is ${called(to)}, with your turn`,
          action: { label: `Back to ${called(back)}`, run: go(back) },
        });
      };
      tell({
        key: 'conflict',
        text: `Continued on a new branch: another tab wrote to ${called(from)}`,
        action: {
          label: 'Show',
          about: engine.branch === to ? `Show ${called(from)}` : 'Show the new branch',
          run: () => attempt(show),
        },
      });
    });
  }, [engine, tell, attempt]);
  const isDeleted = standing === 'deleted';
  useEffect(() => {
    if (isDeleted) OF_ONE_CHAT.forEach(take);
    return () => OF_ONE_CHAT.forEach(take);
  }, [isDeleted, take]);
}

/** Calls back once the engine's state lists a branch: an event may come before. */
function whenListed(engine: ContextEngine, id: string, then: (branch: BranchInfo) => void): void {
  const look = (): boolean => {
    const branch = engine.state.getState().branches.find((one) => one.id === id);
    if (branch) then(branch);
    return branch !== undefined;
  };
  if (look()) return;
  const stop = engine.state.subscribe(() => {
    if (look()) stop();
  });
}

const OF_ONE_CHAT = ['conflict', 'branch', 'done', 'refused', 'attach'];
