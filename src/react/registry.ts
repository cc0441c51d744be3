import { useEffect, useReducer, useState } from 'react';
import { ContextEngine } from '../engine/engine.ts';
import type { ContextEngineOptions } from '../engine/options.ts';
import { isStore } from '../engine/desk.ts';
import { defaultStore } from '../store/default.ts';
import type { ContextStore } from '../store/store.ts';

/**
 * One engine for each store, chat and user, shared by all components of a page.
 *
 * React renders components that it never mounts, mounts them twice, hides and shows them again. So rendering only looks the
 * engine up, and makes it if needed, which does no I/O; mounting reads the chat and counts a user. An engine is disposed a task
 * after its last user unmounts, or, if it streams, has queued questions or holds words that are not on the disk, when it is
 * done; one that was never mounted after a minute. A server never mounts: there engines are neither shared nor kept, and no
 * store is opened.
 */

/** The options of a component's engine. */
export interface EngineOptions extends Omit<ContextEngineOptions, 'userId'> {
  /** Default `local`. */
  readonly userId?: string | undefined;
}

/** The user of an app that has no accounts. */
export const LOCAL_USER = 'local';

/** How long an engine that was rendered waits for its mount, in ms. */
const MOUNT_WITHIN = 60_000;

/** How often an unmounted engine with work left is checked, in ms. */
const LOOK_INTERVAL = 1000;

/** The shared engine for these options; undefined without options. The first store of a component is kept. */
export function useSharedEngine(options: EngineOptions | undefined): ContextEngine | undefined {
  'use no memo'; // look it up in each render: the engine of the last render may be disposed
  const [store] = useState(options?.store);
  const [, lookAgain] = useReducer((times: number) => times + 1, 0);
  const shared = options && engineFor(store === undefined ? options : { ...options, store });

  useEffect(() => {
    if (shared && !shared.isDisposed) return join(shared);
    if (shared) lookAgain();
    return undefined;
  }, [shared]);
  useEffect(() => {
    try {
      if (process.env.NODE_ENV !== 'production' && options && shared) warnOfDifferences(shared, options);
    } catch {
      // A page without a bundler has no `process`, and counts as production.
    }
  });
  return shared?.engine;
}

interface SharedEngine {
  readonly engine: ContextEngine;
  /** The options that it was made from. */
  readonly options: EngineOptions;
  readonly forget: () => void;
  readonly warned: Set<string>;
  users: number;
  isDisposed: boolean;
}

const registry: WeakMap<ContextStore, Map<string, SharedEngine>> = new WeakMap();

/** The engine for this store, chat and user; makes one if there is none. */
function engineFor(options: EngineOptions): SharedEngine {
  if (typeof window === 'undefined') return share(options, () => {});
  const { store = defaultStore(), chatId, userId = LOCAL_USER } = options;
  const engines = registry.get(store) ?? new Map<string, SharedEngine>();
  registry.set(store, engines);
  const key = JSON.stringify([userId, chatId]);
  const known = engines.get(key);
  if (known) return known;
  const shared = share({ ...options, store }, () => engines.delete(key));
  engines.set(key, shared);
  setTimeout(() => disposeUnlessUsed(shared), MOUNT_WITHIN);
  return shared;
}

function share(options: EngineOptions, forget: () => void): SharedEngine {
  const engine = new ContextEngine({ ...options, userId: options.userId ?? LOCAL_USER });
  return { engine, options, forget, warned: new Set(), users: 0, isDisposed: false };
}

/** Counts a mounted component, and begins to read the chat. Returns a function that leaves. */
function join(shared: SharedEngine): () => void {
  shared.users += 1;
  load(shared.engine);
  return () => {
    shared.users -= 1;
    setTimeout(() => disposeUnlessUsed(shared), 0);
  };
}

/** Reads the chat. The engine's state reports a failure to the interface. */
export function load(engine: ContextEngine): void {
  engine.ready().catch(() => {});
}

function disposeUnlessUsed(shared: SharedEngine): void {
  if (shared.users > 0 || shared.isDisposed) return;
  if (isBusy(shared.engine)) return void setTimeout(() => disposeUnlessUsed(shared), LOOK_INTERVAL);
  shared.isDisposed = true;
  shared.forget();
  shared.engine.dispose();
}

/** Whether an answer grows, a question is queued, or words are not on a disk yet. */
function isBusy(engine: ContextEngine): boolean {
  if (engine.attached?.isBusy) return true;
  const { error, saveState, branches } = engine.state.getState();
  if (error?.code === 'chat-deleted') return false;
  if (saveState.state === 'saving' || saveState.pending > 0) return true;
  return branches.some(
    ({ headMessageId }) => headMessageId !== null && engine.status(headMessageId) === 'streaming',
  );
}

/** The options that an engine keeps from its first user. */
const KEPT = ['store', 'metadata', 'renderer', 'validate', 'persistFragments', 'onConflict'] as const;

/** Warns, once for each option, that a component passes another value than the engine was made with. */
function warnOfDifferences({ engine, options, warned }: SharedEngine, asked: EngineOptions): void {
  for (const name of KEPT) {
    if (asked[name] === undefined || warned.has(name) || isSame(options[name], asked[name])) continue;
    warned.add(name);
    console.warn(
      `contextree: chat "${engine.chatId}" keeps the \`${name}\` that it was first opened with; another one was given ` +
        'later and is not used. Give all components of a chat the same options, made outside of them. ' +
        (name === 'store' ? 'To change a component to another store, give it another `key`.' : ''),
    );
  }
}

/** Whether two values are identical, or equal data of the same class; functions count as equal: inline ones are always new. */
function isSame(a: unknown, b: unknown): boolean {
  return a === b || (!isStore(a) && !isStore(b) && written(a) === written(b));
}

function written(value: unknown): string {
  return JSON.stringify([value, Object(value).constructor?.name]);
}
