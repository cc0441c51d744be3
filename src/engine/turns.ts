import type { UIMessage } from 'ai';
import { busy, ContextError } from '../errors.ts';
import { sameContent } from '../graph/same.ts';
import { stripReminders } from '../reminded.ts';
import { createId } from '../fragment/id.ts';
import { normaliseMessage } from '../fragment/message.ts';
import {
  hasWords,
  holds,
  shownVersion,
  type Mark,
  type MessageRecord,
  type MessageStatus,
} from '../graph/graph.ts';
import { markId } from '../graph/marks.ts';
import { withCall, type CallFacts } from './calls.ts';
import { expectIds, expectStatus, type AskOptions } from './options.ts';
import { stopDrafts, type Stream } from './streams.ts';
import { messageNotFound, type Handle } from './handles.ts';
import type { TurnDelta, Writer } from './writer.ts';

/**
 * Turns: a question, the answer that is reserved for it, and that answer's words.
 *
 * Question and reserved answer are one delta. From then on this page holds the answer's lock; its words are drafts, and its end
 * is a version. Whatever other tabs do at the same time, each writes messages of its own.
 */
export class Turns {
  /** The answers that are about to grow again. */
  readonly #beginning: Set<string> = new Set();
  readonly #writer: Writer;

  constructor(writer: Writer) {
    this.#writer = writer;
  }

  async ask(turn: readonly UIMessage[], options: AskOptions): Promise<string> {
    if (turn.length === 0 && options.parentId === undefined)
      throw new ContextError('invalid-messages', 'ask() needs at least one message.');
    expectIds(options);
    const start = performance.now();
    const { streams, view } = this.#writer;
    const { key = `key:${createId()}`, id = createId(), answer } = options;
    // Only one tab at a time may begin a new answer to a saved question.
    const mayBeAgain = answer === undefined && turn.every((one) => view.find(one.id) !== undefined);
    const isSole = options.isSole === true || mayBeAgain;
    const ask = async (): Promise<Stream> => {
      try {
        const asked = await this.#writer.inTurn(() => this.#ask(turn, options, { key, id, answer }, isSole));
        await asked.saved;
        return asked.stream;
      } catch (error) {
        streams.end(key);
        throw error;
      }
    };
    const stream = await (isSole ? streams.alone(ask) : ask());
    this.#tell('start', key, 'streaming', stream, start);
    return id;
  }

  async #ask(turn: readonly UIMessage[], options: AskOptions, answer: Reserved, isSole: boolean) {
    const { desk, streams, view } = this.#writer;
    const { key } = answer;
    await this.#writer.recover();
    const branch = view.branchToWrite(options.branch);
    const isShown = branch.id === view.active.id || branch.isGone;
    if (isSole) await this.#writer.others.pull();
    let place: Place | undefined = await this.#placeOf(turn, branch, options.parentId);
    if (isSole && place.fresh.length === 0) this.#refuseBeside(place.under);
    const { isFork } = place;
    const handle = isFork ? (options.forkId ?? createId()) : branch.id;
    const stream = await streams.begin(key, handle);
    const show = (): void => {
      view.use(handle, key);
      if (isShown) view.show(handle);
    };
    const plan = async (): Promise<TurnDelta> => {
      // What was said at the end of a branch follows what another tab has said there meanwhile.
      const made = place ?? (await this.#placeOf(turn, branch, isFork ? options.parentId : undefined));
      place = undefined;
      return { ...this.#records(made, branch, handle, answer), show };
    };
    const { saved } = await this.#writer.commitTurn(plan);
    if (isShown) await this.#writer.show();
    if (isFork) desk.emit({ type: 'branch', action: 'create', name: view.nameOf(handle), id: handle });
    return { stream, saved };
  }

  /** The place of a turn: which of its messages are new, and which message they follow. */
  async #placeOf(
    turn: readonly UIMessage[],
    branch: Handle,
    parentId: string | null | undefined,
  ): Promise<Place> {
    const { view } = this.#writer;
    const head = view.headOf(branch);
    const known = turn.map(({ id }) => view.find(id, branch));
    await view.loadBodies(known.flatMap((record) => record?.key ?? []));
    const isGiven = parentId !== undefined && parentId !== null;
    const asked = isGiven ? view.message(parentId, branch).key : parentId;
    let under = asked === undefined ? this.#parentOf(turn[0], known[0], branch) : asked;
    const fresh: UIMessage[] = [];
    let isVersion = false;
    for (const [i, message] of turn.entries()) {
      const record = known[i];
      if (record && fresh.length === 0 && record.parent === under && this.#says(record, message))
        under = record.key;
      else {
        isVersion ||= record !== undefined;
        fresh.push(record ? stripReminders(message) : message);
      }
    }
    const at = fresh.findLastIndex(({ role }) => role === 'user');
    const [message, between] = [fresh[at], fresh.slice(0, Math.max(0, at))];
    if (message) fresh[at] = await this.#writer.folded({ message, after: under, between, isVersion });
    const isDetached = branch.id === view.active.id && view.at !== null;
    return { under, fresh, isFork: under !== head || isDetached };
  }

  #says({ key }: MessageRecord, message: UIMessage): boolean {
    return sameContent(this.#writer.replica.body(key), message);
  }

  /**
   * The message that a turn follows: the parent of the known message with its id, to be asked again or in other words, or else
   * the head of its branch. Other content under an id of another conversation is a new message: apps may number their messages.
   */
  #parentOf(message: UIMessage | undefined, known: MessageRecord | undefined, branch: Handle): string | null {
    const { replica, view } = this.#writer;
    if (!message || !known) return view.headOf(branch);
    const isOfBranch = known.parent === null || holds(replica.chat, branch.key, known.parent);
    return isOfBranch || this.#says(known, message) ? known.parent : view.headOf(branch);
  }

  #records(place: Place, branch: Handle, handle: string, { key, id, answer }: Reserved): TurnDelta {
    const { under, fresh, isFork } = place;
    const { replica } = this.#writer;
    const { chat, marks } = this.#writer.chatOf(under);
    const messages: MessageRecord[] = [];
    let parent = under;
    for (const message of fresh) {
      const made = replica.message(message, { parent, chat }, 'complete');
      messages.push(made);
      parent = made.key;
    }
    const body = normaliseMessage({ ...(answer ?? { parts: [] }), id, role: 'assistant' });
    messages.push(replica.message(body, { parent, chat }, 'streaming', { key }));
    const record = isFork ? undefined : branch.record;
    if (record !== undefined)
      return { branch, messages, marks, ends: this.#writer.longer(record, key, chat).ends };
    const base = this.#writer.forkBase(under, fresh[0]?.role ?? 'assistant', branch);
    const made = this.#writer.newBranch(key, chat, base, handle);
    return { branch: undefined, messages, ends: made.ends, marks: [...marks, ...made.marks] };
  }

  /** Refuses a second answer to a question that another tab answers, and to continue an answer behind which one grows. */
  #refuseBeside(question: string | null, answer?: string): void {
    const { replica, streams } = this.#writer;
    const foreign = replica.foreign();
    const isBeside = (key: string): boolean => replica.record(key)?.parent === question;
    const isBehind = (key: string): boolean => answer !== undefined && holds(replica.chat, key, answer);
    const other = foreign.find(isBeside) ?? [...foreign, ...streams.keys()].find(isBehind);
    if (other !== undefined) throw busy(replica.idOf(other));
  }

  /** See the engine's `updateMessage()`. */
  async updateMessage(
    idOrKey: string,
    change: UIMessage | ((saved: UIMessage) => UIMessage),
    status: MessageStatus | undefined,
    call?: CallFacts,
  ): Promise<void> {
    const { replica, streams, view } = this.#writer;
    // An answer that grows here comes before any other message of its id.
    const growing = streams.keys().find((one) => one === idOrKey || replica.idOf(one) === idOrKey);
    const record = replica.record(growing) ?? view.message(idOrKey);
    const { key } = record;
    const stream = streams.get(key);
    if (typeof change === 'function') return this.#rewrite(key, change, status);
    const isGrowing = stream !== undefined && shownVersion(record).status === 'streaming';
    if (isGrowing && status === 'streaming') return streams.draft(key, change, stream);
    if (isGrowing && status === undefined) return this.#keepWords(key, change, stream);
    await this.#settle(key, change, status, call);
  }

  /** Saves words of a growing answer as a durable draft; if the disk refuses, they are written with its end. */
  async #keepWords(key: string, words: UIMessage, stream: Stream): Promise<void> {
    const start = performance.now();
    const { streams } = this.#writer;
    const isKept = await this.#writer.inTurn(async () => {
      if (streams.get(key) !== stream) return false;
      await streams.keep(key, words, stream);
      return true;
    });
    // The answer ended while this call waited.
    if (!isKept) return this.#settle(key, words, undefined);
    this.#writer.publish();
    this.#tell('draft', key, 'streaming', stream, start);
  }

  /** Changes saved words, one tab after the other, so that the results of two tools are both kept. */
  async #rewrite(key: string, change: (saved: UIMessage) => UIMessage, status: MessageStatus | undefined) {
    const { replica, streams, view } = this.#writer;
    const stream = streams.get(key);
    const rewrite = async (): Promise<void> => {
      if (!stream) await this.#writer.others.pull();
      if (replica.isForeign(key)) throw busy(replica.idOf(key));
      await view.loadBodies([key]);
      const id = replica.idOf(this.#still(key).key);
      const saved = replica.body(key) ?? { id, role: 'assistant' as const, parts: [] };
      const words = normaliseMessage({ ...change(saved), id });
      const isGrowing = stream !== undefined && status === undefined;
      await (isGrowing ? this.#keepWords(key, words, stream) : this.#settle(key, words, status));
    };
    if (status !== 'streaming') return stream ? rewrite() : streams.alone(rewrite);
    // Another chat of this page lets the answer grow, or is about to.
    if (stream || this.#beginning.has(key)) throw busy(replica.idOf(key));
    this.#beginning.add(key);
    await streams.alone(rewrite).finally(() => this.#beginning.delete(key));
  }

  /** A message that was known before a wait; throws if its chat was deleted meanwhile. */
  #still(key: string): MessageRecord {
    const record = this.#writer.replica.record(key);
    if (!record) throw messageNotFound(key);
    return record;
  }

  async #settle(key: string, words: UIMessage, status: MessageStatus | undefined, call?: CallFacts) {
    const start = performance.now();
    const before = this.#writer.replica.status(this.#still(key));
    const write = () => this.#write(key, words, status, call);
    const { stream, next, phase, written } = await this.#writer.inTurn(write);
    await written.saved;
    if (phase === 'start') await this.#giveWay(key, words, before);
    this.#tell(phase, key, next, stream, start);
  }

  /** Undoes a continuation if another tab asked behind the answer first: the answer stays as it was. */
  async #giveWay(key: string, words: UIMessage, before: MessageStatus): Promise<void> {
    const { replica } = this.#writer;
    await this.#writer.others.pull();
    const other = replica.foreign().find((one) => one !== key && holds(replica.chat, one, key));
    if (other === undefined) return;
    const { written } = await this.#writer.inTurn(() => this.#write(key, words, before));
    await written.saved;
    throw busy(replica.idOf(other));
  }

  async #write(key: string, given: UIMessage, status: MessageStatus | undefined, call?: CallFacts) {
    const { replica, streams, view } = this.#writer;
    const id = replica.idOf(key);
    const before = replica.status(this.#still(key));
    const isOwn = streams.get(key) !== undefined;
    const next = nextStatus(id, before, isOwn, status);
    if (before === 'streaming' && !isOwn) throw busy(id);
    const isBegun = next === 'streaming' && !isOwn;
    if (isBegun) {
      await this.#writer.others.pull();
      this.#refuseBeside(this.#still(key).parent, key);
      if (replica.isForeign(key)) throw busy(id);
    }
    await this.#writer.recover();
    const branchId = view.lastUsedWith(key)?.id ?? view.active.id;
    const stream = isBegun ? await streams.begin(key, branchId) : streams.get(key);
    if (stream) stopDrafts(stream, given);
    await stream?.draft;
    const record = this.#still(key);
    // An end without words keeps the drafted ones.
    const isEnd = next !== 'streaming' && isOwn;
    const words = isEnd && given.parts.length === 0 ? (replica.body(key) ?? given) : given;
    const isSilent = isEnd && words.parts.length === 0 && !hasWords(shownVersion(record));
    const made = isSilent ? replica.takenBack(record) : replica.revised(record, words, next);
    if (next !== 'streaming') replica.own.delete(key);
    const marks: Mark[] = [];
    if (call && isEnd && !isSilent) {
      const id = markId.calls(key);
      const calls = withCall(replica.chat.marks.get(id)?.value, call, words);
      marks.push(replica.mark(id, calls, record.chat));
    }
    const written = this.#writer.commit({ messages: [made], marks });
    if (next === 'streaming') replica.grow(key, words);
    else streams.end(key, written.saved);
    await view.load();
    this.#writer.publish();
    const phase: Phase = next !== 'streaming' ? 'end' : before === 'streaming' ? 'draft' : 'start';
    return { stream, next, phase, written };
  }

  #tell(phase: Phase, key: string, status: MessageStatus, stream: Stream | undefined, start: number): void {
    const { desk, replica, view } = this.#writer;
    const branch = view.nameOf(stream?.branchId);
    desk.emit({ type: 'stream', phase, branch, id: replica.idOf(key) ?? key, status }, start);
  }
}

type Phase = 'start' | 'draft' | 'end';

interface Place {
  /** The message that the turn follows. */
  readonly under: string | null;
  /** Its messages that are not saved yet. */
  readonly fresh: readonly UIMessage[];
  /** Whether it makes a branch. */
  readonly isFork: boolean;
}

/** The answer that is reserved for a turn, and what it begins with. */
interface Reserved {
  readonly key: string;
  readonly id: string;
  readonly answer: UIMessage | undefined;
}

/** The status after an update: a settled message keeps its status, or streams again; only a streaming one ends. */
function nextStatus(id: string, before: MessageStatus, isOwn: boolean, given?: MessageStatus): MessageStatus {
  const status = given ?? (isOwn ? 'streaming' : before);
  expectStatus(status);
  if (status === before || status === 'streaming' || before === 'streaming' || isOwn) return status;
  const message = `Message "${id}" is ${before}, and can't become ${status} without streaming.`;
  throw new ContextError('invalid-options', message, { details: { id, before, status } });
}
