import { ContextError, isContextError } from '../errors.ts';
import { lastOnes, type ChatDelta, type EndsRecord } from '../graph/graph.ts';
import { asContextError } from './desk.ts';
import { isRefusal } from './line.ts';
import type { TurnDelta, Writer, WrittenTurn } from './writer.ts';

// The policies `error` and `rebase`, for apps that want no fork where another tab wrote first. Loaded with the first turn.

/** Writes a turn if, in the store, its branch still ends where this page saw it end. */
export async function commitExpecting<T extends TurnDelta>(
  writer: Writer,
  plan: () => Promise<T>,
): Promise<WrittenTurn<T>> {
  const { desk, replica, view } = writer;
  for (let isFirst = true; ; isFirst = false) {
    const turn = await plan();
    const { branch } = turn;
    const ends = replica.chat.ends.get(branch?.record ?? '');
    if (!branch || !ends) return { ...writer.commit(turn), turn };
    const name = view.nameOf(branch.id);
    const delta = writer.withMetadata(turn);
    try {
      if (isFirst && view.isBehind(branch)) {
        const message = `Another tab has said more on branch "${name}" than is shown here. Look at it, and send again.`;
        throw new ContextError('head-moved', message, { details: { branch: name } });
      }
      await pushExpecting(writer, delta, ends, turn.show);
      writer.commit({});
      return { strict: Promise.resolve(), saved: Promise.resolve(), turn };
    } catch (error) {
      if (isRefusal(error)) return { ...writer.commit({ ...turn, ...delta }), turn };
      if (desk.options.onConflict === 'error' || !isContextError(error, 'head-moved'))
        throw asContextError(error);
      await writer.others.pull();
      // Even if messages are pending.
      branch.key = branch.way?.head ?? branch.key;
      const to = view.nameOf(branch.id);
      desk.emit({ type: 'conflict', policy: 'rebase', from: name, to, toId: branch.id });
    }
  }
}

/** Two records of where a branch ends may differ in ends that have descendants: that is no conflict. */
async function pushExpecting(
  { line, replica }: Writer,
  delta: ChatDelta,
  { id, keys }: EndsRecord,
  show: TurnDelta['show'],
): Promise<void> {
  try {
    await line.pushExpecting(delta, { [id]: keys }, show);
  } catch (error) {
    if (!isContextError(error, 'head-moved')) throw error;
    const { ends } = Object(error.details) as { readonly ends?: Readonly<Record<string, readonly string[]>> };
    const there = ends?.[id];
    const [ours, theirs] = [lastOnes(replica.chat, keys), lastOnes(replica.chat, there ?? [])];
    if (!there || ours.size !== theirs.size || [...ours].some((key) => !theirs.has(key))) throw error;
    await line.pushExpecting(delta, { [id]: there }, show);
  }
}
