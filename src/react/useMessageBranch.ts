import { useMemo, useSyncExternalStore } from 'react';
import type { ContextEngine } from '../engine/engine.ts';
import type { MessageContent } from '../engine/options.ts';
import type { Versions } from '../engine/state.ts';
import { ContextError, reasonOf } from '../errors.ts';
import type { MessageStatus } from '../graph/graph.ts';
import { useEngine } from './provider.tsx';

/** The versions of one message, and the actions of its pager. Functions are stable. */
export interface UseMessageBranchResult {
  /** The index of this message among its versions, from 0; -1 for an unknown one, and for an answer without content yet. */
  readonly index: number;
  /** How many versions there are; 0 for an unknown message. */
  readonly count: number;
  /** `index + 1`: for `2 of 3`. */
  readonly branchNumber: number;
  /** The keys of all versions, oldest first. Two of them may have one id, as after an edit. */
  readonly siblings: readonly string[];
  /** Whether there is more than one version. */
  readonly hasSiblings: boolean;
  readonly hasPrevious: boolean;
  readonly hasNext: boolean;
  /** Shows the previous version; does nothing on the first one. */
  readonly goToPrevious: () => Promise<void>;
  /** Shows the next version; does nothing on the last one. */
  readonly goToNext: () => Promise<void>;
  /** Shows a version, by its key or id, or by its index from 0. Rejects with `message-not-found`. */
  readonly select: (version: string | number) => Promise<void>;
  /** Makes a version: through the attached chat, which calls the model again for a question; without one it is saved. */
  readonly edit: (content: MessageContent) => Promise<void>;
  /** Asks again, through the attached chat. Rejects with `chat-missing` without one. */
  readonly regenerate: (options?: object) => Promise<void>;
  /** Whether the message is complete, streaming or interrupted; undefined for an unknown one. */
  readonly status: MessageStatus | undefined;
}

/** The versions of a message. Renders when they change or when it settles, never for words that stream in. */
export function useMessageBranch(messageId: string, engine?: ContextEngine): UseMessageBranchResult {
  const chosen = useEngine(engine);
  const { subscribe } = chosen.state;
  const own = useMemo(() => onMessage(chosen, messageId), [chosen, messageId]);
  const { versions, statusNow, ...actions } = own;
  const { index, keys } = useSyncExternalStore(subscribe, versions, unknown);
  const status = useSyncExternalStore(subscribe, statusNow, notLoaded);
  return {
    index,
    count: keys.length,
    branchNumber: index + 1,
    siblings: keys,
    hasSiblings: keys.length > 1,
    hasPrevious: index > 0,
    hasNext: index >= 0 && index < keys.length - 1,
    ...actions,
    status,
  };
}

const UNKNOWN: Versions = { index: -1, ids: [], keys: [] };
const unknown = (): Versions => UNKNOWN;
const notLoaded = (): undefined => undefined;

/** The snapshot functions and the actions for one message: the same in each render, or React would read again after each. */
const onMessage = (engine: ContextEngine, id: string) => {
  const step = async (by: number): Promise<void> => {
    const { index, keys } = engine.siblings(id);
    const target = index < 0 ? undefined : keys[index + by];
    if (target !== undefined) await engine.selectSibling(target);
  };
  return {
    versions: () => engine.siblings(id),
    statusNow: () => engine.status(id),
    goToPrevious: () => step(-1),
    goToNext: () => step(1),
    select: async (version: string | number) =>
      engine.selectSibling(typeof version === 'string' ? version : versionAt(engine, id, version)),
    edit: async (content: MessageContent) => void (await (engine.attached ?? engine).edit(id, content)),
    regenerate: async (options?: object) =>
      (engine.attached ?? refuseWithoutChat(id)).regenerate(id, options),
  };
};

function versionAt(engine: ContextEngine, id: string, place: number): string {
  const { keys } = engine.siblings(id);
  const version = keys[place];
  if (version !== undefined) return version;
  const there = `${keys.length}, from 0 on.`;
  const message = `Message "${reasonOf(id)}" has no version ${reasonOf(place)}; it has ${there}`;
  const details = { id, version: place, count: keys.length };
  throw new ContextError('message-not-found', message, { details });
}

function refuseWithoutChat(id: string): never {
  const reason = `No chat can answer message "${reasonOf(id)}" again: none is attached to its engine.`;
  const message = `${reason} Use useChat(useContextChat({ transport })) of contextree/ai with the same engine.`;
  throw new ContextError('chat-missing', message, { details: { id } });
}
