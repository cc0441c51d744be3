import type { UIMessage, UIMessageChunk } from 'ai';
import type { ContextEngine } from '../engine/engine.ts';
import { isContextError } from '../errors.ts';
import type { MessageStatus } from '../graph/graph.ts';
import { onLeaving } from '../engine/leaving.ts';
import { hasWords } from './sendable.ts';
import type { Version } from './transport.ts';

/** How often the words of a growing answer are handed to the engine, in ms; it writes half as often as it likes. */
const DRAFT_INTERVAL = 100;

/** Where an answer is kept, and where it can be read while it grows. */
export interface TurnOptions<M extends UIMessage> {
  readonly engine: ContextEngine;
  /** The node that was reserved for the answer, or that goes on. */
  readonly id: string;
  /** The branch that it grows on. */
  readonly branchId: string;
  /** The answer that goes on, as it was saved; undefined for a new one. */
  readonly answer?: M | undefined;
  /** Whether that answer left nothing to be said: it stays complete until a word is added. Default false. */
  readonly isWhole?: boolean;
  /** Of a version that is not made yet, which answer it is made from, and where. */
  readonly version?: Pick<Version<M>, 'of' | 'forkId' | 'release'> | undefined;
  /** Makes it. */
  readonly make?: (() => Promise<unknown>) | undefined;
  /** The answer as far as it has come; undefined before its first part. */
  readonly read: () => M | undefined;
  /** Hears of each part of the answer as it is passed on, before anyone has read it. */
  readonly take?: (chunk: UIMessageChunk) => void;
  /** Waits until all that was passed on can be read. */
  readonly flush?: () => Promise<void>;
  /**
   * Told at the end, before the end is saved: the whole answer, or undefined when not a word was said and nothing is
   * saved, and whether an answer that went on is what it was.
   */
  readonly ended?: (message: M | undefined, isMute: boolean) => void;
}

/**
 * One answer, from the request to its last word.
 *
 * It belongs to a node and a branch, and to nothing that can change while it grows: whichever branch the person looks
 * at meanwhile, these words go to this node. However it ends (finished, stopped, failed, cut off), it ends once, and
 * what was said until then is saved. A store that refuses is the engine's concern; it never stops an answer.
 */
export class Turn<M extends UIMessage> {
  readonly options: TurnOptions<M>;
  #last: M | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #end: Promise<void> | undefined;
  /** Whether there is a node for what is said. */
  #isMade: boolean;
  #making: Promise<void> | undefined;
  #settle: () => void = () => {};
  /** Resolves when the end of the answer is saved, or kept in memory where the disk refuses. Never rejects. */
  readonly settled: Promise<void> = new Promise((resolve) => {
    this.#settle = resolve;
  });

  readonly #stopListening: () => void;

  constructor(options: TurnOptions<M>) {
    this.options = options;
    this.#isMade = !options.make;
    this.#stopListening = onLeaving(() => void this.#keep('streaming'));
    const { engine, id } = options;
    const here = growing.get(engine) ?? new Set();
    growing.set(engine, here.add(id));
    void this.settled.then(() => here.delete(id));
    void this.settled.then(() => options.version?.release());
  }

  /** Whether the answer still grows; no longer as soon as its end is being saved. */
  get isOpen(): boolean {
    return this.#end === undefined;
  }

  /** Whether the end is saved. */
  isSettled = false;

  /** The first word is here: the node that it goes to is made, where there is none yet. */
  begin(): Promise<void> | undefined {
    return this.#isMade ? undefined : (this.#making ??= this.#make());
  }

  async #make(): Promise<void> {
    await this.options.make?.();
    this.#isMade = true;
  }

  /** What was passed on has been read: its words are drafted soon, the first ones at once. */
  draft(): void {
    if (this.#end || this.#timer !== undefined) return;
    if (this.#last) this.#timer = setTimeout(() => void this.#keep('streaming'), DRAFT_INTERVAL);
    else void this.#keep('streaming');
  }

  /**
   * A step of the answer is done: what was said so far is saved durably; with `ahead`, what it is about to be. Resolves to
   * whether it is.
   */
  async savePoint(ahead?: M): Promise<boolean> {
    return !this.#end && this.#keep(undefined, ahead);
  }

  async #keep(status: 'streaming' | undefined, message: M | undefined = this.#read()): Promise<boolean> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!message) return false;
    try {
      await keepMessage(this.options.engine, this.options.id, message, status);
      return true;
    } catch {
      // What can't be kept now is kept at the end, or reported there.
      return false;
    }
  }

  #read(): M | undefined {
    if (!this.#isMade) return undefined;
    const message = this.options.read();
    if (message && hasWords(message)) this.#last = message;
    return this.#last;
  }

  /** The answer is over. Only the first call counts; each resolves when the end is saved. */
  end(status: 'complete' | 'interrupted', usage?: Readonly<Record<string, unknown>>): Promise<void> {
    this.#end ??= this.#store(status, usage).finally(() => {
      this.isSettled = true;
      this.#settle();
    });
    return this.#end;
  }

  async #store(status: MessageStatus, usage: Readonly<Record<string, unknown>> | undefined): Promise<void> {
    clearTimeout(this.#timer);
    this.#stopListening();
    const { engine, id, answer, isWhole, flush, ended } = this.options;
    if (flush) await flush();
    // A version whose node could not be made has failed, and whoever asked for it is told.
    await this.#making?.catch(() => {});
    const read = this.#read();
    // One that was whole without a word is so still, if it was gone on with for nothing.
    const said = read ?? (isWhole ? answer : undefined);
    const isMute = !this.#isMade || JSON.stringify(answer?.parts) === JSON.stringify(said?.parts);
    const message = read ?? (status === 'complete' ? this.#wordless() : undefined) ?? said;
    ended?.(message, isMute);
    const words = message ?? { id, role: 'assistant', parts: [] };
    const now = isMute && isWhole ? 'complete' : status;
    try {
      if (this.#isMade) await keepMessage(engine, id, words, now);
      if (usage) await engine.trackUsage(usage);
    } catch (error) {
      // The engine has reported it; the answer is on the page, and there is nobody to tell twice.
      if (isContextError(error, 'chat-deleted')) this.#keepWhenBack(words, now);
    }
  }

  /**
   * An answer that came to its end without a word, and of which something is told: what it cost, who gave it. A message
   * without parts is one that was reserved, so it has the mark of a step, which shows nothing.
   */
  #wordless(): M | undefined {
    const message = this.#isMade ? this.options.read() : undefined;
    if (message?.metadata === undefined) return undefined;
    return message.parts.length > 0 ? message : { ...message, parts: [{ type: 'step-start' }] };
  }

  /** A chat that was deleted may be brought back: then it has these words, too, and not only what was drafted. */
  #keepWhenBack(words: UIMessage, status: MessageStatus): void {
    const { engine, id } = this.options;
    const stop = engine.state.subscribe(({ status: now, error }) => {
      if (now !== 'ready' || error?.code === 'chat-deleted') return;
      stop();
      // It is written by nobody by now, and ends again.
      keepMessage(engine, id, words, 'streaming')
        .then(() => keepMessage(engine, id, words, status))
        .catch(() => {});
    });
  }
}

/** Whether an answer grows on this page, and not in another tab. */
export function growsHere(engine: ContextEngine, id: string): boolean {
  return growing.get(engine)?.has(id) === true;
}

const growing: WeakMap<ContextEngine, Set<string>> = new WeakMap();

/**
 * Hands new words to the engine. What no JSON can hold (a function in a tool's output) is left out of what is kept,
 * as it would be left out of what a model is told.
 */
export async function keepMessage(
  engine: ContextEngine,
  id: string,
  message: UIMessage | ((saved: UIMessage) => UIMessage),
  status: MessageStatus | undefined,
): Promise<void> {
  try {
    await engine.updateMessage(id, message, status);
  } catch (error) {
    if (!isContextError(error, 'invalid-messages')) throw error;
    const plain =
      typeof message === 'function' ? (saved: UIMessage) => asJson(message(saved)) : asJson(message);
    await engine.updateMessage(id, plain, status);
  }
}

/** A message as JSON has it: what can't be said in it is left out, of metadata that have no end all. */
export function asJson<M extends UIMessage>(message: M): M {
  try {
    return JSON.parse(JSON.stringify(message, withoutBigInts)) as M;
  } catch {
    const { metadata: _metadata, ...words } = message;
    return JSON.parse(JSON.stringify(words, withoutBigInts)) as M;
  }
}

function withoutBigInts(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
