import type { UIMessage } from 'ai';
import { ofChat, only } from './layout.ts';
import type { Rows } from './rows.ts';

/**
 * Bytes that messages refer to.
 *
 * A picture in a message is a megabyte of text in a list of lines: each read of the list brings it along, each branch
 * that edits the message writes it again. So bytes lie apart, under the hash of their content. The same picture in ten
 * messages is one record, a hash that was heard of can be trusted to mean the same bytes everywhere, and writing twice
 * is writing once.
 *
 * A message refers to bytes by a URL, anywhere in it: {@link blobUrl}. Nobody counts references, because counts go
 * wrong. What is kept is which chats refer to which bytes, written with the message, in its transaction. A chat never
 * loses a message that has been said, nor an earlier version of it, before it goes as a whole; and when it goes, in the
 * same transaction, the bytes go that no other chat refers to. Bytes are written before the message that refers to
 * them, and it may never come: then they go after a day.
 */
export function blobUrl(hash: string): string {
  return SCHEME + hash;
}

const SCHEME = 'contextree-blob:';

/** How long bytes wait for a message that refers to them, ms. */
const PATIENCE = 24 * 60 * 60 * 1000;

/** The name of some bytes: their SHA-256, as 64 hexadecimal digits. */
export async function hashOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const { subtle } = crypto as { subtle?: SubtleCrypto };
  const digest = subtle
    ? new Uint8Array(await subtle.digest('SHA-256', bytes))
    : (await import('./sha256.ts')).sha256(bytes);
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** The hash in a URL of ours, whatever stands behind it. */
export function hashIn(url: string): string {
  return url.slice(SCHEME.length, SCHEME.length + 64);
}

/** The hashes that a message refers to. */
export function blobsOf(message: UIMessage): string[] {
  const hashes: string[] = [];
  const open: unknown[] = [message];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value === 'string' && value.startsWith(SCHEME)) hashes.push(hashIn(value));
    else if (Array.isArray(value)) for (const one of value) open.push(one);
    else if (typeof value === 'object' && value !== null)
      for (const name in value) open.push((value as Readonly<Record<string, unknown>>)[name]);
  }
  return hashes;
}

/** Keeps bytes under their hash, for a day at least. */
export async function putBlob(rows: Rows, hash: string, bytes: Uint8Array, now: number): Promise<void> {
  const known = await rows.get('blobs', hash);
  if (!known) rows.put('blobs', { hash, bytes });
  rows.put('fresh', { hash, until: now + PATIENCE });
}

/** Notes that a chat refers to some bytes. */
export function referToBlob(rows: Rows, chatId: string, hash: string): void {
  rows.put('uses', { chatId, hash });
  rows.delete('fresh', only(hash));
}

/** Forgets what a chat referred to but for those that it `keeps`, and the bytes that nobody refers to any more. */
export async function releaseBlobs(rows: Rows, chatId: string, keeps: ReadonlySet<string>): Promise<void> {
  const uses = await rows.list('uses', ofChat(chatId));
  for (const { hash } of uses.filter((use) => !keeps.has(use.hash))) {
    rows.delete('uses', only([chatId, hash]));
    const [users, fresh] = await Promise.all([
      rows.list('uses', only(hash), 'hash', 1),
      rows.get('fresh', hash),
    ]);
    if (users.length === 0 && !fresh) rows.delete('blobs', only(hash));
  }
}

/** Forgets bytes that no message has come to refer to in time. */
export async function sweepBlobs(rows: Rows, now: number): Promise<void> {
  const fresh = await rows.list('fresh');
  for (const { hash } of fresh.filter(({ until }) => until <= now)) {
    const users = await rows.list('uses', only(hash), 'hash', 1);
    if (users.length === 0) rows.delete('blobs', only(hash));
    rows.delete('fresh', only(hash));
  }
}
