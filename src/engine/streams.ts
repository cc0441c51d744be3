import type { UIMessage } from 'ai';
import { busy } from '../errors.ts';
import { createId } from '../fragment/id.ts';
import { shownVersion } from '../graph/graph.ts';
import type { DraftOptions } from '../store/store.ts';
import { onLeaving } from './leaving.ts';
import type { Writer } from './writer.ts';

/** The pause between two drafts of one answer, in ms. */
const DISK_INTERVAL = 500;

/** The beginning of the lock's name by which a tab asks to be alone. */
const ALONE = 'alone turn ';

/** How long one tab waits for another that is alone, in ms. */
const PATIENCE = 3000;

/** An answer that this engine streams. */
export interface Stream {
  /** The handle of its branch. */
  readonly branchId: string;
  timer: ReturnType<typeof setTimeout> | undefined;
  /** The newest words, while they are not on the disk. */
  latest: UIMessage | undefined;
  /** The draft that is being written. */
  draft: Promise<unknown> | undefined;
  release: () => void;
}

/**
 * The answers that this engine is writing.
 *
 * The first words are drafted at once, because they make the answer visible; later ones at most twice a second; only the end of
 * a turn is durable. While an answer streams, the page holds its lock, so that other tabs know that the page lives. When the
 * page may be about to go, the newest words are written in its last task.
 */
export class Streams {
  readonly #writer: Writer;
  readonly #streams: Map<string, Stream> = new Map();
  #stopListening: (() => void) | undefined;
  /** Whether the page may be gone before the next task. */
  #isLeaving = false;

  constructor(writer: Writer) {
    this.#writer = writer;
  }

  get(key: string): Stream | undefined {
    return this.#streams.get(key);
  }

  keys(): string[] {
    return [...this.#streams.keys()];
  }

  /** Takes an answer's lock. Without the lock other tabs may take the answer for interrupted; nothing is lost by that. */
  async begin(key: string, branchId: string): Promise<Stream> {
    const stream: Stream = { branchId, timer: undefined, latest: undefined, draft: undefined, release() {} };
    this.#streams.set(key, stream);
    this.#writer.replica.own.add(key);
    this.#stopListening ??= onLeaving(() => this.#leave());
    stream.release = await this.#writer.desk.store.hold(this.#writer.desk.chatId, key).catch(() => () => {});
    return stream;
  }

  /** Ends an answer. Its lock is held until `saved` resolves, so that no other tab takes the answer for dead before. */
  end(key: string, saved: Promise<unknown> = Promise.resolve()): void {
    const stream = this.#streams.get(key);
    if (!stream) return;
    stopDrafts(stream);
    this.#streams.delete(key);
    this.#writer.replica.own.delete(key);
    if (this.#streams.size === 0) {
      this.#stopListening?.();
      this.#stopListening = undefined;
    }
    void saved.catch(() => {}).then(() => stream.release());
  }

  /**
   * Runs a task while no other tab does: tabs answer a saved question again, continue an answer, and answer its tool calls one
   * after another. Locks of the store exclude nobody, so each tab takes one that says that it wants in, and among those who see
   * each other the lesser name goes first.
   *
   * @throws busy after {@link PATIENCE}
   */
  async alone<T>(task: () => Promise<T>): Promise<T> {
    const release = await this.#claim();
    try {
      return await task();
    } finally {
      release();
    }
  }

  /** Keeps other tabs out until the result is called. */
  async #claim(): Promise<() => void> {
    const { store, chatId } = this.#writer.desk;
    const own = ALONE + createId();
    const until = Date.now() + PATIENCE;
    for (;;) {
      const release = await store.hold(chatId, own).catch(() => () => {});
      for (;;) {
        const held = await store.held(chatId).catch(() => new Set<string>());
        const others = [...held].filter((name) => name.startsWith(ALONE) && name !== own);
        if (others.length === 0) return release;
        if (Date.now() >= until) {
          release();
          throw busy();
        }
        if (others.some((name) => name < own)) break;
        await pause();
      }
      release();
      await pause();
    }
  }

  /** Drafts the newest words of an answer: the first ones at once, later ones after a pause. */
  draft(key: string, message: UIMessage, stream: Stream): void {
    const record = this.#writer.replica.record(key);
    const isSilent = record !== undefined && this.#writer.replica.parts(record) === 0;
    const isFirst = isSilent && message.parts.length > 0;
    stream.latest = message;
    if (this.#isLeaving) void this.#keep(key, stream, message, { isLeaving: true });
    else if (isFirst) this.#write(key, stream);
    else stream.timer ??= setTimeout(() => this.#write(key, stream), DISK_INTERVAL);
  }

  #write(key: string, stream: Stream): void {
    const message = stream.latest;
    clearTimeout(stream.timer);
    stream.timer = undefined;
    if (!message || this.#streams.get(key) !== stream) return;
    this.#grow(key, message);
    stream.draft = this.#keep(key, stream, message);
  }

  /** Shows a draft, before it is stored. */
  #grow(key: string, message: UIMessage): void {
    const { chains, desk, replica, view } = this.#writer;
    replica.grow(key, message);
    chains.cut(key);
    this.#writer.publish();
    const branch = view.nameOf(this.get(key)?.branchId);
    const id = replica.idOf(key) ?? key;
    desk.emit({ type: 'stream', phase: 'draft', branch, id, status: 'streaming' });
  }

  /** Drafts words durably, if the disk does not refuse. */
  async keep(key: string, message: UIMessage, stream: Stream): Promise<void> {
    stopDrafts(stream, message);
    this.#grow(key, message);
    await this.#keep(key, stream, message, { isDurable: true });
  }

  /**
   * Writes the words that are not on the disk, nor on their way there, and, for the rest of this task, those that chats pass in
   * while the page goes.
   */
  #leave(): void {
    this.#isLeaving = true;
    setTimeout(() => {
      this.#isLeaving = false;
    });
    for (const [key, stream] of this.#streams)
      if (stream.latest) void this.#keep(key, stream, stream.latest, { isLeaving: true });
  }

  /** Writes a draft. If the disk refuses, nothing is lost, because the turn's end is written durably. */
  async #keep(key: string, stream: Stream, message: UIMessage, options?: DraftOptions): Promise<void> {
    const { desk, replica } = this.#writer;
    const record = replica.record(key);
    if (!record) return;
    const { rev, by } = shownVersion(record);
    const { seq } = record;
    const draft = { key, rev, by, message, ...(seq === undefined ? {} : { seq }) };
    const write = desk.store.saveDraft(desk.chatId, draft, options);
    const isWritten = await write.then(() => true).catch(() => false);
    if (isWritten && stream.latest === message) stream.latest = undefined;
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 10));
}

/** Stops drafts of a stream, because its words are being written durably. */
export function stopDrafts(stream: Stream, words?: UIMessage): void {
  clearTimeout(stream.timer);
  stream.timer = undefined;
  stream.latest = words;
}
