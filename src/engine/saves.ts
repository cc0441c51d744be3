import type { UIMessage } from 'ai';
import { ContextError, isContextError } from '../errors.ts';
import { isFolding } from '../fragment/fragment.ts';
import { createId } from '../fragment/id.ts';
import { holds, upward, type ChatDelta, type MessageRecord } from '../graph/graph.ts';
import { markId, marksOfKind, type CheckpointValue } from '../graph/marks.ts';
import type { Pending, PendingMessage } from './desk.ts';
import type { Handle } from './handles.ts';
import type { SaveResult } from './options.ts';
import { sameContent } from './same.ts';
import type { TurnDelta, Writer } from './writer.ts';

/** The messages that wait for `save()`: how they are written, and what `resolve()` shows of them before that. */
export class Saves {
  readonly #writer: Writer;

  constructor(writer: Writer) {
    this.#writer = writer;
  }

  /** Writes these messages; they wait no longer then. Rejects where the disk refuses: they are in the chat, and in line. */
  async save(pending: readonly Pending[], inPlace: boolean): Promise<SaveResult> {
    const { desk, view, replica } = this.#writer;
    const start = performance.now();
    const { taken, written, keys, branch } = await this.#writer.inTurn(async () => {
      await this.#writer.recover();
      const taken = pending.filter((one) => desk.pending.includes(one));
      let placed: Placed | undefined;
      const plan = async (): Promise<TurnDelta> => {
        placed = this.#place(await this.plan(taken, inPlace));
        return placed.delta;
      };
      const written = await this.#writer.commitTurn(plan, () => {
        const { head, branch } = placed as Placed;
        desk.pending = desk.pending.filter((one) => !taken.includes(one));
        if (branch) view.show(branch);
        else if (head !== undefined) view.use(view.activeId, head);
      });
      await view.load();
      desk.publish();
      const { keys, branch } = placed as unknown as Placed;
      if (branch) desk.emit({ type: 'branch', action: 'create', name: view.nameOf(branch), id: branch });
      return { taken, written, keys, branch: view.nameOf(view.activeId) };
    });
    await written.strict.catch((error: unknown) => {
      // What would go with a deleted chat waits, and begins it anew.
      if (isContextError(error, 'chat-deleted')) {
        desk.pending = [...taken, ...desk.pending];
        desk.publish();
      }
      throw error;
    });
    if (keys.length > 0) {
      const ids = keys.map((key) => replica.idOf(key));
      desk.emit({ type: 'save', branch, ids }, start);
    }
    return { headMessageId: replica.idOf(view.head()) ?? undefined };
  }

  /** What a save does, with the reminders that go with what is asked. */
  async plan(given: readonly Pending[], inPlace: boolean): Promise<SavePlan> {
    const plain = await this.#planOf(given, inPlace);
    const fragments = [...this.#writer.desk.prompt.list(), ...given.map(({ fragment }) => fragment)];
    const mayChange = fragments.some(isFolding) || plain.asked.some(({ isVersion }) => isVersion);
    if (!mayChange || plain.asked.length === 0) return plain;
    const folded = await (await this.#writer.folds()).pending(given, plain.asked);
    if (folded.every((one, i) => one === given[i])) return plain;
    return this.#planOf(folded, inPlace);
  }

  async #planOf(given: readonly Pending[], inPlace: boolean): Promise<SavePlan> {
    const pending = given.map(({ content }) => content);
    const { replica, view } = this.#writer;
    const head = view.head();
    const known = (id: string): MessageRecord | undefined => {
      const record = view.find(id);
      return record && holds(replica.chat, head, record.key) ? record : undefined;
    };
    let last: MessageRecord | undefined;
    const compared: string[] = [];
    for (const one of pending) {
      const record = one.kind === 'message' ? known(one.message.id) : (last ??= this.#lastAnswer(head));
      if (record) compared.push(record.key);
    }
    await view.loadBodies(compared);
    return planSave({
      pending,
      known,
      bodyOf: ({ key }) => replica.body(key),
      head,
      isDetached: view.at !== null,
      inPlace,
      lastAnswer: last && { record: last, isReplaceable: this.#isReplaceable(last) },
    });
  }

  #lastAnswer(head: string | null): MessageRecord | undefined {
    const { replica } = this.#writer;
    for (const record of upward(replica.chat, head))
      if (record.role === 'assistant' && replica.isVisible(record)) return record;
    return undefined;
  }

  /** Whether an answer is the head, nothing hangs on it, nobody else points at it, and nobody writes it. */
  #isReplaceable(record: MessageRecord): boolean {
    const { replica, view } = this.#writer;
    if (record.key !== view.active.key || view.at !== null || replica.status(record) === 'streaming')
      return false;
    if (replica.chat.children.has(record.key)) return false;
    const others = view.live().filter(({ id }) => id !== view.activeId);
    if (others.some(({ key, way }) => key === record.key || way?.end === record.key)) return false;
    return !marksOfKind(replica.chat, 'checkpoint').some(({ value }) => {
      const { key, isDeleted } = value as CheckpointValue;
      return key === record.key && !isDeleted;
    });
  }

  /** The records of a plan. */
  #place({ runs, replaced }: SavePlan): Placed {
    const { replica, view } = this.#writer;
    const messages: MessageRecord[] = [];
    const ends: ChatDelta['ends'][number][] = [];
    const begin = this.#writer.chatOf(null);
    const marks = [...begin.marks];
    let [head, branch]: (string | undefined)[] = [];
    let goesOn: Handle | undefined;
    for (const [key, body] of replaced)
      messages.push(replica.revised(replica.record(key) as MessageRecord, body, 'complete'));
    let at = replica.now();
    for (const run of runs) {
      let parent = run.parent;
      const chat = this.#writer.chatOf(parent).chat;
      const kept = run.messages.filter(({ persist }) => persist);
      const chatKey = begin.marks.length > 0 ? begin.chat : chat;
      for (const { message } of kept) {
        const made = replica.message(message, { parent, at, chat: chatKey }, 'complete');
        messages.push(made);
        parent = made.key;
        at += 1;
      }
      if (kept.length === 0 || parent === null) continue;
      head = parent;
      const active = view.active;
      if (run.branch === 'none' && active.record !== undefined) {
        goesOn = active;
        ends.push(this.#writer.endsAt(active.record, parent, chatKey));
      } else {
        const base =
          run.branch === 'none'
            ? undefined
            : run.branch === 'new'
              ? view.nameOf(active.id)
              : this.#writer.forkBase(run.parent, run.branch.fork, active);
        const made = this.#writer.newBranch(parent, chatKey, base);
        ends.push(...made.delta.ends);
        marks.push(...made.delta.marks);
        if (run.branch === 'none') view.begin(active, made.record);
        else view.expect((branch = createId()), made.record, parent);
      }
    }
    const keys = messages.map(({ key }) => key);
    marks.push(...this.#fragmentMarks(begin.chat));
    if (ends.length === 0) ends.push(...this.#writer.emptyMain(begin.chat));
    const delta: TurnDelta = { branch: goesOn, messages, ends, marks };
    return { delta, keys, head, branch };
  }

  /** The mark of the chat's fragments, where they are kept and changed. */
  #fragmentMarks(chat: string): ChatDelta['marks'] {
    const { desk, replica } = this.#writer;
    const value = desk.prompt.kept((name, reason) => {
      const message = `Fragment "${name}" is not kept: ${reason}`;
      desk.emit({ type: 'error', code: 'invalid-fragment', message });
    });
    const known = replica.chat.marks.get(markId.fragments())?.value ?? [];
    if (!value) return [];
    if (JSON.stringify(value) === JSON.stringify(known)) return [];
    return [replica.mark(markId.fragments(), value, chat)];
  }

  /** The messages that a model gets from the branch shown, with what is pending. */
  async resolve(): Promise<UIMessage[]> {
    const { desk, replica, view } = this.#writer;
    const pending = desk.pending;
    if (pending.length === 0) return this.#writer.chains.messages(view.head());
    const { runs, replaced } = await this.plan(pending, false);
    const run = runs.at(-1);
    if (!run) throw new ContextError('invariant', 'A plan has no run.');
    const saved = await this.#writer.chains.messages(run.parent);
    const fresh = await this.#writer.chains.sound(run.messages.map(({ message }) => message));
    if (replaced.size === 0) return [...saved, ...fresh];
    const changed = new Map<UIMessage, UIMessage | undefined>();
    for (const [key, message] of replaced) {
      const before = replica.body(key);
      if (before) changed.set(before, (await this.#writer.chains.sound([message]))[0]);
    }
    const kept = saved.flatMap((message) => (changed.has(message) ? (changed.get(message) ?? []) : message));
    return [...kept, ...fresh];
  }
}

/** The records of a save, and what is shown afterwards. */
interface Placed {
  readonly delta: TurnDelta;
  /** Keys of what was written, replaced ones first. */
  readonly keys: readonly string[];
  /** The last message written, where it stays on the branch shown. */
  readonly head: string | undefined;
  /** The handle of the branch that is made, and shown then. */
  readonly branch: string | undefined;
}

// ------------------------------------------------------------------ the plan

/**
 * Which message goes where.
 *
 * `save()` is given a handful of messages and a chain, and has to decide for each: is it new, is it a retry of something
 * that was saved already, is it another version of something older? The rules are few. What is new follows what came
 * before it. What is on the chain already and equal is left alone, so that a retry never forks. What is there and differs
 * becomes a sibling of the old version on a new branch, under the same id and a key of its own; everything after it follows
 * it there, and the old version keeps its branch and its descendants. Only `branch: false` replaces in place, and then nothing moves.
 *
 * The plan is made without writing, so `resolve()` can show exactly what a save would do.
 */

/** What a plan is made from. */
export interface SaveInput {
  readonly pending: readonly PendingMessage[];
  /** The message of this id on the chain shown. */
  readonly known: (id: string) => MessageRecord | undefined;
  /** Its words, which are loaded. */
  readonly bodyOf: (record: MessageRecord) => UIMessage | undefined;
  /** The last message shown; null where there is none. */
  readonly head: string | null;
  /** Whether that is one before the head of its branch: what is new makes a branch then. */
  readonly isDetached: boolean;
  /** With `branch: false`: what is known is replaced where it is. */
  readonly inPlace: boolean;
  /** The last answer of the chain, and whether nothing hangs on it and nobody points at it. */
  readonly lastAnswer: { readonly record: MessageRecord; readonly isReplaceable: boolean } | undefined;
}

/** What a save does. */
export interface SavePlan {
  /** New messages, in runs: each follows the one before it. The last run is what is shown afterwards. */
  readonly runs: readonly Run[];
  /** New words for known messages, by key. */
  readonly replaced: ReadonlyMap<string, UIMessage>;
  /** The user messages among the new and the replaced ones, in order. */
  readonly asked: readonly Asked[];
}

/** New messages behind a saved one. */
interface Run {
  /** The key of the message that they follow; null for first ones. */
  readonly parent: string | null;
  /** Whether they make a branch. `fork`: named as a new version with this role beside the children of `parent`. */
  readonly branch: 'none' | 'new' | { readonly fork: string };
  /** In order. Those that are not to be kept go out with `resolve()`, and are not written. */
  readonly messages: readonly { readonly message: UIMessage; readonly persist: boolean }[];
}

/** A user message that a save writes, or that goes out unsaved, and where it stands. */
export interface Asked {
  /** As it was pending. */
  readonly message: UIMessage;
  /** The key of the last saved message before it; null where it begins the chat... */
  readonly after: string | null;
  /** ...and the new ones between the two. */
  readonly between: readonly UIMessage[];
  /** Whether it is a new version of a message that is known. */
  readonly isVersion?: boolean;
}

/** Decides what a save of these messages does. Pure; writes nothing. */
export function planSave(input: SaveInput): SavePlan {
  const { known: find, bodyOf, head, isDetached, inPlace } = input;
  let run: Open = { parent: head, branch: isDetached ? 'new' : 'none', messages: [] };
  let isFork = false;
  const runs = [run];
  const asked: Asked[] = [];
  const replaced = new Map<string, UIMessage>();
  for (const { message, persist, overwrites } of settlePending(input)) {
    const isAsked = message.role === 'user';
    const known = persist ? find(message.id) : undefined;
    if (known && !isFork) {
      if (sameContent(bodyOf(known), message)) continue;
      if (known.role === message.role && (inPlace || overwrites)) {
        replaced.set(known.key, message);
        if (isAsked) asked.push({ message, after: known.parent, between: [], isVersion: true });
        continue;
      }
      isFork = true;
      runs.push((run = { parent: known.parent, branch: { fork: message.role }, messages: [] }));
    }
    if (isAsked) asked.push(askedIn(run, message, known !== undefined));
    run.messages.push({ message, persist });
  }
  return { runs, replaced, asked };
}

/** A run to which messages are added. */
interface Open extends Run {
  readonly messages: { readonly message: UIMessage; readonly persist: boolean }[];
}

function askedIn({ parent, messages }: Open, message: UIMessage, isVersion: boolean): Asked {
  const count = messages.length;
  return {
    message,
    after: parent,
    // Thousands may wait, and few are asked what stands before them.
    get between() {
      return messages.slice(0, count).map((one) => one.message);
    },
    isVersion,
  };
}

interface Settled {
  readonly message: UIMessage;
  readonly persist: boolean;
  readonly freshId: string;
  /** New words for the last answer: replace it if nothing hangs on it, rather than fork. */
  readonly overwrites: boolean;
}

/** The pending messages with lazy ones resolved and double ids merged: the later one wins, at the first one's place. */
function settlePending(input: SaveInput): Settled[] {
  const settled: Settled[] = [];
  const places = new Map<string, number>();
  for (const pending of input.pending) {
    const next =
      pending.kind === 'message' ? { ...pending, overwrites: false } : resolveLast(input, settled, pending);
    const at = places.get(next.message.id) ?? settled.length;
    places.set(next.message.id, at);
    settled[at] = next;
  }
  return settled;
}

/** What `lastAssistantMessage()` means: the newest pending answer, a new one behind a pending question, or the last one. */
function resolveLast(
  { lastAnswer, bodyOf }: SaveInput,
  settled: readonly Settled[],
  lazy: Extract<PendingMessage, { readonly kind: 'last-assistant' }>,
): Settled {
  const parts: UIMessage['parts'] = [{ type: 'text', text: lazy.text }];
  const pending = settled.at(-1);
  if (pending?.message.role === 'assistant') return { ...pending, message: { ...pending.message, parts } };
  const body = pending?.message.role === 'user' ? undefined : lastAnswer && bodyOf(lastAnswer.record);
  const { freshId, persist } = lazy;
  const message: UIMessage = body ? { ...body, parts } : { id: freshId, role: 'assistant', parts };
  return { message, persist, freshId, overwrites: body !== undefined && lastAnswer?.isReplaceable === true };
}
