import type { UIMessage } from 'ai';
import { isContextError } from '../errors.ts';
import { createId } from '../fragment/id.ts';
import { childrenOf, holds, upward, type EndsRecord, type Mark, type MessageRecord } from '../graph/graph.ts';
import { markId, marksOfKind, type CheckpointValue } from '../graph/marks.ts';
import type { Pending } from './desk.ts';
import { sameContent } from '../graph/same.ts';
import type { Handle } from './handles.ts';
import type { SaveResult } from './options.ts';
import type { TurnDelta, Writer } from './writer.ts';

/** The pending messages: how `save()` writes them, and how `resolve()` shows them before. */
export class Saves {
  readonly #writer: Writer;

  constructor(writer: Writer) {
    this.#writer = writer;
  }

  /**
   * Writes these messages. Rejects where the disk refuses; they are then in the chat and in the line, and no longer pending.
   */
  async save(pending: readonly Pending[], inPlace: boolean): Promise<SaveResult> {
    const { desk, view, replica } = this.#writer;
    const start = performance.now();
    const { taken, strict, ids, branch } = await this.#writer.inTurn(async () => {
      await this.#writer.recover();
      const taken = pending.filter((one) => desk.pending.includes(one));
      const plan = async (): Promise<Placed> => this.#place(await this.#plan(taken, inPlace), taken);
      const { strict, turn } = await this.#writer.commitTurn(plan);
      await this.#writer.show();
      const { keys, made } = turn;
      const ids = keys.map((key) => replica.idOf(key));
      if (made) desk.emit({ type: 'branch', action: 'create', name: view.nameOf(made), id: made });
      return { taken, strict, ids, branch: view.nameOf(view.active.id) };
    });
    await strict.catch((error: unknown) => {
      // Messages of a deleted chat become pending again, and the next save begins the chat anew.
      if (isContextError(error, 'chat-deleted')) {
        desk.pending = [...taken, ...desk.pending];
        desk.publish();
      }
      throw error;
    });
    if (ids.length > 0) desk.emit({ type: 'save', branch, ids }, start);
    return { headMessageId: replica.idOf(view.head()) ?? undefined };
  }

  /**
   * Decides which message goes where, without writing, so that `resolve()` shows exactly what a save would do.
   *
   * A new message follows the one before it. One that is on the chain and equal is left alone: a retry never forks. One that is
   * there and differs becomes a sibling on a new branch, under the same id and a new key; later messages follow it, and the old
   * version keeps its branch and descendants. With `inPlace` it is replaced, and no branch moves. User messages get their
   * reminders last: they change no place.
   */
  async #plan(given: readonly Pending[], inPlace: boolean): Promise<SavePlan> {
    const { replica, view } = this.#writer;
    const head = view.head();
    const onChain = (id: string): MessageRecord | undefined => {
      const record = view.find(id);
      return record && holds(replica.chat, head, record.key) ? record : undefined;
    };
    let last: MessageRecord | undefined;
    const compared: string[] = [];
    for (const { isLast, message } of given) {
      const record = isLast ? (last ??= this.#lastAnswer(head)) : onChain(message.id);
      if (record) compared.push(record.key);
    }
    if (compared.length > 0) await view.loadBodies(compared);
    const answer = last && { body: replica.body(last.key), isReplaceable: this.#isReplaceable(last) };
    let run: Run = { parent: head, branch: view.at === null ? 'none' : 'new', messages: [] };
    let isFork = false;
    const runs = [run];
    const asked: (Asked & { readonly item: Item })[] = [];
    const replaced = new Map<string, Item>();
    for (const item of settledOf(given, answer)) {
      const { message, persist, overwrites } = item;
      const isAsked = message.role === 'user';
      const known = persist ? onChain(message.id) : undefined;
      if (known && !isFork) {
        if (sameContent(replica.body(known.key), message)) continue;
        if (known.role === message.role && (inPlace || overwrites)) {
          replaced.set(known.key, item);
          if (isAsked) asked.push({ item, message, after: known.parent, between: [], isVersion: true });
          continue;
        }
        isFork = true;
        runs.push((run = { parent: known.parent, branch: { fork: message.role }, messages: [] }));
      }
      const { parent: after, messages } = run;
      const count = messages.length;
      if (isAsked)
        asked.push({
          item,
          message,
          after,
          // A getter: thousands of messages may be pending, and few are asked for it.
          get between() {
            return messages.slice(0, count).map((one) => one.message);
          },
          isVersion: known !== undefined,
        });
      messages.push(item);
    }
    for (const one of asked) {
      const { item } = one;
      const ofPrompt = one === asked.at(-1) ? this.#writer.desk.prompt.list() : [];
      item.message = await this.#writer.folded(one, [item.copy, ...ofPrompt]);
    }
    return { runs, replaced };
  }

  #lastAnswer(head: string | null): MessageRecord | undefined {
    const { replica } = this.#writer;
    for (const record of upward(replica.chat, head))
      if (record.role === 'assistant' && replica.isVisible(record)) return record;
    return undefined;
  }

  /** Whether an answer is the head, and no message, branch or checkpoint refers to it. */
  #isReplaceable(record: MessageRecord): boolean {
    const { replica, view } = this.#writer;
    if (record.key !== view.active.key || view.at !== null || replica.status(record) === 'streaming')
      return false;
    if (childrenOf(replica.chat, record.key).length > 0) return false;
    const others = view.live.filter(({ id }) => id !== view.active.id);
    if (others.some(({ key, way }) => key === record.key || way?.end === record.key)) return false;
    return !marksOfKind(replica.chat, 'checkpoint').some(({ value }) => {
      const { key, isDeleted } = value as CheckpointValue;
      return key === record.key && !isDeleted;
    });
  }

  #place({ runs, replaced }: SavePlan, taken: readonly Pending[]): Placed {
    const { desk, replica, view } = this.#writer;
    const { active } = view;
    const messages: MessageRecord[] = [];
    const ends: EndsRecord[] = [];
    const begin = this.#writer.chatOf(runs[0]?.parent ?? null);
    const marks = [...begin.marks];
    let head: string | undefined;
    let made: string | undefined;
    let branch: Handle | undefined;
    for (const [key, { message }] of replaced)
      messages.push(replica.revised(replica.record(key) as MessageRecord, message, 'complete'));
    for (const run of runs) {
      let { parent } = run;
      const chat = begin.marks.length > 0 ? begin.chat : this.#writer.chatOf(parent).chat;
      for (const { message, persist } of run.messages) {
        if (!persist) continue;
        const record = replica.message(message, { parent, chat }, 'complete');
        messages.push(record);
        parent = record.key;
      }
      if (parent === run.parent || parent === null) continue;
      head = parent;
      const record = run.branch === 'none' ? active.record : undefined;
      if (record !== undefined) branch = active;
      else if (run.branch !== 'none') made = createId();
      const end =
        record === undefined
          ? this.#writer.newBranch(parent, chat, this.#baseOf(run), made ?? active.id)
          : this.#writer.longer(record, parent, chat);
      ends.push(...end.ends);
      marks.push(...end.marks);
    }
    if (desk.options.persistFragments) marks.push(...this.#fragmentMarks(begin.chat));
    if (ends.length === 0) ends.push(...this.#writer.emptyMain(begin.chat));
    const show = (): void => {
      desk.drop(taken);
      if (made) view.show(made);
      else if (head !== undefined) view.use(active.id, head);
    };
    return { branch, messages, ends, marks, show, keys: messages.map(({ key }) => key), made };
  }

  /** The name that a run's new branch is derived from; undefined for the first branch of a chat. */
  #baseOf({ branch, parent }: Run): string | undefined {
    const { active } = this.#writer.view;
    if (branch === 'none') return undefined;
    if (branch === 'new') return this.#writer.view.nameOf(active.id);
    return this.#writer.forkBase(parent, branch.fork, active);
  }

  /** The mark of the chat's fragments, if they are kept and have changed. */
  #fragmentMarks(chat: string): Mark[] {
    const { desk, replica } = this.#writer;
    const value = desk.prompt.kept((name, reason) => {
      const message = `Fragment "${name}" is not kept: ${reason}`;
      desk.emit({ type: 'error', code: 'invalid-fragment', message });
    });
    const id = markId.fragments;
    const known = replica.chat.marks.get(id)?.value ?? [];
    if (!value || JSON.stringify(value) === JSON.stringify(known)) return [];
    return [replica.mark(id, value, chat)];
  }

  /** The messages of the active branch for a model, with the pending ones. */
  async resolve(): Promise<UIMessage[]> {
    const { chains, desk, replica, view } = this.#writer;
    if (desk.pending.length === 0) return chains.messages(view.head());
    const { runs, replaced } = await this.#plan(desk.pending, false);
    const run = runs.at(-1) as Run;
    const saved = await chains.messages(run.parent);
    const fresh = await chains.sound(run.messages.map(({ message }) => message));
    const changed = new Map<UIMessage, UIMessage[]>();
    for (const [key, { message }] of replaced) {
      const before = replica.body(key);
      if (before) changed.set(before, await chains.sound([message]));
    }
    return [...saved.flatMap((message) => changed.get(message) ?? message), ...fresh];
  }
}

interface Placed extends TurnDelta {
  /** The keys of the written messages, replaced ones first. */
  readonly keys: readonly string[];
  /** The handle of the branch that is made and then shown. */
  readonly made: string | undefined;
}

/** What a save does. */
interface SavePlan {
  /** New messages; the last run is shown afterwards. */
  readonly runs: readonly Run[];
  /** New content of known messages, by key. */
  readonly replaced: ReadonlyMap<string, Item>;
}

/** New messages behind a saved one. */
interface Run {
  /** The key of the message that they follow; null for first ones. */
  readonly parent: string | null;
  /** Whether they make a branch. `fork`: it is named as a new version with this role beside the children of `parent`. */
  readonly branch: 'none' | 'new' | { readonly fork: string };
  /** In order. Those without `persist` are sent by `resolve()` only. */
  readonly messages: Item[];
}

/** A user message of a save or a model call, and its place. */
export interface Asked {
  readonly message: UIMessage;
  /** The key of the last saved message before it; null where there is none. */
  readonly after: string | null;
  /** The new messages between the two. */
  readonly between: readonly UIMessage[];
  readonly isVersion?: boolean;
}

/** A pending message whose content is known. */
interface Item extends Omit<Pending, 'message'> {
  message: UIMessage;
  /** New content of the last answer: it is replaced if nothing refers to it, rather than forked. */
  readonly overwrites: boolean;
}

/** The last answer of the chain; `isReplaceable`: nothing follows or refers to it. */
interface LastAnswer {
  readonly body: UIMessage | undefined;
  readonly isReplaceable: boolean;
}

/** The pending messages with lazy ones resolved and double ids merged: the later content wins, at the place of the first. */
function settledOf(given: readonly Pending[], answer: LastAnswer | undefined): Item[] {
  const settled: Item[] = [];
  const places = new Map<string, number>();
  for (const one of given) {
    const next = one.isLast ? withLast(one, settled.at(-1), answer) : { ...one, overwrites: false };
    const at = places.get(next.message.id) ?? settled.length;
    places.set(next.message.id, at);
    settled[at] = next;
  }
  return settled;
}

/**
 * The message that `lastAssistantMessage()` refers to: the newest pending answer, a new answer behind a pending question, or
 * the last one.
 */
function withLast(one: Pending, before: Item | undefined, answer: LastAnswer | undefined): Item {
  const { parts } = one.message;
  if (before?.message.role === 'assistant') return { ...before, message: { ...before.message, parts } };
  const body = before?.message.role === 'user' ? undefined : answer?.body;
  const message = body ? { ...body, parts } : one.message;
  return { ...one, message, overwrites: body !== undefined && answer?.isReplaceable === true };
}
