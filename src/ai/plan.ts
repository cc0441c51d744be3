import type { UIMessage } from 'ai';
import type { ContextEngine } from '../engine/engine.ts';
import type { NodeInfo } from '../graph/messages.ts';
import { byId, headOf, sameMessage } from './list.ts';
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

/** The saved messages, as a plan queries them. */
export interface Saved {
  /** The key of the last message of the branch; undefined for an empty one. */
  readonly head: string | undefined;
  /** Whether a message with this id is saved. */
  has(message: UIMessage): boolean;
  /** The keys of messages with this id whose parent is `parentKey` (null: at the beginning), those of the branch first. */
  at(message: UIMessage, parentKey: string | null): readonly string[];
  /** Whether the message saved under a key has the content of this one. */
  says(key: string, message: UIMessage): boolean;
}

/** Compares a list with what is saved. An answer that the request names, or at the end of the list, is continued. */
export function planTurn(list: readonly UIMessage[], saved: Saved, messageId?: string): TurnPlan {
  const spoken = list.filter(
    (message) => message.role !== 'assistant' || hasWords(message) || saved.has(message),
  );
  const at = answerIndex(spoken, messageId);
  const before = at === -1 ? spoken : spoken.slice(0, at);
  const keys: string[] = [];
  const found = (message: UIMessage): readonly string[] => saved.at(message, keys.at(-1) ?? null);
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
  const isInPlace = answerKey !== undefined && !isEarlier;
  return { kept: before.slice(0, keys.length), keys, fresh, answer, answerKey, isInPlace };
}

function answerIndex(list: readonly UIMessage[], messageId: string | undefined): number {
  const named = list.findIndex(({ id, role }) => id === messageId && role === 'assistant');
  if (named !== -1) return named;
  return list.at(-1)?.role === 'assistant' ? list.length - 1 : -1;
}

/** The saved messages of an engine, and as the chat knows them: another tab may have changed one since, which must stay. */
export function savedIn(
  engine: ContextEngine,
  branchId: string | undefined,
  known: readonly UIMessage[],
): Saved {
  const own = byId(known);
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
      // Versions share an id: if there are several, one that is not loaded may differ.
      const isSame = (one: UIMessage): boolean => engine.matches(one, key) ?? nodes.length === 1;
      return isSame(message) || isSame(asJson(message));
    },
  };
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
