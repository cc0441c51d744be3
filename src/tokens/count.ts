import type { UIMessage } from 'ai';
import { ContextError, isContextError, reasonOf } from '../errors.ts';
import { estimateTokens, type Tokenizer } from './tokenizer.ts';

/**
 * Counts that are counted once.
 *
 * Counting is what an estimate's time goes to, and what was said does not change: a stored message keeps its object
 * until its words do. So its count is kept with the object, for each tokenizer. Rendered texts have no object; of those
 * the latest are kept.
 */

const ofMessages = new WeakMap<Tokenizer, WeakMap<UIMessage, number>>();
const ofTexts = new WeakMap<Tokenizer, Map<string, number>>();

/** Texts whose counts are kept for a tokenizer: more than a prompt has fragments, in a few formats. */
const TEXTS_KEPT = 5_000;

/** The tokens of a message: its texts, and what its tools were given and gave as JSON. */
export function countMessage(tokenizer: Tokenizer, message: UIMessage): number {
  return once(ofMessages, tokenizer, new WeakMap(), message, () => wordsOf(message));
}

/** The tokens of a text. */
export function countText(tokenizer: Tokenizer, text: string): number {
  const count = once(ofTexts, tokenizer, new Map(), text, () => text);
  const texts = ofTexts.get(tokenizer);
  if (texts && texts.size > TEXTS_KEPT) texts.delete([...texts.keys()][0] ?? '');
  return count;
}

/** Counts many texts at once, elsewhere: what `createWorkerTokenizer()` makes. */
export interface BatchTokenizer {
  readonly name: string;
  readonly exact: true;
  /** Tokens of each text, in order. */
  count(texts: readonly string[]): Promise<readonly number[]>;
  dispose(): void;
}

/** Whether a tokenizer is asked for many counts at once. */
export function isBatch(tokenizer: Tokenizer | BatchTokenizer): tokenizer is BatchTokenizer {
  return 'dispose' in tokenizer;
}

/** For each of them, who knows what it has answered. */
const knowing = new WeakMap<BatchTokenizer, Tokenizer>();

/** Asks in one question for all that was not counted before; gives the tokenizer that knows the answers. */
export async function countAhead(
  batch: BatchTokenizer,
  texts: readonly string[],
  messages: readonly UIMessage[],
): Promise<Tokenizer> {
  const { name, exact } = batch;
  const tokenizer = knowing.get(batch) ?? { name, exact, count: estimateTokens };
  knowing.set(batch, tokenizer);
  const newTexts = texts.filter((text) => !ofTexts.get(tokenizer)?.has(text));
  const newMessages = messages.filter((message) => !ofMessages.get(tokenizer)?.has(message));
  const asked = [...newTexts, ...newMessages.map(wordsOf)];
  const counts = asked.length > 0 ? await askAll(batch, asked) : [];
  keep(ofTexts, tokenizer, new Map(), newTexts, counts);
  keep(ofMessages, tokenizer, new WeakMap(), newMessages, counts.slice(newTexts.length));
  return tokenizer;
}

async function askAll(batch: BatchTokenizer, texts: readonly string[]): Promise<readonly number[]> {
  try {
    const counts: unknown = await batch.count(texts);
    if (Array.isArray(counts)) return counts;
  } catch (cause) {
    failed(batch.name, cause);
  }
  return refuse(`The tokenizer "${batch.name}" gave no list: count() gives the tokens of each text.`);
}

function keep<K, C extends Counts<K>>(
  known: WeakMap<Tokenizer, C>,
  tokenizer: Tokenizer,
  none: C,
  keys: readonly K[],
  counts: readonly number[],
): void {
  const kept = known.get(tokenizer) ?? none;
  known.set(tokenizer, kept);
  for (const [i, key] of keys.entries()) kept.set(key, whole(counts[i], tokenizer.name));
}

interface Counts<K> {
  get(key: K): number | undefined;
  set(key: K, count: number): unknown;
}

function once<K, C extends Counts<K>>(
  known: WeakMap<Tokenizer, C>,
  tokenizer: Tokenizer,
  none: C,
  key: K,
  text: () => string,
): number {
  const counts = known.get(tokenizer) ?? none;
  const count = counts.get(key) ?? ask(tokenizer, text());
  counts.set(key, count);
  known.set(tokenizer, counts);
  return count;
}

function ask(tokenizer: Tokenizer, text: string): number {
  let count: unknown;
  try {
    count = tokenizer.count(text);
  } catch (cause) {
    failed(tokenizer.name, cause);
  }
  return whole(count, tokenizer.name);
}

/** Somebody's tokenizer may say anything; what is no count would make a wrong sum. */
function whole(count: unknown, tokenizer: string): number {
  if (typeof count === 'number' && count >= 0 && count < Infinity) return Math.round(count);
  return refuse(`The tokenizer "${tokenizer}" gave ${reasonOf(count)} for a text: count() gives its tokens.`);
}

function failed(tokenizer: string, cause: unknown): never {
  if (isContextError(cause)) throw cause;
  return refuse(`The tokenizer "${tokenizer}" failed: ${reasonOf(cause)}`, cause);
}

function refuse(message: string, cause?: unknown): never {
  throw new ContextError('invalid-options', message, { details: { option: 'tokenizer' }, cause });
}

function wordsOf({ parts }: UIMessage): string {
  return parts.map(partWords).filter(Boolean).join('\n');
}

/** What of a part of a message a model reads as text; '' for nothing. The bytes of a file are not text: providers count images in their own ways. */
export function partWords(part: UIMessage['parts'][number]): string {
  if (part.type === 'step-start') return '';
  if ('text' in part && typeof part.text === 'string') return part.text;
  const { url, providerMetadata: _notes, callProviderMetadata: _callNotes, ...rest } = part as Fields;
  const address = typeof url === 'string' && !url.startsWith('data:') ? { url } : {};
  return json({ ...rest, ...address });
}

type Fields = Readonly<Record<string, unknown>>;

function json(value: object): string {
  try {
    return JSON.stringify(value);
  } catch {
    return '';
  }
}
