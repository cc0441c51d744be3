import type { UIMessage } from 'ai';
import type { ContextEngine } from 'contextree';
import { estimateTokens } from 'contextree/tokens';
import { partsOf } from './messageText.ts';

/**
 * Estimates for many rows at once: calls within one task share one read of the bodies that are not loaded. A message keeps its
 * object until it changes, and so does its estimate.
 */
const known = new WeakMap<UIMessage, number>();
const asked = new WeakMap<ContextEngine, Batch>();

interface Batch {
  readonly keys: string[];
  readonly read: ReturnType<ContextEngine['store']['bodies']>;
}

/** The estimated tokens of a message; undefined where its body is lost. */
export async function tokensOf(engine: ContextEngine, key: string): Promise<number | undefined> {
  const message = engine.message(key) ?? (await later(engine, key)).get(key)?.message;
  return message && estimateOf(message);
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

/** The estimated tokens of a loaded message: its texts, and inputs and outputs of its tools. */
export function estimateOf(message: UIMessage): number {
  let tokens = known.get(message);
  if (tokens === undefined) {
    tokens = partsOf(message).reduce((sum, part) => sum + estimateTokens(wordsIn(part)), 0);
    known.set(message, tokens);
  }
  return tokens;
}

function wordsIn(part: UIMessage['parts'][number]): string {
  if (part.type === 'text' || part.type === 'reasoning') return Object(part).text ?? '';
  const { input, output } = part as { input?: unknown; output?: unknown };
  return [input, output].flatMap((value) => (value === undefined ? [] : JSON.stringify(value))).join(' ');
}
