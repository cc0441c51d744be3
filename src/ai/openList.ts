import type { UIMessage } from 'ai';
import type { ContextEngine } from '../engine/engine.ts';
import { put } from './list.ts';
import { planTurn, savedSince } from './plan.ts';
import { openTurn, savedIn, type OpenedTurn, type Place, type Version } from './transport.ts';

/** A turn that is opened for what a chat shows. */
export interface OpenedList<M extends UIMessage> extends OpenedTurn<M> {
  readonly version?: Version<M, OpenedList<M>> | undefined;
  /** What is saved on the chat's branch, and what it shows, with this turn in both. */
  change(saved: readonly M[], list: M[]): readonly [saved: readonly M[], list: M[]];
}

/** Opens the turn that a list asks for; `saved` is what its chat knows to be saved. */
export async function openList<M extends UIMessage>(
  engine: ContextEngine,
  list: readonly M[],
  saved: readonly M[],
  { messageId, ...place }: Place & { readonly messageId?: string | undefined },
): Promise<OpenedList<M>> {
  const known = new Set(saved);
  const isFirst = (id: string): boolean => id === saved[0]?.id;
  const plan = planTurn(list, savedIn(engine, place.branchId, isFirst, known), messageId);

  const changing = (opened: OpenedTurn<M>): OpenedList<M> => ({
    ...opened,
    version: undefined,
    change: (now, shown) => {
      const { before, answer, renamed } = opened;
      const since = before ? savedSince(known, now, before) : now;
      return [
        answer ? put(since, answer) : since,
        renamed.size > 0 ? shown.map((message) => renamed.get(message) ?? message) : shown,
      ];
    },
  });

  const opened = await openTurn(engine, plan, place);
  const { version } = opened;
  if (!version) return changing(opened);
  const make = async (from: M | undefined): Promise<OpenedList<M>> => {
    const made = changing(await version.make(from));
    // A call in it may have been answered while it was made: that is in the list, and in the version from now on.
    const renamed = (message: M): M => (message.id === version.of ? { ...message, id: made.id } : message);
    return {
      ...made,
      change: (now, shown) => {
        const [since, list] = made.change(now, shown);
        return [since, list.map(renamed)];
      },
    };
  };
  return { ...opened, version: { ...version, make }, change: (now, shown) => [now, shown] };
}
