import type { UIMessage } from 'ai';
import { ContextError, isContextError, reasonOf } from '../errors.ts';
import { estimateTokens, type Tokenizer } from './tokenizer.ts';
import { fieldsOf } from './usage.ts';

/**
 * Counts that are counted once: kept with each message's object, for each tokenizer; of rendered texts the latest are kept. A
 * tokenizer in a Worker is asked ahead, for many counts at once; what it was not asked for is estimated.
 */

/** Counts at once, or in batches. */
export type AnyTokenizer = Tokenizer | BatchTokenizer;

const known = new WeakMap<AnyTokenizer, Counts>();

interface Counts {
  readonly messages: WeakMap<UIMessage, number>;
  readonly texts: Map<string, number>;
}

function countsOf(tokenizer: AnyTokenizer): Counts {
  const counts = known.get(tokenizer) ?? { messages: new WeakMap(), texts: new Map() };
  known.set(tokenizer, counts);
  return counts;
}

/** Texts whose counts are kept for a tokenizer: more than a prompt has fragments, in a few formats. */
const TEXTS_KEPT = 5_000;

/** The tokens of a message: its texts, and what its tools were given and gave as JSON. */
export function countMessage(tokenizer: AnyTokenizer, message: UIMessage): number {
  const { messages } = countsOf(tokenizer);
  let count = messages.get(message);
  if (count === undefined) messages.set(message, (count = ask(tokenizer, wordsOf(message))));
  return count;
}

/** The tokens of a text. */
export function countText(tokenizer: AnyTokenizer, text: string): number {
  const { texts } = countsOf(tokenizer);
  const count = texts.get(text) ?? ask(tokenizer, text);
  texts.set(text, count);
  if (texts.size > TEXTS_KEPT) texts.delete([...texts.keys()][0] ?? '');
  return count;
}

/** Counts many texts at once, in a Worker: the result of `createWorkerTokenizer()`. */
export interface BatchTokenizer {
  readonly name: string;
  readonly exact: true;
  /** Tokens of each text, in order. */
  count(texts: readonly string[]): Promise<readonly number[]>;
  dispose(): void;
}

/** Whether a tokenizer is asked for many counts at once. */
export function isBatch(tokenizer: AnyTokenizer): tokenizer is BatchTokenizer {
  return 'dispose' in tokenizer;
}

/** Counts in one batch all that was not counted before. */
export async function countAhead(
  batch: BatchTokenizer,
  texts: readonly string[],
  messages: readonly UIMessage[],
): Promise<void> {
  const counts = countsOf(batch);
  const newTexts = texts.filter((text) => !counts.texts.has(text));
  const newMessages = messages.filter((message) => !counts.messages.has(message));
  const asked = [...newTexts, ...newMessages.map(wordsOf)];
  const tokens = asked.length > 0 ? await askAll(batch, asked) : [];
  for (const [i, text] of newTexts.entries()) counts.texts.set(text, tokens[i] ?? 0);
  for (const [i, message] of newMessages.entries())
    counts.messages.set(message, tokens[newTexts.length + i] ?? 0);
}

async function askAll(batch: BatchTokenizer, texts: readonly string[]): Promise<readonly number[]> {
  try {
    const counts: unknown = await batch.count(texts);
    if (Array.isArray(counts)) return texts.map((_, i) => whole(counts[i], batch.name));
    return refuse(batch.name, 'gave no list: count() gives the tokens of each text.');
  } catch (cause) {
    return refuse(batch.name, `failed: ${reasonOf(cause)}`, cause);
  }
}

function ask(tokenizer: AnyTokenizer, text: string): number {
  try {
    return isBatch(tokenizer) ? estimateTokens(text) : whole(tokenizer.count(text), tokenizer.name);
  } catch (cause) {
    return refuse(tokenizer.name, `failed: ${reasonOf(cause)}`, cause);
  }
}

/** Refuses what is no count: an app's tokenizer may return anything, and the sum would be wrong. */
function whole(count: unknown, tokenizer: string): number {
  if (typeof count === 'number' && count >= 0 && count < Infinity) return Math.round(count);
  return refuse(tokenizer, `gave ${reasonOf(count)} for a text: count() gives its tokens.`);
}

function refuse(tokenizer: string, complaint: string, cause?: unknown): never {
  if (isContextError(cause)) throw cause;
  const message = `The tokenizer "${reasonOf(tokenizer)}" ${complaint}`;
  throw new ContextError('invalid-options', message, { details: { option: 'tokenizer' }, cause });
}

function wordsOf({ parts }: UIMessage): string {
  return parts.map(partWords).filter(Boolean).join('\n');
}

/** The text of a part as a model reads it; '' for none. The bytes of a file are no text: each provider counts images its own way. */
export function partWords(part: UIMessage['parts'][number]): string {
  if (part.type === 'step-start') return '';
  if ('text' in part && typeof part.text === 'string') return part.text;
  const { url, providerMetadata: _notes, callProviderMetadata: _callNotes, ...rest } = fieldsOf(part);
  const address = typeof url === 'string' && !url.startsWith('data:') ? { url } : {};
  return json({ ...rest, ...address });
}

function json(value: object): string {
  try {
    return JSON.stringify(value);
  } catch {
    return '';
  }
}
