import { hashOf } from '../blobs.ts';
import { escapeName, webLocks } from './locks.ts';

/**
 * Where journals lie: files of the site's own (OPFS), which are not the files of IndexedDB.
 *
 *     contextree/ DATABASE / ID OF THE DATABASE / position.json
 *                                               / CHAT / 00000007-0-base
 *                                               / CHAT / 00000008-0
 *                                               / CHAT / blob-SHA256
 *                                               / values / KEY
 *
 * Names of databases, chats and values can be anything, so folders go by their hashes. A database that was wiped comes back with
 * another id: the journal of the old one is left alone, and that it is there says that something was lost.
 *
 * A browser writes such a file beside the old one and swaps them at the end, so a kill leaves the one or the other. It
 * copies what was there before, so files stay small; a new one begins when the last is large enough.
 */
const ROOT = 'contextree';

/** Whether this browser lets a page write files of its own. */
export function isWritable(): boolean {
  return (
    place() !== undefined &&
    typeof FileSystemFileHandle === 'function' &&
    'createWritable' in FileSystemFileHandle.prototype
  );
}

function place(): StorageManager | undefined {
  const storage =
    typeof navigator === 'undefined' ? undefined : (navigator as { storage?: StorageManager }).storage;
  return storage && 'getDirectory' in storage ? storage : undefined;
}

/** Does something to the journals of a database while no other tab does. */
export async function alone<T>(database: string, work: () => Promise<T>): Promise<T> {
  const locks = webLocks();
  return locks ? locks.request(`contextree:${escapeName(database)}:journal`, work) : work();
}

/** The folder with the journals of a database. */
export async function openFolder(database: string): Promise<FileSystemDirectoryHandle> {
  const root = await (place() as StorageManager).getDirectory();
  const all = await root.getDirectoryHandle(ROOT, { create: true });
  return all.getDirectoryHandle(await hashOfText(database), { create: true });
}

/** Deletes all journals of a database, if there are any. Rejects if there are and they can't be deleted. */
export async function removeJournals(database: string): Promise<void> {
  const root = await place()
    ?.getDirectory()
    .catch(() => undefined);
  const all = root && (await unlessMissing(root.getDirectoryHandle(ROOT)));
  if (!root || !all) return;
  const name = await hashOfText(database);
  await alone(database, () => unlessMissing(all.removeEntry(name, { recursive: true })));
  // Another tab may clear at the same moment, and have taken the folder away.
  if (((await unlessMissing(namesIn(all))) ?? []).length === 0)
    await root.removeEntry(ROOT).catch(() => undefined);
}

/** A result; undefined where the file or folder is not there. */
export async function unlessMissing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if ((error as DOMException).name === 'NotFoundError') return undefined;
    throw error;
  }
}

/** The names of what is in a folder, in order. */
export async function namesIn(folder: FileSystemDirectoryHandle): Promise<string[]> {
  const names: string[] = [];
  for await (const name of folder.keys()) names.push(name);
  return names.toSorted();
}

/** Whether this is what Chromium has begun to write beside a file: after a kill it stays, for all to see. */
export function isHalf(name: string): boolean {
  return name.endsWith('.crswap');
}

/** The file with this name; undefined where there is none. */
export async function findFile(folder: FileSystemDirectoryHandle, name: string): Promise<File | undefined> {
  return (await unlessMissing(folder.getFileHandle(name)))?.getFile();
}

/** Writes a file anew, or at its end: whole or not at all. */
export async function writeFile(
  folder: FileSystemDirectoryHandle,
  name: string,
  content: string | Uint8Array<ArrayBuffer>,
  isMore = false,
): Promise<void> {
  const handle = await folder.getFileHandle(name, { create: true });
  const end = isMore ? (await handle.getFile()).size : 0;
  const file = await handle.createWritable({ keepExistingData: isMore });
  try {
    if (isMore) await file.seek(end);
    await file.write(content);
    await file.close();
  } catch (error) {
    await file.abort().catch(() => undefined);
    throw error;
  }
}

/** Bytes of all files in a folder and in those within it. */
export async function sizeOf(folder: FileSystemDirectoryHandle): Promise<number> {
  let bytes = 0;
  for await (const entry of folder.values())
    bytes += entry.kind === 'file' ? (await entry.getFile()).size : await sizeOf(entry);
  return bytes;
}

/** A name that any text can have: its SHA-256. One with half a character in it has no bytes, and is escaped first. */
export function hashOfText(text: string): Promise<string> {
  return hashOf(new TextEncoder().encode(/\p{Surrogate}/u.test(text) ? escapeName(text) : text));
}
