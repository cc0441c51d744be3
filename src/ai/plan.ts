import type { UIMessage } from 'ai';
import type { ContextEngine } from '../engine/engine.ts';
import type { NodeInfo } from '../graph/messages.ts';
import { headOf, sameMessage } from './list.ts';
import { asJson, hasWords } from './message.ts';

/**
 * What a list of messages asks for.
 *
 * A chat says what it wants by its list. A new question at the end: ask it. The list cut back to an older question:
 * ask that again. Another text where one stood: a new version. Cut, replaced, filled up by the app itself: likewise.
 * There is no need to know which verb was used. What the list has in common with what is saved is kept, on whichever
 * branch it is; what follows is written; and everything else that is saved stays where it is.
 */
export interface TurnPlan<M extends UIMessage> {
  /** The messages that are saved as they stand here, oldest first, and their keys. */
  readonly kept: readonly M[];
  readonly keys: readonly string[];
  /** The messages to write after them, oldest first; none when something saved is asked again. */
  readonly fresh: readonly M[];
  /** The answer that goes on; undefined when a new one begins. */
  readonly answer: M | undefined;
  /** The key under which that answer is saved at this place; undefined where it is not. */
  readonly answerKey: string | undefined;
  /** How it goes on: in its place, as a version that is made with its first new word, or as a message of its own. */
  readonly goesOn: 'in place' | 'as a version' | 'anew';
}

/** What is saved, as far as a plan asks. */
export interface Saved<M extends UIMessage> {
  /** The key of the last message of the branch; undefined for an empty one. */
  readonly head: string | undefined;
  /** Whether a message of this id is saved. */
  has(message: M): boolean;
  /** The keys of messages of this id right behind another one (null: at the beginning), those of the branch first. */
  at(message: M, parentKey: string | null): readonly string[];
  /** Whether what is saved under a key is what this message says. */
  says(key: string, message: M): boolean;
}

/**
 * Compares a list with what is saved. `messageId` is the one that the request names; where that is an answer, that
 * answer goes on, and a last message that is an answer does so too.
 */
export function planTurn<M extends UIMessage>(
  list: readonly M[],
  saved: Saved<M>,
  messageId?: string,
): TurnPlan<M> {
  const seen = new Map<string, M>();
  const spoken = list.filter((message) => {
    const other = seen.get(message.id);
    if (!other) seen.set(message.id, message);
    // What stands twice in a list is one message.
    if (other && sameMessage(other, message)) return false;
    return message.role !== 'assistant' || hasWords(message) || saved.has(message);
  });
  const at = answerIndex(spoken, messageId);
  const before = at === -1 ? spoken : spoken.slice(0, at);
  const keys: string[] = [];
  const found = (message: M): readonly string[] => saved.at(message, keys.at(-1) ?? null);
  for (const message of before) {
    const key = found(message).find((one) => saved.says(one, message));
    if (key === undefined) break;
    keys.push(key);
  }
  const fresh = before.slice(keys.length);
  const answer = spoken[at];
  const there = answer && fresh.length === 0 ? found(answer) : [];
  const same = there.find((key) => answer && saved.says(key, answer));
  const answerKey = same ?? there[0];
  const isEarlier = at === spoken.length - 1 && saved.head !== answerKey;
  const goesOn = answerKey && !isEarlier ? 'in place' : same ? 'as a version' : 'anew';
  return { kept: before.slice(0, keys.length), keys, fresh, answer, answerKey, goesOn };
}

function answerIndex(list: readonly UIMessage[], messageId: string | undefined): number {
  const named = list.findIndex(({ id, role }) => id === messageId && role === 'assistant');
  if (named !== -1) return named;
  return list.at(-1)?.role === 'assistant' ? list.length - 1 : -1;
}

/**
 * What an engine knows to be saved, for a list that may hold only the end of a conversation. `known` is what is saved of
 * the list, as its chat knows it: another tab may have changed that since, and this must not take it back.
 */
export function savedIn<M extends UIMessage>(
  engine: ContextEngine,
  branchId: string | undefined,
  known: readonly M[],
): Saved<M> {
  const own = new Map(known.map((message) => [message.id, message]));
  return {
    head: headOf(engine, branchId),
    has: ({ id }) => engine.nodesOf(id, branchId).length > 0,
    at: ({ id }, parentKey) => {
      const isHere = (node: NodeInfo): boolean =>
        node.parentKey === parentKey ||
        shownBefore(engine, node) === parentKey ||
        (parentKey === null && id === known[0]?.id);
      return engine.nodesOf(id, branchId).flatMap((node) => (isHere(node) ? node.key : []));
    },
    says: (key, message) => {
      const nodes = engine.nodesOf(message.id, branchId);
      const mine = own.get(message.id);
      if (mine && nodes[0]?.key === key && sameMessage(mine, message)) return true;
      // Versions have one id: of several, one that is not loaded may say anything.
      const isSame = (one: M): boolean => engine.matches(one, key) ?? nodes.length === 1;
      return isSame(message) || isSame(asJson(message));
    },
  };
}

/**
 * The key of the message that a list shows before this one; null for a first one. Passes over a reserved answer that no list
 * shows: another tab streams it, and somebody asked behind it.
 */
function shownBefore(engine: ContextEngine, { parentKey }: NodeInfo): string | null {
  const node = parentKey === null ? undefined : engine.node(parentKey);
  return node && node.parts === 0 && node.status !== 'complete' ? shownBefore(engine, node) : parentKey;
}

/** The conversation of a plan as it is saved by now: with what others gave to calls in it meanwhile. */
export function conversationOf<M extends UIMessage>(
  engine: ContextEngine,
  { kept, keys, fresh }: TurnPlan<M>,
): M[] {
  const now = kept.map((message, i) => {
    const saved = engine.message(keys[i] as string) as M | undefined;
    return saved && !sameMessage(saved, message) ? saved : message;
  });
  return [...now, ...fresh];
}
