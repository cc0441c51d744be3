import type { UIMessage } from 'ai';
import { ContextError } from '../errors.ts';
import type { DraftOptions } from '../store/store.ts';
import type { Desk } from './desk.ts';
import type { History } from './history.ts';
import { onLeaving } from './leaving.ts';

/** The pause between two drafts of one answer, in ms. */
const DRAFT_INTERVAL = 500;

/** An answer that this engine streams. */
export interface Stream {
  /** The id that it began with: whoever writes it may know it by no other. */
  readonly givenId: string;
  /** The branch that it is on. */
  branchId: string;
  timer: ReturnType<typeof setTimeout> | undefined;
  /** The newest words, while they are not on the disk. */
  latest: UIMessage | undefined;
  /** The draft that is being written. */
  draft: Promise<unknown> | undefined;
  /** Lets go of the lock. */
  release: () => void;
}

/**
 * The answers that this engine is writing.
 *
 * Words come by the dozen a second, and a disk is no place for each. The first ones are drafted at once, because they
 * make the answer visible; later ones at most twice a second, the newest of them. Only the end of a turn is durable,
 * and that is no draft any more. While an answer streams its lock is held, so that other tabs know it is not dead.
 *
 * A page that goes takes what it has not written along. So when it may be about to go, the newest words are written at
 * once, in the one step that a page has left by then.
 */
export class Streams {
  readonly #desk: Desk;
  readonly #history: History;
  readonly #grow: (id: string, data: UIMessage) => void;
  readonly #isKept: (id: string) => boolean;
  readonly #streams: Map<string, Stream> = new Map();
  /** The locks of answers whose end no disk has taken yet. */
  readonly #lingering: Map<string, () => void> = new Map();
  #stopListening: (() => void) | undefined;
  /** Whether the page may be gone before the next task. */
  #isLeaving = false;

  constructor(
    desk: Desk,
    history: History,
    session: {
      /** Shows what a draft says. */
      readonly grow: (id: string, data: UIMessage) => void;
      /** Whether words of an answer wait for a disk that refused them. */
      readonly isKept: (id: string) => boolean;
    },
  ) {
    this.#desk = desk;
    this.#history = history;
    this.#grow = session.grow;
    this.#isKept = session.isKept;
  }

  /** The stream of an answer; undefined when this engine does not write it. */
  get(id: string): Stream | undefined {
    return this.#streams.get(id);
  }

  /** The id that an answer has by now which began with this one, as long as it grows. */
  idOf(givenId: string): string {
    return this.ids().find((id) => this.#streams.get(id)?.givenId === givenId) ?? givenId;
  }

  /** An answer that grows, or whose end waits for a disk, has another id from now on. */
  rename(from: string, to: string): void {
    const stream = this.#streams.get(from);
    if (stream) {
      this.#streams.delete(from);
      this.#streams.set(to, stream);
      stream.release = this.#holdToo(to, stream.release);
    }
    const release = this.#lingering.get(from);
    if (!release) return;
    this.#lingering.delete(from);
    this.#lingering.set(to, this.#holdToo(to, release));
  }

  /** Holds an answer under one more id; the result lets go of it under both. */
  #holdToo(id: string, release: () => void): () => void {
    const lock = this.#hold(id);
    return () => {
      release();
      void lock.then((letGo) => letGo());
    };
  }

  /** The answers being written. */
  ids(): string[] {
    return [...this.#streams.keys()];
  }

  /** The branches on which answers are being written. */
  branchIds(): string[] {
    return [...this.#streams.values()].map(({ branchId }) => branchId);
  }

  /** Whether an answer on this branch is being written. */
  isOn(branchId: string): boolean {
    return this.branchIds().includes(branchId);
  }

  /** The answers on a branch are on another one by now. */
  redirect(from: string, to: string): void {
    for (const stream of this.#streams.values()) if (stream.branchId === from) stream.branchId = to;
  }

  /** Takes an answer's lock. Rejects with `busy` where one grows here already that is known by this id. */
  async begin(id: string, branchId: string): Promise<Stream> {
    if (this.#streams.has(this.idOf(id))) throw stillWritten(id);
    const stream: Stream = {
      givenId: id,
      branchId,
      timer: undefined,
      latest: undefined,
      draft: undefined,
      release: () => {},
    };
    this.#streams.set(id, stream);
    this.#stopListening ??= onLeaving(() => this.#leave());
    stream.release = await this.#hold(id);
    return stream;
  }

  /** Without a lock other tabs may take the answer for interrupted; nothing that is written can be lost by that. */
  #hold(id: string): Promise<() => void> {
    return this.#desk.store.hold(this.#desk.chatId, id).catch(() => () => {});
  }

  /** Lets go of an answer, by whatever id it is known by now, and of drafts not yet written. */
  end(stream: Stream | undefined): void {
    const id = this.ids().find((one) => this.#streams.get(one) === stream);
    if (!stream || id === undefined) return;
    stopDrafts(stream);
    this.#streams.delete(id);
    if (this.#streams.size === 0) {
      this.#stopListening?.();
      this.#stopListening = undefined;
    }
    this.#lingering.set(id, stream.release);
    this.letGo();
  }

  /** Ends all of them, and lets go of every lock. */
  endAll(): void {
    for (const stream of this.#streams.values()) this.end(stream);
    for (const release of this.#lingering.values()) release();
    this.#lingering.clear();
  }

  /** Gives the locks back of answers that have ended for everyone: until then no other tab may take them for dead. */
  letGo(): void {
    for (const [id, release] of this.#lingering) {
      if (this.#isKept(id)) continue;
      this.#lingering.delete(id);
      release();
    }
  }

  /** Drafts the newest words of an answer: the first ones at once, later ones in a while. */
  draft(id: string, data: UIMessage, stream: Stream): void {
    const isFirst = (this.#history.graph.nodes.get(id)?.parts ?? 0) === 0 && data.parts.length > 0;
    stream.latest = data;
    if (this.#isLeaving) void this.#keep(id, stream, data, { isLeaving: true });
    else if (isFirst) this.#write(id, stream);
    else stream.timer ??= setTimeout(() => this.#write(id, stream), DRAFT_INTERVAL);
  }

  #write(id: string, stream: Stream): void {
    const data = stream.latest;
    clearTimeout(stream.timer);
    stream.timer = undefined;
    const isGrowing =
      this.#streams.get(id) === stream && this.#history.graph.nodes.get(id)?.status === 'streaming';
    if (!data || !isGrowing) return;
    this.#grow(id, data);
    stream.draft = this.#keep(id, stream, data);
  }

  /** Drafts words durably, whatever was drafted before. Resolves to false where the disk refuses, or has the answer settled. */
  async keep(id: string, data: UIMessage, stream: Stream): Promise<boolean> {
    stopDrafts(stream, data);
    this.#grow(id, data);
    return this.#keep(id, stream, data, { isDurable: true });
  }

  /**
   * Writes what is not on the disk, also what is on its way: who knows whether it will get there. And what others hand
   * in now, because they heard of it too; a page that stays goes on as before with its next task.
   */
  #leave(): void {
    this.#isLeaving = true;
    setTimeout(() => {
      this.#isLeaving = false;
    });
    for (const [id, stream] of this.#streams)
      if (stream.latest) void this.#keep(id, stream, stream.latest, { isLeaving: true });
  }

  /** A draft that is refused loses nothing: the words are here, and the turn's end is written durably. */
  async #keep(id: string, stream: Stream, data: UIMessage, options?: DraftOptions): Promise<boolean> {
    try {
      await this.#desk.store.saveDraft(this.#desk.chatId, id, data, options);
      if (stream.latest === data) stream.latest = undefined;
      return true;
    } catch {
      return false;
    }
  }
}

/** No draft of a stream is begun any more: these words are being written for good. */
export function stopDrafts(stream: Stream, words?: UIMessage): void {
  clearTimeout(stream.timer);
  stream.timer = undefined;
  stream.latest = words;
}

/** What is asked of an answer that must not grow meanwhile. */
export function stillWritten(id: string): ContextError {
  const message = 'An answer is still growing here, or in another tab. Wait for it, or stop it there.';
  return new ContextError('busy', message, { details: { id } });
}
