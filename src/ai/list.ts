import type { UIMessage } from 'ai';
import type { ContextEngine } from '../engine/engine.ts';

/**
 * The list of a chat, when its branch shows these messages now: with the objects that it has for messages that did not
 * change, so that nothing is rendered anew, and with what it has loaded of the conversation before them.
 *
 * `twins` remembers which of the chat's objects say the same as which of the engine's, so that each is compared once.
 */
export function listAfter<M extends UIMessage>(
  engine: ContextEngine,
  list: readonly M[],
  shown: readonly M[],
  twins: WeakMap<UIMessage, M>,
): M[] {
  const own = new Map(list.map((message) => [message.id, message]));
  const kept = (message: M): M => {
    const mine = own.get(message.id);
    if (!mine || twins.get(message) === mine) return mine ?? message;
    if (!engine.matches(mine)) return message;
    twins.set(message, mine);
    return mine;
  };
  const parentId = shown[0] && engine.node(shown[0].id)?.parentId;
  const earlier = list.slice(0, list.findIndex(({ id }) => id === parentId) + 1);
  return [...earlier, ...shown.map(kept)];
}

/** The last message of a branch; undefined for an empty one. */
export function headOf(engine: ContextEngine, branchId: string | undefined): string | undefined {
  return engine.state.getState().branches.find(({ id }) => id === branchId)?.headMessageId ?? undefined;
}

/** A list with a message in the place of the one with its id, or at its end. */
export function put<M extends UIMessage>(list: readonly M[], message: M): readonly M[] {
  const at = list.findIndex(({ id }) => id === message.id);
  return at === -1 ? [...list, message] : list.with(at, message);
}
