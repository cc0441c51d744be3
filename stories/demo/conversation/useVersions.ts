import type { UIMessage } from 'ai';
import { useEngine, useMessageBranch, type ContextEngine } from 'contextree';
import { useEffect, useState } from 'react';
import { isAside } from './useFork.ts';

export type Versions = ReturnType<typeof useMessageBranch>;

/**
 * The versions of a message. A side question has the same parent as the next question of the conversation; neither is a version
 * of the other.
 */
export function useVersions(message: UIMessage): Versions {
  const engine = useEngine();
  const all = useMessageBranch(message.id);
  const others = useOtherKind(engine, message, all.siblings);
  if (others.size === 0) return all;
  const siblings = all.siblings.filter((key, i) => i === all.index || !others.has(key));
  const index = siblings.indexOf(all.siblings[all.index] ?? '');
  const step = async (by: 1 | -1): Promise<void> => {
    const key = siblings[index + by];
    if (key !== undefined) await all.select(key);
  };
  return {
    ...all,
    siblings,
    index,
    count: siblings.length,
    branchNumber: index + 1,
    hasSiblings: siblings.length > 1,
    hasPrevious: index > 0,
    hasNext: index < siblings.length - 1,
    goToPrevious: () => step(-1),
    goToNext: () => step(1),
    select: (version) => all.select(typeof version === 'number' ? (siblings[version] ?? version) : version),
  };
}

const NONE: ReadonlySet<string> = new Set();

/** Whether questions are side questions, by key: that never changes, so all pagers share it. */
let asides: ReadonlyMap<string, boolean> = new Map();

/**
 * The siblings of a question that are side questions where it is none, or the other way round; and those that are not read yet.
 */
function useOtherKind(
  engine: ContextEngine,
  { role, metadata }: UIMessage,
  keys: readonly string[],
): ReadonlySet<string> {
  const [known, setKnown] = useState(asides);
  const isAsked = role === 'user' && keys.length > 1;
  useEffect(() => {
    const unknown = isAsked ? keys.filter((key) => !known.has(key)) : [];
    if (unknown.length === 0) return undefined;
    let isGone = false;
    const read = async (): Promise<void> => {
      const stored = await engine.store.bodies(engine.chatId, unknown);
      const questionOf = (key: string): UIMessage | undefined =>
        engine.message(key) ?? stored.get(key)?.message;
      const found = unknown.map((key) => [key, isAside(questionOf(key)?.metadata)] as const);
      asides = new Map([...asides, ...found]);
      if (!isGone) setKnown(asides);
    };
    // A store that can't be read says so with the conversation.
    read().catch(() => {});
    return () => {
      isGone = true;
    };
  }, [engine, isAsked, keys, known]);
  if (!isAsked) return NONE;
  return new Set(keys.filter((key) => known.get(key) !== isAside(metadata)));
}
