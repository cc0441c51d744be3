import { setField } from '../copy.ts';
import { inWords, readable } from '../fragment/plain.ts';
import { isAwsSecret, isRandom, KEY_NAME, kindsIn, WHOLE_NAME, type SecretKind } from './kinds.ts';

/**
 * Masking secrets in what leaves the page: each is replaced by a placeholder with its kind and a short hash, which shows
 * whether two places had the same one (shorter for a short secret, so that it can't be guessed). See `kinds.ts` for what tells
 * a secret; uncertain values stay. The walk can pause, and long texts are read in pieces: no task takes long.
 */

/**
 * A copy in which secrets are masked, made with a pause for the page after every 10 ms. Records keep their keys in order,
 * unless a key is a secret itself. Values without keys (dates, maps, errors) and unreadable ones are described, as in `inspect()`.
 */
export async function maskInSlices(value: unknown, onMasked: OnMasked = () => {}): Promise<unknown> {
  const walk: Walk = { open: new Set(), masked: new Map(), onMasked, until: performance.now() + SLICE };
  const steps = masking(value, '', walk);
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return step.value;
    if (performance.now() < walk.until) continue;
    await new Promise((resolve) => void setTimeout(resolve));
    walk.until = performance.now() + SLICE;
  }
}

/** Called for each masked secret, with its kind, such as `OpenAI key`. */
export type OnMasked = (kind: string) => void;

/** The work between two pauses, in ms. */
const SLICE = 10;

interface Walk {
  /** The objects on the way from the root to here. */
  readonly open: Set<object>;
  /** The masked copy of each object, under a name that announces secrets and under any other: a shared object is read once. */
  readonly masked: Map<string, Map<object, unknown>>;
  readonly onMasked: OnMasked;
  /** When the page gets its turn. */
  until: number;
}

/** The deepest level; deeper ones are cut. No snapshot is as deep. */
const MAX_DEPTH = 1000;

/** Masks a value under its name; the name holds for the items of a list, too. Never throws. */
function* masking(value: unknown, name: string, walk: Walk): Generator<void, unknown> {
  if (performance.now() >= walk.until) yield;
  if (typeof value === 'string') {
    const masked = yield* maskingText(value, walk.onMasked);
    return underName(value, masked, name, walk.onMasked);
  }
  if (typeof value !== 'object' || value === null) return value;
  if (walk.open.has(value)) return '[circular]';
  if (walk.open.size > MAX_DEPTH) return '[too deep]';
  const under = WHOLE_NAME.test(name) || KEY_NAME.test(name) ? name : '';
  const known = walk.masked.get(under) ?? new Map<object, unknown>();
  walk.masked.set(under, known);
  if (known.has(value)) return known.get(value);
  walk.open.add(value);
  const copy = yield* maskingObject(value, name, walk);
  walk.open.delete(value);
  known.set(value, copy);
  return copy;
}

function* maskingObject(value: object, name: string, walk: Walk): Generator<void, unknown> {
  const told = readable(() => inWords(value) ?? dataOf(value, name));
  if (told !== value) return yield* masking(told, name, walk);
  const keys = readable(() => Object.keys(value));
  if (!Array.isArray(keys)) return keys;
  const copy = Array.isArray(value) ? [] : {};
  for (const key of keys as string[]) {
    const item = readable(() => (value as Readonly<Record<string, unknown>>)[key]);
    const isPlain = typeof item !== 'string' && typeof item !== 'object';
    const masked = isPlain ? item : yield* masking(item, Array.isArray(value) ? name : key, walk);
    setField(copy, maskText(key, walk.onMasked), masked);
  }
  return copy;
}

function dataOf(value: object, name: string): unknown {
  const { toJSON } = value as { toJSON?: unknown };
  return Array.isArray(value) || typeof toJSON !== 'function' ? value : toJSON.call(value, name);
}

/** The masked text, or a placeholder where the name is the only sign of a secret. */
function underName(text: string, masked: string, name: string, onMasked: OnMasked): string {
  if (masked !== text || text === '' || name === '' || isPlaceholder(text)) return masked;
  const isSecret = WHOLE_NAME.test(name) || (KEY_NAME.test(name) && isRandom(text));
  return isSecret ? placeholder(kindOf(name), text, onMasked) : masked;
}

/** A text without the secrets in it. */
export function maskText(text: string, onMasked: OnMasked = () => {}): string {
  const steps = maskingText(text, onMasked);
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value;
}

/** The same, which yields before each piece of a long text. */
function* maskingText(text: string, onMasked: OnMasked): Generator<void, string> {
  if (text.length < SHORTEST || UUID.test(text)) return text;
  const pieces: string[] = [];
  for (const piece of piecesOf(maskBlocks(text, onMasked))) {
    if (text.length > LONG) yield;
    pieces.push(maskPiece(piece, onMasked));
  }
  const masked = pieces.join('');
  // An AWS secret key has no prefix; it stands beside its key id.
  if (!masked.includes('[AWS key ')) return masked;
  return masked.replace(AWS_SECRET, (found) =>
    isAwsSecret(found) ? placeholder('AWS secret', found, onMasked) : found,
  );
}

/** The shortest secret with its name: `pwd=1234`. */
const SHORTEST = 8;
/** Ids and keys of messages, which are most of the texts of a snapshot. */
const UUID = /^(?:key:)?[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/;
/** The length above which a text is masked in pieces of about this length. */
const LONG = 50_000;

/** The text in pieces that end outside of secrets: at the end of a line, an item of JSON, or a sentence. */
function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  let from = 0;
  while (text.length - from > LONG) {
    const at = breakIn(text, from + LONG / 2, from + LONG);
    if (at < 0) break;
    pieces.push(text.slice(from, at));
    from = at;
  }
  return [...pieces, text.slice(from)];
}

/** The index to break a text at, between two indices or else the next one behind them; -1 for none. */
function breakIn(text: string, from: number, to: number): number {
  const window = text.slice(from, to);
  for (const end of ['\n', '","', '. ']) {
    const at = window.lastIndexOf(end);
    // The value of a name may be in the next line.
    if (at > 0 && !/[:=>\s]$/.test(window.slice(at - 1, at))) return from + at + end.length;
  }
  const next = text.indexOf('\n', to);
  return next < 0 ? -1 : next + 1;
}

/** Masks what has a beginning and an end: files in URLs, private keys. */
function maskBlocks(text: string, onMasked: OnMasked): string {
  let masked = text;
  if (text.includes('data:'))
    masked = text.replace(DATA_URL, (_whole, head: string, content: string) => {
      return `${head}[${content.length} characters ${print(content, 6)}]`;
    });
  if (masked.includes('PRIVATE KEY')) masked = maskBetween(masked, KEY_BEGIN, KEY_END, onMasked);
  if (masked.includes('PuTTY-')) masked = maskBetween(masked, PUTTY_BEGIN, PUTTY_END, onMasked);
  return masked;
}

function maskPiece(text: string, onMasked: OnMasked): string {
  let masked = text;
  for (const one of kindsIn(text)) masked = maskKind(masked, one, onMasked);
  return masked;
}

function maskKind(text: string, { kind, pattern, isSecret, isMarked }: SecretKind, onMasked: OnMasked) {
  return text.replace(pattern, (whole: string, before: string, found: string, offset: number) => {
    const previous = text[offset - 1] ?? '';
    // Markdown emphasis around a secret is no part of it.
    const secret = isMarked && previous === '_' ? found.replace(/_+$/, '') : found;
    const isWritten = isMarked && /[A-Za-z\d]/.test(previous) && !isRandom(secret);
    if (isWritten || isPlaceholder(secret) || !isSecret(secret)) return whole;
    const name = kind === '' ? kindOf(before) : kind;
    return before + placeholder(name, secret, onMasked) + whole.slice(before.length + secret.length);
  });
}

const AWS_SECRET = /(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=])/g;

const KEY_BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----/g;
const KEY_END = /-----END [^]*?(?:-----|$)/g;
const PUTTY_BEGIN = /PuTTY-User-Key-File-\d:(?=[^]{1,2000}?Private-Lines:)/g;
const PUTTY_END = /Private-(?:MAC|Hash):\s{0,3}[\da-f]*/gi;

/** Masks private keys, also one that is cut off. */
function maskBetween(text: string, begin: RegExp, end: RegExp, onMasked: OnMasked): string {
  let masked = '';
  let done = 0;
  for (const { index } of text.matchAll(begin)) {
    if (index < done) continue;
    end.lastIndex = index;
    const found = end.exec(text);
    const to = found ? found.index + found[0].length : text.length;
    masked += text.slice(done, index) + placeholder('private key', text.slice(index, to), onMasked);
    done = to;
  }
  return masked + text.slice(done);
}

/** Files in URLs: no secrets, but of no use to a reader. */
const DATA_URL = /\b(data:(?:[\w.+-]{1,60}\/[\w.+-]{1,80})?(?:;[\w=.-]{1,60}){0,4},)([^\s"'<>()\\]{64,})/g;

/** `API key` for `x-api-key: `, `password` for `DB_PASSWORD=`. */
function kindOf(name: string): string {
  const [found = 'secret'] =
    /pass|pwd|kennwort|mdp|contrase|cookie|auth|token|key|secret|credential/i.exec(name) ?? [];
  if (/pass|pwd|kennwort|mdp|contrase/i.test(found)) return 'password';
  if (/auth|credential/i.test(found)) return 'credentials';
  return /key/i.test(found) ? 'API key' : found.toLowerCase();
}

function placeholder(kind: string, secret: string, onMasked: OnMasked): string {
  onMasked(kind);
  return `[${kind} ${print(secret, secret.length < 20 ? 2 : 6)}]`;
}

function isPlaceholder(text: string): boolean {
  return /^\[[A-Za-z ]{3,20} [0-9a-f]{2,6}\]/.test(text);
}

/** A hash that is the same for the same text: hexadecimal digits of FNV-1a. */
function print(text: string, digits: number): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0').slice(-digits);
}
