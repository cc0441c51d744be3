import { isDeepStrictEqual } from 'node:util';
import type { ContextEngine } from '../../src/engine/engine.ts';
import type { EngineState } from '../../src/engine/state.ts';
import { hint } from '../../src/fragment/builders.ts';
import { isVisible } from '../../src/graph/graph.ts';
import type { ContextStore } from '../../src/store/store.ts';
import { texts } from './engine.ts';

// Whether what is shown is whole: exactly the chain of its head, each time that the state is told.

/**
 * Notes the branches that an engine tells with a part of their words, or with another one's. What is told as it was told
 * before is as whole as it was then.
 */
export function tornIn(engine: ContextEngine): readonly string[] {
  const torn: string[] = [];
  engine.state.subscribe((now, before) => {
    const isNew = VIEW.some((key) => now[key] !== before[key]);
    if (now.status === 'ready' && isNew && !isWhole(engine))
      torn.push(`${now.branch}: ${texts(now.messages)} ... ${texts(now.elsewhere)}`);
  });
  return torn;
}

/** What is to fit together. */
const VIEW = [
  'branch',
  'branchId',
  'headMessageId',
  'detached',
  'branches',
  'messages',
  'elsewhere',
  'loadedFrom',
] as const satisfies (keyof EngineState)[];

/** What another tab writes stands behind the head, or goes on with it. */
function isWhole(engine: ContextEngine): boolean {
  const { messages, elsewhere, headMessageId = null } = engine.state.getState();
  const behind = engine.node(elsewhere[0]?.id ?? '');
  const isBehind = !behind || [behind.id, behind.parentId].includes(headMessageId);
  const ids = messages.map(({ id }) => id);
  return isBehind && isDeepStrictEqual(ids, shownIds(engine));
}

/** The ids of the messages that the head of the state leads to, as far as they are loaded and seen. */
function shownIds(engine: ContextEngine): string[] {
  const { headMessageId, loadedFrom } = engine.state.getState();
  const ids: string[] = [];
  for (let node = engine.node(headMessageId ?? ''); node; node = engine.node(node.parentId ?? ''))
    if (isVisible(node)) ids.unshift(node.id);
  return ids.slice(loadedFrom);
}

/** A store whose reads are looked at. */
export interface WatchedStore {
  readonly store: ContextStore;
  /** From now on this is done right before each read, and right behind it. */
  readonly onRead: (look: () => void) => void;
  /** The k-th read from now on fails, once or, `forGood`, with all behind it; 0: none. */
  readonly failAt: (k: number, forGood?: boolean) => void;
  /** Whether it has failed. */
  readonly hasFailed: () => boolean;
}

const READS: readonly PropertyKey[] = ['load', 'getNodes'] satisfies (keyof ContextStore)[];

/** Puts a person in front of a store's reads, who does something else meanwhile; and a disk that fails. */
export function watched(inner: ContextStore): WatchedStore {
  let look = (): void => {};
  let left = 0;
  let isForGood = false;
  let hasFailed = false;
  const read = async (call: () => unknown): Promise<unknown> => {
    look();
    try {
      left -= 1;
      if (left !== 0 && !(isForGood && hasFailed)) return await call();
      hasFailed = true;
      throw new Error('this can not be read');
    } finally {
      look();
    }
  };
  const store = new Proxy(inner, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== 'function') return value;
      const call = value.bind(target) as (...args: readonly unknown[]) => unknown;
      return READS.includes(key) ? (...args: readonly unknown[]) => read(() => call(...args)) : call;
    },
  });
  return {
    store,
    onRead: (next) => void (look = next),
    failAt: (k, forGood = false) => ([left, isForGood, hasFailed] = [k, forGood, false]),
    hasFailed: () => hasFailed,
  };
}

const beside = hint('still here');

/** Has an engine tell its state: what is set beside the messages changes. */
export function touch(engine: ContextEngine): void {
  engine.set(beside);
  engine.unset(beside);
}
