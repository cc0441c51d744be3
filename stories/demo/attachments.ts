import type { FileUIPart } from 'ai';
import { inUnits } from './quantities.ts';

/** How much a message carries in files, all together, in bytes. */
export const MOST_BYTES = 10_000_000;

/** Files as parts of a message, in the order in which they were given, and why the others are none. */
interface Read {
  readonly parts: readonly FileUIPart[];
  /** One sentence per file that was left out. */
  readonly refusals: readonly string[];
}

/**
 * Reads files into parts of a message, for as long as they fit beside `carried` bytes. A file that is too large, or
 * that the system refuses to give, is left out and named. Never rejects.
 */
export async function attachmentsFrom(files: readonly File[], carried: number): Promise<Read> {
  const parts: FileUIPart[] = [];
  const refusals: string[] = [];
  let bytes = carried;
  for (const file of files) {
    if (bytes + file.size > MOST_BYTES) {
      refusals.push(tooLarge(file, bytes));
      continue;
    }
    try {
      parts.push(await asPart(file));
      bytes += file.size;
    } catch {
      refusals.push(`${file.name} could not be read. A folder can’t be attached; its files can.`);
    }
  }
  return { parts, refusals };
}

/** The bytes of a file part, of which only the data is here: 0 for one that lies elsewhere. */
export function bytesOf({ url }: Pick<FileUIPart, 'url'>): number {
  const data = /^data:[^,]*;base64,/.exec(url);
  if (data === null) return 0;
  const padding = url.endsWith('==') ? 2 : Number(url.endsWith('='));
  return ((url.length - data[0].length) * 3) / 4 - padding;
}

function tooLarge({ name, size }: File, carried: number): string {
  const most = inUnits(MOST_BYTES);
  return size > MOST_BYTES
    ? `${name} is too large (${inUnits(size)}): a message carries files of ${most} at most.`
    : `${name} (${inUnits(size)}) is too much beside the other files (${inUnits(carried)}): a message carries ${most} at most.`;
}

async function asPart(file: File): Promise<FileUIPart> {
  const mediaType = file.type || 'application/octet-stream';
  return { type: 'file', mediaType, filename: file.name, url: await dataUrl(file) };
}

function dataUrl(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => resolve(reader.result as string));
    reader.addEventListener('error', () => reject(reader.error ?? new Error(`${file.name} can't be read`)));
    reader.readAsDataURL(file);
  });
}
