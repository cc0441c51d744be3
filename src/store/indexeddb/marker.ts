/**
 * A note beside the database that says which one it is.
 *
 * A database that was wiped looks like one that never was. Something outside has to remember, and all databases of a site
 * share the files that get damaged, so a second database would be wiped along. `localStorage` lies elsewhere. The note
 * holds the name that the database gave itself, its last change number, and counts; not a word of any chat. A database
 * that goes by another name, or counts less far, has lost something. The note may be late by some seconds, never
 * ahead, so what it says was there.
 *
 * It goes when all is cleared on purpose. It can't tell of what takes it along: a person who clears all data of the
 * site, or Safari, which forgets sites that were not visited for seven days.
 */
export interface Mark {
  readonly database: string;
  readonly seq: number;
  readonly chats: number;
  readonly messages: number;
  /** When something was last saved, ms since epoch. */
  readonly at: number;
}

/** What a browser lost. */
export interface DataLoss {
  /** `all`: the database was empty, or another one; `latest`: the last changes were missing. */
  readonly kind: 'all' | 'latest';
  readonly database: string;
  /** Who knew: the browser itself (Chromium tells of damaged files), or the note that the store keeps beside the database. */
  readonly noticedBy: 'browser' | 'marker';
  /** What the browser said about it. */
  readonly reason?: string;
  /** How many chats and messages there were, where that is known. */
  readonly chats?: number;
  readonly messages?: number;
  /** When something was last saved, ms since epoch, where that is known. */
  readonly lastSaved?: number;
}

/** The note about a database; undefined where there is none, or none can be read. */
export function readMark(name: string): Mark | undefined {
  try {
    return parseMark(JSON.parse(localStorage.getItem(keyOf(name)) ?? 'null'));
  } catch {
    return undefined;
  }
}

/** Where it lies in `localStorage`. */
function keyOf(name: string): string {
  return `contextree:${name}:mark`;
}

function parseMark(value: unknown): Mark | undefined {
  const { database, seq, chats, messages, at } = Object(value) as Readonly<Record<string, unknown>>;
  const isOne =
    typeof database === 'string' && [seq, chats, messages, at].every((number) => typeof number === 'number');
  return isOne ? ({ database, seq, chats, messages, at } as Mark) : undefined;
}

/** Keeps the note about a database; undefined takes it away. A browser that refuses keeps none. */
export function writeMark(name: string, mark: Mark | undefined): void {
  try {
    if (mark) localStorage.setItem(keyOf(name), JSON.stringify(mark));
    else localStorage.removeItem(keyOf(name));
  } catch {
    // A private window, blocked cookies, a full quota, or no window at all.
  }
}
