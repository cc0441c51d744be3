/**
 * A note beside the database, in `localStorage`: its id, the number of its last change, and counts; no words. A database with
 * another id or a smaller number has lost something. The note may be some seconds late, never ahead. It is removed by
 * `clear()`, and lost with all data of the site.
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
  /** `browser`: Chromium told of damaged files; `marker`: the note. */
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
    const mark: unknown = JSON.parse(localStorage.getItem(keyOf(name)) ?? 'null');
    const { database, seq, chats, messages, at } = Object(mark) as Readonly<Record<string, unknown>>;
    const isOne =
      typeof database === 'string' && [seq, chats, messages, at].every((one) => typeof one === 'number');
    return isOne ? ({ database, seq, chats, messages, at } as Mark) : undefined;
  } catch {
    return undefined;
  }
}

function keyOf(name: string): string {
  return `contextree:${name}:mark`;
}

/** Writes the note about a database, or removes it. A browser that refuses keeps none. */
export function writeMark(name: string, mark: Mark | undefined): void {
  try {
    if (mark) localStorage.setItem(keyOf(name), JSON.stringify(mark));
    else localStorage.removeItem(keyOf(name));
  } catch {
    // A private window, blocked cookies, a full quota, or no window at all.
  }
}
