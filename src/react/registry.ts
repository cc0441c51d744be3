import { useEffect, useReducer, useState } from 'react';
import { ContextEngine } from '../engine/engine.ts';
import type { ContextEngineOptions } from '../engine/options.ts';
import { isStore } from '../engine/desk.ts';
import { defaultStore } from '../store/default.ts';
import type { ContextStore } from '../store/store.ts';

/**
 * One engine per store, chat and user, for all components of a page that ask for it.
 *
 * An engine must not be made in an effect (the first render would have none) and can't be owned by the component that
 * made it: React renders components that it never mounts, mounts them twice under StrictMode, hides and shows them
 * again, and two of them may ask for the same chat. So rendering only looks the engine up, and makes it if it is not
 * there, which costs no I/O and leaves nothing behind. What counts is mounting: it reads the chat and counts a user.
 *
 * A task after its last user is unmounted, an engine is disposed: late enough for a remount in the same task, soon enough
 * that an unused chat listens to nothing. An engine that streams, has questions that wait for their turn, or holds words
 * that are not on the disk yet, lives until it is done: a person who comes back in mid-answer finds the answer growing. An
 * engine that was looked up and never mounted is disposed after a minute. A component that mounts later looks again.
 *
 * A server renders for many people and never mounts: there, engines are not shared, nor kept, and no store is opened.
 */

/** What the engine of a component is made from. */
export interface EngineOptions extends Omit<ContextEngineOptions, 'userId'> {
  /** Default `local`. */
  readonly userId?: string | undefined;
}

/** The user of an app that has no accounts. */
export const LOCAL_USER = 'local';

/** How long an engine that was rendered but not mounted waits for its mount, in ms. */
const MOUNT_WITHIN = 60_000;

/** How often an unmounted engine with work left is looked at, in ms. */
const LOOK_INTERVAL = 1000;

/** The shared engine for these options; undefined without options. The component's first store stays its store. */
export function useSharedEngine(options: EngineOptions | undefined): ContextEngine | undefined {
  'use no memo'; // each render looks, for the engine of the last one may be gone
  const [store] = useState(options?.store);
  const [, lookAgain] = useReducer((times: number) => times + 1, 0);
  const shared = options && engineFor(store === undefined ? options : { ...options, store });

  useEffect(() => {
    if (!shared) return undefined;
    if (!shared.isDisposed) return join(shared);
    lookAgain();
    return undefined;
  }, [shared]);
  useEffect(() => {
    try {
      if (process.env.NODE_ENV !== 'production' && options && shared) warnOfDifferences(shared, options);
    } catch {
      // A page without a bundler knows no `process`, and counts as production.
    }
  });
  return shared?.engine;
}

interface SharedEngine {
  readonly engine: ContextEngine;
  /** What it was made from. */
  readonly options: EngineOptions;
  readonly forget: () => void;
  readonly warned: Set<string>;
  users: number;
  isDisposed: boolean;
}

const registry: WeakMap<ContextStore, Map<string, SharedEngine>> = new WeakMap();

/** The engine that there is for this store, chat and user, or a new one. */
function engineFor(options: EngineOptions): SharedEngine {
  if (isServer()) return share(options, () => {});
  const { store = defaultStore(), chatId, userId = LOCAL_USER } = options;
  const engines = enginesOf(store);
  const key = JSON.stringify([userId, chatId]);
  const known = engines.get(key);
  if (known) return known;
  const shared = share({ ...options, store }, () => engines.delete(key));
  engines.set(key, shared);
  setTimeout(() => disposeUnlessUsed(shared), MOUNT_WITHIN);
  return shared;
}

function enginesOf(store: ContextStore): Map<string, SharedEngine> {
  const engines = registry.get(store) ?? new Map<string, SharedEngine>();
  registry.set(store, engines);
  return engines;
}

function share(options: EngineOptions, forget: () => void): SharedEngine {
  const engine = new ContextEngine({ ...options, userId: options.userId ?? LOCAL_USER });
  return { engine, options, forget, warned: new Set(), users: 0, isDisposed: false };
}

/** Counts a mounted component, and begins to read the chat. Returns the way to leave. */
function join(shared: SharedEngine): () => void {
  shared.users += 1;
  load(shared.engine);
  return () => {
    shared.users -= 1;
    setTimeout(() => disposeUnlessUsed(shared), 0);
  };
}

/** Reads the chat. A failure is in the engine's state, where the interface shows it. */
export function load(engine: ContextEngine): void {
  engine.ready().catch(() => {});
}

function disposeUnlessUsed(shared: SharedEngine): void {
  if (shared.users > 0 || shared.isDisposed) return;
  if (isBusy(shared.engine)) {
    setTimeout(() => disposeUnlessUsed(shared), LOOK_INTERVAL);
    return;
  }
  shared.isDisposed = true;
  shared.forget();
  shared.engine.dispose();
}

/** Whether an answer is still growing, a question waits, or something that was said is not on a disk yet. */
function isBusy(engine: ContextEngine): boolean {
  if (engine.attached?.isBusy) return true;
  const { error, saveState, branches } = engine.state.getState();
  if (error?.code === 'chat-deleted') return false;
  if (saveState.state === 'saving' || saveState.pending > 0) return true;
  return branches.some(
    ({ headMessageId }) => headMessageId !== null && engine.status(headMessageId) === 'streaming',
  );
}

function isServer(): boolean {
  return typeof window === 'undefined';
}

/** The options that an engine keeps from its first user. */
const KEPT = ['store', 'metadata', 'renderer', 'validate', 'persistFragments', 'onConflict'] as const;

/** Says, once for each option, that a component asked for something else than the engine was made with. */
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

/** Equal in identity, or as data of the same class. Functions are equal: an inline one is new with each render. */
function isSame(a: unknown, b: unknown): boolean {
  return a === b || (!isStore(a) && !isStore(b) && written(a) === written(b));
}

function written(value: unknown): string | undefined {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'function' ? 'function' : withClass(part),
  );
}

function withClass(part: unknown): unknown {
  const name = part instanceof Object ? part.constructor?.name : 'Object';
  return name === 'Object' || name === 'Array' ? part : { ...(part as object), class: name };
}
