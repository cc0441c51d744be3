import type { UIMessage } from 'ai';
import type { ContextEngine } from 'contextree';

/** A message, loaded or not; null where its content is gone. Many rows ask at once: calls within one task share one read. */
export async function readMessage({ engine, messageKey: key }: MessageAt): Promise<UIMessage | null> {
  return engine.message(key) ?? (await later(engine, key)).get(key)?.message ?? null;
}

interface MessageAt {
  readonly engine: ContextEngine;
  readonly messageKey: string;
}

const asked = new WeakMap<ContextEngine, Batch>();

interface Batch {
  readonly keys: string[];
  readonly read: ReturnType<ContextEngine['store']['bodies']>;
}

function later(engine: ContextEngine, key: string): Batch['read'] {
  const open = asked.get(engine);
  if (open) {
    open.keys.push(key);
    return open.read;
  }
  const keys = [key];
  const read = Promise.resolve().then(() => {
    asked.delete(engine);
    return engine.store.bodies(engine.chatId, keys);
  });
  asked.set(engine, { keys, read });
  return read;
}
