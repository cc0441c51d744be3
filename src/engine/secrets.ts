import { reasonOf } from '../errors.ts';
import { inWords } from './plain.ts';
import { isAwsSecret, isRandom, KEY_NAME, kindsIn, WHOLE_NAME, type SecretKind } from './secretKinds.ts';

/**
 * What must not leave with a snapshot.
 *
 * A chat holds what people paste: keys, cookies, connection strings. A snapshot that goes into a bug report takes them
 * along. So what is handed out is read once more, and each secret gives way to a placeholder that says what stood there
 * and, by a short print, whether it is the same as in another place. The print of a short secret is shorter, so that a
 * password can't be guessed from it.
 *
 * Two kinds of signs tell a secret, see `secretKinds.ts`: the mark of an issuer, and a name in front of something that
 * looks like one. Uncertain things stay: a reader who can't trust the snapshot has no use for it.
 *
 * A snapshot may be large, and the page that takes it is in use. So the walk is a loop that can rest, and long texts
 * are read in pieces: no task of {@link maskInSlices} takes long.
 */

/**
 * A copy in which secrets are masked. Records keep their keys in order, unless a key is a secret itself. What has no
 * keys (dates, maps, errors) and what can't be read stands there in words, as `inspect()` has it.
 */
export function mask(value: unknown, onMasked?: OnMasked): unknown {
  const steps = masking(value, onMasked);
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value;
}

/** The same with a rest for the page after every 10 ms. `onMasked` is told of each secret, by its kind. */
export async function maskInSlices(value: unknown, onMasked?: OnMasked): Promise<unknown> {
  const steps = masking(value, onMasked);
  for (let until = performance.now() + SLICE; ;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (performance.now() < until) continue;
    await new Promise((resolve) => void setTimeout(resolve));
    until = performance.now() + SLICE;
  }
}

/** Told of each secret that was masked, by its kind, as in `OpenAI key`. */
export type OnMasked = (kind: string) => void;

/** ms of work between two rests. */
const SLICE = 10;

// ------------------------------------------------------------------ the walk

/** An object that is being copied: which of its keys comes next. */
interface Place {
  readonly source: Readonly<Record<string | number, unknown>>;
  readonly target: Record<string | number, unknown> | unknown[];
  /** Of a list, how many there are. */
  readonly keys: readonly string[] | number;
  at: number;
  /** The name under which it stands: it counts for the items of a list, too. */
  readonly name: string;
  /** The objects that are read for it: it, and what it stands for. */
  readonly own: readonly object[];
}

interface Walk {
  readonly places: Place[];
  readonly open: Set<object>;
  /** The masked copy of each object, under a name that tells of secrets and under any other: shared objects are read once. */
  readonly masked: Map<string, Map<object, unknown>>;
  readonly onMasked: OnMasked;
}

/** Deeper than any snapshot; what is deeper still is cut. */
const MAX_DEPTH = 1000;
/** Characters between two chances to rest; a value counts as some, too. */
const STEP = 20_000;
const VALUE = 50;

function* masking(value: unknown, onMasked: OnMasked = () => {}): Generator<void, unknown> {
  const target: unknown[] = [];
  const walk: Walk = { places: [], open: new Set(), masked: new Map(), onMasked };
  const { places, open } = walk;
  places.push({ source: [value] as never, target, keys: 1, at: 0, name: '', own: [] });
  let work = 0;
  for (let place = places.at(-1); place; place = places.at(-1)) {
    const { source, keys, own } = place;
    const isList = typeof keys === 'number';
    if (place.at === (isList ? keys : keys.length)) {
      for (const object of own) open.delete(object);
      places.pop();
      continue;
    }
    const key = isList ? place.at : (keys[place.at] as string);
    place.at += 1;
    const found = valueAt(source, key, isList ? place.name : (key as string), walk);
    if (typeof found === 'string') work += found.length;
    const masked = found instanceof LongText ? yield* found.masking(onMasked) : found;
    put(place.target, typeof key === 'string' ? maskText(key, onMasked) : key, masked);
    work += VALUE;
    if (work < STEP) continue;
    work = 0;
    yield;
  }
  return target[0];
}

function put(target: Place['target'], key: string | number, value: unknown): void {
  // As a key of its own, whatever it is called.
  if (key === '__proto__')
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  else (target as Record<string | number, unknown>)[key] = value;
}

/** What a key holds, masked; an object is begun, and a long text is left for later. Never throws. */
function valueAt(source: Place['source'], key: string | number, name: string, walk: Walk): unknown {
  try {
    const value = source[key];
    if (typeof value === 'string') return maskNamed(value, name, walk.onMasked);
    return typeof value === 'object' && value !== null ? begin(value, name, walk) : value;
  } catch (error) {
    return maskText(`[unreadable: ${reasonOf(error)}]`, walk.onMasked);
  }
}

/** Begins the copy of an object, unless words stand for it. */
function begin(value: object, name: string, walk: Walk): unknown {
  const under = tellsOf(name) ? name : '';
  const known = walk.masked.get(under) ?? new Map<object, unknown>();
  walk.masked.set(under, known);
  const own: object[] = [];
  for (let object = value; ;) {
    if (walk.open.has(object) || own.includes(object)) return '[circular]';
    if (walk.places.length + own.length > MAX_DEPTH) return '[too deep]';
    if (known.has(object)) return known.get(object);
    own.push(object);
    const words = inWords(object);
    if (words !== undefined) return maskText(words, walk.onMasked);
    const { toJSON } = object as { toJSON?: unknown };
    if (Array.isArray(object) || typeof toJSON !== 'function') break;
    const data: unknown = toJSON.call(object, name);
    if (typeof data === 'string') return maskNamed(data, name, walk.onMasked);
    if (typeof data !== 'object' || data === null) return data;
    object = data;
  }
  const source = own.at(-1) as object;
  const target = Array.isArray(source) ? [] : {};
  const keys = Array.isArray(source) ? source.length : Object.keys(source);
  for (const object of own) {
    known.set(object, target);
    walk.open.add(object);
  }
  walk.places.push({ source: source as never, target, keys, at: 0, name, own });
  return target;
}

/** Whether a name says that a secret stands under it: a drawn one, or whatever it is. */
function tellsOf(name: string): '' | 'drawn' | 'any' {
  return WHOLE_NAME.test(name) ? 'any' : KEY_NAME.test(name) ? 'drawn' : '';
}

/** A text that stands under a name, which may be all that tells of a secret. */
function maskNamed(text: string, name: string, onMasked: OnMasked): string | LongText {
  if (text.length > LONG) return new LongText(text, name);
  return underName(text, maskText(text, onMasked), name, onMasked);
}

function underName(text: string, masked: string, name: string, onMasked: OnMasked): string {
  if (masked !== text || text === '' || name === '' || isPlaceholder(text)) return masked;
  const told = tellsOf(name);
  if (told === '' || (told === 'drawn' && !isRandom(text))) return masked;
  return placeholder(kindOf(name), text, onMasked);
}

// ------------------------------------------------------------------ texts

/** A text without the secrets in it. */
export function maskText(text: string, onMasked: OnMasked = () => {}): string {
  if (text.length < SHORTEST || UUID.test(text)) return text;
  const whole = maskBlocks(text, onMasked);
  const pieces = whole.length > LONG ? piecesOf(whole) : [whole];
  return withAwsSecrets(pieces.map((piece) => maskPiece(piece, onMasked)).join(''), onMasked);
}

/** A text that takes more than a moment. */
class LongText {
  readonly #text: string;
  readonly #name: string;

  constructor(text: string, name: string) {
    this.#text = text;
    this.#name = name;
  }

  /** What {@link maskText} gives, piece by piece. */
  *masking(onMasked: OnMasked): Generator<void, string> {
    const masked: string[] = [];
    for (const piece of piecesOf(maskBlocks(this.#text, onMasked))) {
      yield;
      masked.push(maskPiece(piece, onMasked));
    }
    const text = withAwsSecrets(masked.join(''), onMasked);
    return underName(this.#text, text, this.#name, onMasked);
  }
}

/** The least that can be a secret with its name: `pwd=1234`. */
const SHORTEST = 8;
/** Ids and keys of messages: most of the texts of a snapshot. */
const UUID = /^(?:key:)?[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/;
/** A text that is longer is masked in pieces, of about so many characters. */
const LONG = 50_000;

/** The text in pieces that end where no secret does: with a line, an item of JSON, or a sentence. */
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

/** Where to break a text between two places, or the next place behind them; -1 for nowhere. */
function breakIn(text: string, from: number, to: number): number {
  const window = text.slice(from, to);
  for (const end of ['\n', '","', '. ']) {
    const at = window.lastIndexOf(end);
    // What a name stands before may be in the next line.
    if (at > 0 && !/[:=>\s]$/.test(window.slice(at - 1, at))) return from + at + end.length;
  }
  const next = text.indexOf('\n', to);
  return next < 0 ? -1 : next + 1;
}

/** What has a beginning and an end: files in addresses, private keys. */
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
    // Emphasis, as Markdown has it, is no part of it.
    const secret = isMarked && previous === '_' ? found.replace(/_+$/, '') : found;
    const isWritten = isMarked && /[A-Za-z\d]/.test(previous) && !isRandom(secret);
    if (isWritten || isPlaceholder(secret) || !isSecret(secret)) return whole;
    const name = kind === '' ? kindOf(before) : kind;
    return before + placeholder(name, secret, onMasked) + whole.slice(before.length + secret.length);
  });
}

/** A secret AWS key has no mark; it stands beside the id of one. */
const AWS_SECRET = /(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=])/g;

function withAwsSecrets(text: string, onMasked: OnMasked): string {
  if (!text.includes('[AWS key ')) return text;
  return text.replace(AWS_SECRET, (found) =>
    isAwsSecret(found) ? placeholder('AWS secret', found, onMasked) : found,
  );
}

const KEY_BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----/g;
const KEY_END = /-----END [^]*?(?:-----|$)/g;
const PUTTY_BEGIN = /PuTTY-User-Key-File-\d:(?=[^]{1,2000}?Private-Lines:)/g;
const PUTTY_END = /Private-(?:MAC|Hash):\s{0,3}[\da-f]*/gi;

/** Blocks of private keys, also one that breaks off. */
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

/** Files that stand in an address: no secrets, but nobody reads them either. */
const DATA_URL = /\b(data:(?:[\w.+-]{1,60}\/[\w.+-]{1,80})?(?:;[\w=.-]{1,60}){0,4},)([^\s"'<>()\\]{64,})/g;

// ------------------------------------------------------------------ what stands there instead

/** `API key` for `x-api-key: `, `password` for `DB_PASSWORD=`. */
function kindOf(name: string): string {
  const [found = 'secret'] =
    /passw|pass|pwd|kennwort|mdp|contrase|cookie|auth|token|key|secret|credential/i.exec(name) ?? [];
  const kinds: Readonly<Record<string, string>> = {
    pass: 'password',
    passw: 'password',
    pwd: 'password',
    kennwort: 'password',
    mdp: 'password',
    contrase: 'password',
    auth: 'credentials',
    key: 'API key',
    credential: 'credentials',
  };
  return kinds[found.toLowerCase()] ?? found.toLowerCase();
}

function placeholder(kind: string, secret: string, onMasked: OnMasked): string {
  onMasked(kind);
  return `[${kind} ${print(secret, secret.length < 20 ? 2 : 6)}]`;
}

function isPlaceholder(text: string): boolean {
  return /^\[[A-Za-z ]{3,20} [0-9a-f]{2,6}\]/.test(text);
}

/** The same for the same text: hexadecimal digits of its FNV-1a hash. */
function print(text: string, digits: number): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0').slice(-digits);
}
