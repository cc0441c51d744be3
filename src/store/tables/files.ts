import type { UIMessage } from 'ai';
import type { Ready } from './commit.ts';
import type { Database, Rows } from './layout.ts';

/**
 * Bytes that messages refer to.
 *
 * A picture in a message is a megabyte of text in a list of lines: each read of the list brings it along, each branch
 * that edits the message writes it again. So bytes lie apart, under the hash of their content. The same picture in ten
 * messages is one record, a hash that was heard of can be trusted to mean the same bytes everywhere, and writing twice
 * is writing once.
 *
 * A message refers to bytes by a URL, anywhere in it ({@link blobUrl}). Nobody counts references, because counts go
 * wrong. What is kept is which chats refer to which bytes, written with the message, in its transaction. A chat never
 * loses a message that has been said, nor an earlier version of it, before it goes as a whole; and when it goes, in the
 * same transaction, the bytes go that no other chat refers to. Bytes are written before the message that refers to
 * them, and it may never come: then they go after a day.
 *
 * An app attaches a picture as the AI SDK has it: a part with a `data:` URL. On its way in, a message loses the bytes of
 * its files and keeps a name for them; on its way out it gets them back. Nobody outside of the store sees the
 * difference: the parts are the same, to the letter. What is kept is the hash of the bytes and the head of the URL, and
 * where the two would not make the same URL again (it is percent-encoded, or its base64 has a line break), the hash of
 * the URL itself. Short URLs stay where they are: in Chromium a record of its own takes 0.1 ms to read, and the rest of
 * the message no longer than before; at 16 kB the two cost the same.
 *
 * Naming takes time, and a transaction does not wait for what is not its own. So it comes before, and the bytes are
 * written with the message, in its transaction.
 *
 * Bytes may be gone all the same: disks lose things. Then a text says so in the place of the file. It remembers what it
 * stands for, so writing the message again loses nothing, and bytes that come back are found.
 */

/** The message with names for its files; what the names stand for is added to `files`, by its hash. */
export async function detach(message: UIMessage, files: Ready['files']): Promise<UIMessage> {
  const parts = await Promise.all(message.parts.map((part) => detachPart(part, files)));
  return { ...message, parts };
}

async function detachPart(part: Part, files: Ready['files']): Promise<Part> {
  if (isGone(part)) return part.gone;
  if (!isHeavy(part)) return part;
  const { url } = part;
  const at = url.indexOf(',') + 1;
  const head = url.slice(0, at);
  const decoded = head.endsWith(';base64,') ? fromBase64(url.slice(at)) : undefined;
  const bytes = decoded ?? bytesOfText(url);
  const hash = await hashOf(bytes);
  files.set(hash, bytes);
  return { ...part, url: `${blobUrl(hash)}?${decoded ? `base64=${head}` : 'url='}` };
}

/** The messages with their files, in the same order. */
export async function attach(db: Database, messages: readonly UIMessage[]): Promise<UIMessage[]> {
  const names = new Set(
    messages.flatMap((message) =>
      partsOf(message)
        .filter(isNamed)
        .map(({ url }) => url),
    ),
  );
  const urls = await db.read(['blobs'], async (rows) => {
    const found = [...names].map(async (name) => [name, await readUrl(rows, name)] as const);
    return new Map(await Promise.all(found));
  });
  return messages.map((message) => {
    if (!partsOf(message).some(isNamed)) return message;
    const parts = partsOf(message).map((part) => {
      if (!isNamed(part)) return part;
      const url = urls.get(part.url);
      return url === undefined ? gonePart(part) : { ...part, url };
    });
    return { ...message, parts };
  });
}

async function readUrl(rows: Rows, name: string): Promise<string | undefined> {
  const bytes = await rows.get('blobs', name.slice(blobUrl('').length, blobUrl('').length + 64));
  if (!(bytes instanceof Uint8Array)) return undefined;
  const head = NAME.exec(name)?.[1];
  return head === undefined ? textOfBytes(bytes) : head + toBase64(bytes);
}

function gonePart(gone: FilePart): GonePart {
  const name = gone.filename === undefined ? gone.mediaType : `"${gone.filename}" (${gone.mediaType})`;
  return { type: 'text', text: `[The file ${name} is lost.]`, gone };
}

/** The URL by which a message refers to bytes. */
export function blobUrl(hash: string): string {
  return `contextree-blob:${hash}`;
}

/** The name of some bytes: their SHA-256, as 64 hexadecimal digits. */
export async function hashOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const { subtle } = crypto as { subtle?: SubtleCrypto };
  const digest = subtle
    ? new Uint8Array(await subtle.digest('SHA-256', bytes))
    : (await import('../sha256.ts')).sha256(bytes);
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

// --- Parts ----------------------------------------------------------------------------------------------------------

/** URLs of so many characters and more are kept apart: from here on a record of their own costs little to read. */
const HEAVY = 4096;

type Part = UIMessage['parts'][number];
type FilePart = Extract<Part, { readonly type: 'file' }>;

/** A text in the place of a file whose bytes are gone, and what it stands for. */
type GonePart = Extract<Part, { readonly type: 'text' }> & { readonly gone: Part };

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

/** `contextree-blob:HASH?base64=HEAD`: the head of a URL before its bytes; `?url=`: the bytes are the URL itself. */
const NAME = /^contextree-blob:[0-9a-f]{64}\?(?:base64=(.*)|url=)$/s;

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
