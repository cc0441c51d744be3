/**
 * A note beside the database, in `localStorage`: the database's id, the number of its last change, and counts; no content. A
 * database with another id or a smaller number has lost data. The note may be some seconds late, never ahead. `clear()` removes
 * it, and it is lost with all data of the site.
 */
export interface DatabaseNote {
  readonly database: string;
  readonly seq: number;
  readonly chats: number;
  readonly messages: number;
  /** The time of the last save, in ms since epoch. */
  readonly at: number;
}

/** What a browser lost. */
export interface DataLoss {
  /** `all`: the database was empty, or another one; `latest`: the last changes were missing. */
  readonly kind: 'all' | 'latest';
  readonly database: string;
  /** `browser`: Chromium reported damaged files; `marker`: the note differs. */
  readonly noticedBy: 'browser' | 'marker';
  /** What the browser said about it. */
  readonly reason?: string;
  /** How many chats and messages there were, if known. */
  readonly chats?: number;
  readonly messages?: number;
  /** The time of the last save, in ms since epoch, if known. */
  readonly lastSaved?: number;
}

/** The note about a database; undefined if there is none, or it can't be read. */
export function readNote(name: string): DatabaseNote | undefined {
  try {
    const note: unknown = JSON.parse(localStorage.getItem(keyOf(name)) ?? 'null');
    const { database, seq, chats, messages, at } = Object(note) as Readonly<Record<string, unknown>>;
    const isOne =
      typeof database === 'string' && [seq, chats, messages, at].every((one) => typeof one === 'number');
    return isOne ? ({ database, seq, chats, messages, at } as DatabaseNote) : undefined;
  } catch {
    return undefined;
  }
}

function keyOf(name: string): string {
  return `contextree:${name}:mark`;
}

/** Writes or removes the note about a database; without effect where the browser refuses. */
export function writeNote(name: string, note: DatabaseNote | undefined): void {
  try {
    if (note) localStorage.setItem(keyOf(name), JSON.stringify(note));
    else localStorage.removeItem(keyOf(name));
  } catch {
    // A private window, blocked cookies, a full quota, or no window at all.
  }
}
