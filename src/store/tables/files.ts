import type { UIMessage } from 'ai';
import { ContextError } from '../../errors.ts';
import type { Ready } from './commit.ts';
import type { Database, Rows } from './layout.ts';

/**
 * Bytes that messages refer to, under the hash of their content: the same picture in ten messages is one record, and writing it
 * twice is writing it once.
 *
 * A message refers to bytes by a URL, anywhere in it ({@link blobUrl}). Which chats refer to which bytes is written with the
 * message; when a chat is deleted, the bytes that no other chat refers to are deleted. Bytes that no message refers to are
 * deleted after a day.
 *
 * When a message is written, its files (parts with long `data:` URLs in base64) get a name in place of their bytes, which holds
 * their hash and the head of the URL; when it is read, they get them back, to the letter. A URL that the two would not make
 * again stays. So do shorter ones: in Chromium, at 16 kB, both cost the same to read; and all on a page that is not secure,
 * because browsers hash nothing there. Names are made before the transaction; the bytes are written in it.
 *
 * Lost bytes are replaced by a text that says so and remembers the file: writing the message again loses nothing, and bytes
 * that come back are found.
 */

/** The message with names for its files; adds the bytes to `files`, by hash. */
export async function detach(message: UIMessage, files: Ready['files']): Promise<UIMessage> {
  const parts = await Promise.all(message.parts.map((part) => detachPart(part, files)));
  return { ...message, parts };
}

async function detachPart(part: Part, files: Ready['files']): Promise<Part> {
  if (isGone(part)) return part.gone;
  const { url } = part as FilePart;
  if (!isFile(part) || url.length < HEAVY || !canHash()) return part;
  const [head = '', text = ''] = /^(data:[^,]*;base64,)(.*)$/s.exec(url)?.slice(1) ?? [];
  const bytes = fromBase64(text);
  if (!head || !bytes) return part;
  const hash = await hashOf(bytes);
  files.set(hash, bytes);
  return { ...part, url: `${blobUrl(hash)}?${head}` };
}

/** The messages with their files, in the same order. */
export async function attach(db: Database, messages: readonly UIMessage[]): Promise<UIMessage[]> {
  const names = new Set(
    messages.flatMap((message) => partsOf(message).filter(isNamed)).map(({ url }) => url),
  );
  const urls = await db.read(async (rows) => {
    const found = [...names].map(async (name) => [name, await readUrl(rows, name)] as const);
    return new Map(await Promise.all(found));
  });
  return messages.map((message) => {
    if (!partsOf(message).some(isNamed)) return message;
    const parts = partsOf(message).map((part) => {
      if (!isNamed(part)) return part;
      const url = urls.get(part.url);
      if (url !== undefined) return { ...part, url };
      const { filename, mediaType } = part;
      const name = filename === undefined ? mediaType : `"${filename}" (${mediaType})`;
      return { type: 'text', text: `[The file ${name} is lost.]`, gone: part } satisfies GonePart;
    });
    return { ...message, parts };
  });
}

async function readUrl(rows: Rows, name: string): Promise<string | undefined> {
  const bytes = await rows.get('blobs', name.slice(blobUrl('').length, blobUrl('').length + 64));
  if (!(bytes instanceof Uint8Array)) return undefined;
  return name.slice(blobUrl('').length + 65) + toBase64(bytes);
}

/** The URL by which messages refer to bytes. */
export function blobUrl(hash: string): string {
  return `contextree-blob:${hash}`;
}

/** The hash of some bytes: their SHA-256, as 64 hexadecimal digits. Throws `invalid-options` on a page that has none. */
export async function hashOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  if (!canHash()) {
    const message = 'Bytes are stored apart from messages on secure pages only: use https, or localhost.';
    throw new ContextError('invalid-options', message);
  }
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function canHash(): boolean {
  return (crypto as { subtle?: SubtleCrypto }).subtle !== undefined;
}

/** The length from which a URL's bytes are stored apart, in characters. */
const HEAVY = 4096;

type Part = UIMessage['parts'][number];
type FilePart = Extract<Part, { readonly type: 'file' }>;

/** A text in the place of a lost file. */
type GonePart = Extract<Part, { readonly type: 'text' }> & { readonly gone: Part };

/** A stored message may have any value for its parts. */
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

function isNamed(part: Part): part is FilePart {
  return isFile(part) && /^contextree-blob:[0-9a-f]{64}\?data:/.test(part.url);
}

/** The bytes of base64; undefined where {@link toBase64} would encode them differently. */
function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const bytes = Native.fromBase64?.(text) ?? bytesOfBinary(atob(text));
    return toBase64(bytes) === text ? bytes : undefined;
  } catch {
    return undefined;
  }
}

function bytesOfBinary(binary: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i += 1) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** How many bytes are turned into characters at once. */
const SLICE = 0x8000;

function toBase64(bytes: Uint8Array & { readonly toBase64?: () => string }): string {
  if (bytes.toBase64) return bytes.toBase64();
  const slices: string[] = [];
  for (let at = 0; at < bytes.length; at += SLICE)
    slices.push(String.fromCharCode(...bytes.subarray(at, at + SLICE)));
  return btoa(slices.join(''));
}

/** Browsers since 2025 convert base64 themselves, several times as fast. */
const Native: Uint8ArrayConstructor & { readonly fromBase64?: (text: string) => Uint8Array<ArrayBuffer> } =
  Uint8Array;
