import type { UIMessage } from 'ai';
import type { ContextEngine } from '../engine/engine.ts';
import type { NodeInfo } from '../graph/messages.ts';
import { headOf, keyOf, sameMessage, withId } from './list.ts';
import { asJson, hasWords } from './message.ts';

/**
 * What a list of messages asks for.
 *
 * A chat says what it wants by its list, whichever verb made it: a new question at the end, the list cut back to an older one,
 * another text in place of a message. The longest beginning that is saved, on whichever branch, is kept; the rest is written.
 */
export interface TurnPlan {
  /** The messages that are saved at this place, oldest first, and their keys. */
  readonly kept: readonly UIMessage[];
  readonly keys: readonly string[];
  /** The messages to write after them, oldest first; none when a saved question is asked again. */
  readonly fresh: readonly UIMessage[];
  /** The answer to continue; undefined for a new one. */
  readonly answer: UIMessage | undefined;
  /** The key of that answer; undefined where it is not saved at this place. */
  readonly answerKey: string | undefined;
  /** Whether the answer continues in its node: not where messages stand behind it, which a version of it leaves alone. */
  readonly isInPlace: boolean;
}

/** Compares a list with what is saved. An answer that the request names, or at the end of the list, is continued. */
export function planTurn(chat: Place, list: readonly UIMessage[], messageId?: string): TurnPlan {
  const { engine, branchId } = chat;
  const spoken = list.filter(
    (message) => message.role !== 'assistant' || hasWords(message) || keyOf(engine, message.id, branchId),
  );
  const at = answerIndex(spoken, messageId);
  const before = at === -1 ? spoken : spoken.slice(0, at);
  const keys: string[] = [];
  for (const message of before) {
    const key = keysAt(chat, message, keys.at(-1) ?? null).find((one) => says(chat, one, message));
    if (key === undefined) break;
    keys.push(key);
  }
  const fresh = before.slice(keys.length);
  const answer = spoken[at];
  const there = answer && fresh.length === 0 ? keysAt(chat, answer, keys.at(-1) ?? null) : [];
  const answerKey = there.find((key) => answer && says(chat, key, answer)) ?? there[0];
  const isEarlier = at === spoken.length - 1 && headOf(engine, branchId) !== answerKey;
  const isInPlace = answerKey !== undefined && !isEarlier;
  return { kept: before.slice(0, keys.length), keys, fresh, answer, answerKey, isInPlace };
}

/** The chat that asks: its branch, and the messages that it knows as saved. */
interface Place {
  readonly engine: ContextEngine;
  readonly branchId: string | undefined;
  readonly list: { readonly saved: readonly UIMessage[] };
}

function answerIndex(list: readonly UIMessage[], messageId: string | undefined): number {
  const named = list.findIndex(({ id, role }) => id === messageId && role === 'assistant');
  if (named !== -1) return named;
  return list.at(-1)?.role === 'assistant' ? list.length - 1 : -1;
}

/** The keys of messages with this id whose parent is `parentKey` (null: at the beginning), those of the branch first. */
function keysAt({ engine, branchId, list }: Place, { id }: UIMessage, parentKey: string | null): string[] {
  const isHere = (node: NodeInfo): boolean =>
    node.parentKey === parentKey ||
    shownBefore(engine, node) === parentKey ||
    (parentKey === null && id === list.saved[0]?.id);
  return engine.nodesOf(id, branchId).flatMap((node) => (isHere(node) ? node.key : []));
}

/** Whether the message under a key has this content, now or as the chat knows it: another tab's change since must stay. */
function says({ engine, branchId, list }: Place, key: string, message: UIMessage): boolean {
  const nodes = engine.nodesOf(message.id, branchId);
  const known = withId(list.saved, message.id);
  if (known && nodes[0]?.key === key && sameMessage(known, message)) return true;
  // Versions share an id: if there are several, one that is not loaded may differ.
  return engine.matches(asJson(message), key) ?? nodes.length === 1;
}

/** The key of the message that a list shows before this one; null for the first. Skips a wordless answer of another tab. */
function shownBefore(engine: ContextEngine, { parentKey }: NodeInfo): string | null {
  const node = parentKey === null ? undefined : engine.node(parentKey);
  return node && node.parts === 0 && node.status !== 'complete' ? shownBefore(engine, node) : parentKey;
}

/** The conversation of a plan as it is saved now, with tool results that others gave meanwhile. */
export function conversationOf(engine: ContextEngine, { kept, keys, fresh }: TurnPlan): UIMessage[] {
  const now = kept.map((message, i) => {
    const saved = engine.message(keys[i] as string);
    return saved && !sameMessage(saved, message) ? saved : message;
  });
  return [...now, ...fresh];
}
