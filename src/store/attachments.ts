import type { UIMessage } from 'ai';
import type { MessageNode } from '../graph/graph.ts';
import { blobUrl, hashOf, hashIn } from './blobs.ts';
import type { Rows } from './rows.ts';

/**
 * Files in messages, kept beside them.
 *
 * An app attaches a picture as the AI SDK has it: a part with a `data:` URL, a few megabytes of text in the middle of a
 * message. Kept like that, each version of the message would hold the picture again, and so would each draft of an
 * answer that made one. So on its way in, a message loses the bytes of its files and keeps a name for them; on its way
 * out it gets them back. Nobody outside of the store sees the difference: the parts are the same, to the letter.
 *
 * To the letter: what is kept is the hash of the bytes and the head of the URL, and where the two would not make the
 * same URL again (it is percent-encoded, or its base64 has a line break), what is kept is the hash of the URL itself.
 * Short URLs stay where they are: in Chromium a record of its own takes 0.1 ms to read, and the rest of the message no
 * longer than before; at 16 kB the two cost the same.
 *
 * Naming takes time, and a transaction does not wait for what is not its own. So it comes before, and the bytes are
 * written with the message, in its transaction.
 *
 * Bytes may be gone all the same: disks lose things. Then a text says so in the place of the file. It remembers what it
 * stands for, so writing the message again loses nothing, and bytes that come back are found.
 */
export class Attachments {
  /** The URLs of names: those met last, at the end. Whoever streams a picture drafts it twice a second. */
  readonly #urls = new Map<string, string>();

  /** The message with names for its files; what the names stand for is added to `files`. */
  async detach(message: UIMessage, files: Files): Promise<UIMessage> {
    const parts = await Promise.all(message.parts.map((part) => this.#detachPart(part, files)));
    return { ...message, parts };
  }

  async #detachPart(part: Part, files: Files): Promise<Part> {
    if (isGone(part)) return part.gone;
    if (!isHeavy(part)) return part;
    const { url } = part;
    const name = [...this.#urls].find(([, known]) => known === url)?.[0] ?? (await nameOf(url));
    this.#remember(name, url);
    files.set(hashIn(name), { name, url });
    return { ...part, url: name };
  }

  /** The messages with their files. `files` are those at hand; others are read. */
  async attach(
    rows: Rows,
    nodes: readonly MessageNode[],
    files: Files = new Map(),
  ): Promise<readonly MessageNode[]> {
    const urls = new Map([...files.values()].map(({ name, url }) => [name, url]));
    const names = new Set<string>();
    for (const { data } of nodes) for (const part of partsOf(data)) if (isNamed(part)) names.add(part.url);
    if (names.size === 0) return nodes;
    const unknown = [...names].filter((name) => !urls.has(name));
    const found = await Promise.all(unknown.map((name) => this.#urlOf(rows, name)));
    for (const [i, name] of unknown.entries()) {
      const url = found[i];
      if (url === undefined) continue;
      urls.set(name, url);
      this.#remember(name, url);
    }
    return nodes.map((node) => withUrls(node, urls));
  }

  async #urlOf(rows: Rows, name: string): Promise<string | undefined> {
    return this.#urls.get(name) ?? readUrl(rows, name);
  }

  #remember(name: string, url: string): void {
    this.#urls.delete(name);
    if (url.length <= MOST_REMEMBERED) this.#urls.set(name, url);
    let size = [...this.#urls.values()].reduce((sum, { length }) => sum + length, 0);
    for (const [oldest, { length }] of this.#urls) {
      if (size <= MOST_REMEMBERED) return;
      this.#urls.delete(oldest);
      size -= length;
    }
  }
}

/** Files by the hash of their bytes. */
export type Files = Map<string, { readonly name: string; readonly url: string }>;

/** The characters of URLs that are remembered, in all. */
const MOST_REMEMBERED = 2 ** 24;

/** URLs of so many characters and more are kept apart: from here on a record of their own costs little to read. */
const HEAVY = 4096;

type Part = UIMessage['parts'][number];
type FilePart = Extract<Part, { readonly type: 'file' }>;

/** A text in the place of a file whose bytes are gone, and what it stands for. */
type GonePart = Extract<Part, { readonly type: 'text' }> & { readonly gone: Part };

/** Whether a message has parts that are written in another form than they are read. */
export function hasFiles(message: UIMessage): boolean {
  return partsOf(message).some((part) => isGone(part) || isHeavy(part));
}

/** A message that is copied without the URLs of its heavy files, which are shared instead: texts need no copies. */
export function copyBeside(message: UIMessage, copy: (light: UIMessage) => UIMessage): UIMessage {
  const parts = partsOf(message);
  if (!parts.some((part) => isHeavy(part))) return copy(message);
  const light = copy({
    ...message,
    parts: parts.map((part) => (isHeavy(part) ? { ...part, url: '' } : part)),
  });
  const whole = light.parts.map((part, i) => {
    const own = parts[i];
    return own && isHeavy(own) ? { ...part, url: own.url } : part;
  });
  return { ...light, parts: whole };
}

/** What is read may be anything: disks lose things, and people edit databases. */
function partsOf(message: UIMessage): readonly Part[] {
  const { parts } = Object(message) as Partial<UIMessage>;
  return Array.isArray(parts) ? parts : [];
}

function isGone(part: Part): part is GonePart {
  const { type, gone } = Object(part) as Partial<GonePart>;
  return type === 'text' && typeof gone === 'object' && gone !== null;
}

function isFile(part: Part): part is FilePart {
  const { type, url } = Object(part) as { readonly type?: unknown; readonly url?: unknown };
  return (type === 'file' || type === 'reasoning-file') && typeof url === 'string';
}

/** A URL that looks like a name of ours counts as heavy, so that it is given back as it came. */
function isHeavy(part: Part): part is FilePart {
  return isFile(part) && (part.url.startsWith('data:') ? part.url.length >= HEAVY : NAME.test(part.url));
}

function isNamed(part: Part): part is FilePart {
  return isFile(part) && NAME.test(part.url);
}

// --- Names ----------------------------------------------------------------------------------------------------------

/** `contextree-blob:HASH?base64=HEAD`: the head of a URL before its bytes; `?url=`: the bytes are the URL itself. */
const NAME = /^contextree-blob:[0-9a-f]{64}\?(?:base64=(.*)|url=)$/s;

async function nameOf(url: string): Promise<string> {
  const at = url.indexOf(',') + 1;
  const [head, body] = [url.slice(0, at), url.slice(at)];
  const bytes = head.endsWith(';base64,') ? fromBase64(body) : undefined;
  if (bytes) return `${blobUrl(await hashOf(bytes))}?base64=${head}`;
  return `${blobUrl(await hashOf(bytesOfText(url)))}?url=`;
}

/** The bytes that a name stands for. */
export function bytesOf({ name, url }: { readonly name: string; readonly url: string }): Uint8Array {
  const head = NAME.exec(name)?.[1];
  const bytes = head === undefined ? undefined : fromBase64(url.slice(head.length));
  return bytes ?? bytesOfText(url);
}

async function readUrl(rows: Rows, name: string): Promise<string | undefined> {
  const row = await rows.get('blobs', hashIn(name));
  if (!(row?.bytes instanceof Uint8Array)) return undefined;
  const head = NAME.exec(name)?.[1];
  return head === undefined ? textOfBytes(row.bytes) : head + toBase64(row.bytes);
}

function withUrls(node: MessageNode, urls: ReadonlyMap<string, string>): MessageNode {
  if (!partsOf(node.data).some(isNamed)) return node;
  const parts = partsOf(node.data).map((part) => {
    if (!isNamed(part)) return part;
    const url = urls.get(part.url);
    return url === undefined ? gonePart(part) : { ...part, url };
  });
  return { ...node, data: { ...node.data, parts } };
}

function gonePart(gone: FilePart): GonePart {
  const name = gone.filename === undefined ? gone.mediaType : `"${gone.filename}" (${gone.mediaType})`;
  return { type: 'text', text: `[The file ${name} is lost.]`, gone };
}

// --- Bytes ----------------------------------------------------------------------------------------------------------

/** As JSON: no other text form keeps halves of characters apart. */
function bytesOfText(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(JSON.stringify(text));
}

function textOfBytes(bytes: Uint8Array): string | undefined {
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as string;
  } catch {
    return undefined;
  }
}

/** The bytes of base64; undefined where {@link toBase64} would write them in another way. */
function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
    const bytes = Native.fromBase64?.(text) ?? bytesOfBinary(atob(text));
    const isWhole = bytes.length === (text.length / 4) * 3 - padding;
    const end = text.slice(-4);
    return isWhole && btoa(atob(end)) === end ? bytes : undefined;
  } catch {
    return undefined;
  }
}

function bytesOfBinary(binary: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i += 1) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** How many bytes are turned into characters at once: arguments of a call. */
const SLICE = 0x8000;

function toBase64(bytes: Uint8Array & { readonly toBase64?: () => string }): string {
  if (bytes.toBase64) return bytes.toBase64();
  const slices: string[] = [];
  for (let at = 0; at < bytes.length; at += SLICE)
    slices.push(String.fromCharCode(...bytes.subarray(at, at + SLICE)));
  return btoa(slices.join(''));
}

/** Browsers since 2025 turn bytes to text and back themselves, several times as fast. */
const Native: Uint8ArrayConstructor & { readonly fromBase64?: (text: string) => Uint8Array<ArrayBuffer> } =
  Uint8Array;
