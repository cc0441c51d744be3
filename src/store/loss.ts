/**
 * What a browser lost, and how to get it back.
 *
 * A database can be gone from one visit to the next, without a word: its files were damaged and the browser began new
 * ones, the disk was full at the wrong moment, another script of the site deleted it. An app that then shows an empty
 * list says to the person that there never was anything. So a store that finds less than it left says so
 * (`indexeddb/marker.ts` tells how it knows), and where there is a journal (`indexeddb/journal.ts`) it can bring the
 * chats back. What was deleted through the store is no loss.
 */
export interface DataLoss {
  /** `all`: the database was empty, or another one; `latest`: the last changes were missing. */
  readonly kind: 'all' | 'latest';
  readonly database: string;
  /**
   * Who knew: the browser itself (Chromium tells of damaged files), the note that the store keeps beside the database, or
   * the journal.
   */
  readonly noticedBy: 'browser' | 'marker' | 'journal';
  /** What the browser said about it. */
  readonly reason?: string;
  /** How many chats there were, where that is known. */
  readonly chats?: number;
  /** How many messages there were, where that is known. */
  readonly messages?: number;
  /** When something was last saved, ms since epoch, where that is known. */
  readonly lastSaved?: number;
  /** Whether a journal holds what is missing. */
  readonly canRestore: boolean;
  /**
   * Puts back what the journal holds beside what was written since: the same ids, nothing overwritten that is newer. Open
   * engines and lists follow by themselves. Can be repeated. Rejects with `data-loss` where there is no journal, and with
   * `quota-exceeded` and the like when the disk refuses a chat; the others come back, and the journal of that one stays.
   */
  restore(): Promise<Restored>;
  /** Takes note that it is gone: the journal of it is deleted, and the store does not speak of it again. */
  dismiss(): Promise<void>;
}

/** What came back. */
export interface Restored {
  readonly chats: number;
  readonly messages: number;
  /** Lines and attachments in the journal that could not be read. */
  readonly damaged: number;
  /**
   * Chats that did not come back: none of their lines could be read, or another user has a chat of that id by now. Their
   * journals stay, and the loss is not settled, until it is dismissed.
   */
  readonly left: number;
}
