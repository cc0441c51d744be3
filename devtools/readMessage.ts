import type { UIMessage } from 'ai';
import type { ContextEngine } from 'contextree';

/** A message, loaded or not; null where its content is gone. */
export async function readMessage({ engine, messageKey: key }: MessageAt): Promise<UIMessage | null> {
  const loaded = engine.message(key);
  return loaded ?? (await engine.store.bodies(engine.chatId, [key])).get(key)?.message ?? null;
}

interface MessageAt {
  readonly engine: ContextEngine;
  readonly messageKey: string;
}
