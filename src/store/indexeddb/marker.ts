import type { DataLoss } from '../loss.ts';
import type { Meta } from '../layout.ts';

/**
 * A note beside the database that says what was in it.
 *
 * A database that was wiped looks like one that never was. Something outside has to remember, and all databases of a site
 * share the files that get damaged, so a second database would be wiped along. `localStorage` lies elsewhere. The note
 * holds the name that the database gave itself, its last change number, and counts; not a word of any chat. A database
 * that goes by another name, or counts less far, has lost something. The note may be late by some seconds, never
 * ahead, so what it says was there.
 *
 * It goes with the last chat: nobody misses an empty database. It can't tell of what takes it along: a person who clears
 * all data of the site, or Safari, which forgets sites that were not visited for seven days.
 */
export interface Mark {
  readonly databaseId: string;
  readonly seq: number;
  readonly chats: number;
  readonly messages: number;
  /** When something was last saved, ms since epoch. */
  readonly at: number;
}

/** The note about a database; undefined where there is none, or none can be read. */
export function readMark(database: string): Mark | undefined {
  try {
    return parseMark(JSON.parse(localStorage.getItem(keyOf(database)) ?? 'null'));
  } catch {
    return undefined;
  }
}

/** Keeps the note about a database; undefined takes it away. A browser that refuses keeps none. */
export function writeMark(database: string, mark: Mark | undefined): void {
  try {
    if (mark) localStorage.setItem(keyOf(database), JSON.stringify(mark));
    else localStorage.removeItem(keyOf(database));
  } catch {
    // A private window, blocked cookies, a full quota, or no window at all.
  }
}

function keyOf(database: string): string {
  return `contextree:${database}:mark`;
}

function parseMark(value: unknown): Mark | undefined {
  const { databaseId, seq, chats, messages, at } = Object(value) as Readonly<Record<string, unknown>>;
  const numbers = [seq, chats, messages, at];
  if (typeof databaseId !== 'string' || !numbers.every((number) => typeof number === 'number'))
    return undefined;
  return { databaseId, seq, chats, messages, at } as Mark;
}

/** What a database has lost, going by its note and by what the browser said when it opened; undefined when nothing. */
export function missing(
  mark: Mark | undefined,
  meta: Meta | undefined,
  reason: string | undefined,
): DataLoss['kind'] | undefined {
  if (reason !== undefined && !meta) return 'all';
  if (!mark) return undefined;
  if (meta?.databaseId !== mark.databaseId) return 'all';
  return meta.seq < mark.seq ? 'latest' : undefined;
}
