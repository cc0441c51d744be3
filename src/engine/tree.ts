import type { UIMessage } from 'ai';
import { ContextError, readFrom, reasonOf } from '../errors.ts';
import { stripReminders } from '../reminded.ts';
import { createId } from '../fragment/id.ts';
import { normaliseMessage } from '../fragment/message.ts';
import { lastWithWords, type Way } from '../graph/branches.ts';
import { holds, type EndsRecord, type Mark, type MessageRecord } from '../graph/graph.ts';
import {
  markId,
  subjectOf,
  type Checkpoint,
  type CheckpointValue,
  type DeletionValue,
  type NameValue,
} from '../graph/marks.ts';
import { expectOption, type Pending } from './desk.ts';
import { expectName, type AddOptions, type MessageContent } from './options.ts';
import type { BranchInfo, CheckpointInfo } from './state.ts';
import { History, type Operation } from './history.ts';
import type { LocalRecords } from '../store/store.ts';
import { messageNotFound, type Handle } from './handles.ts';
import type { Writer } from './writer.ts';

/**
 * A person's operations on branches and checkpoints. Each is a mark or two, and an entry of the operation log with the marks'
 * values before, so that it can be undone. None moves or removes a message.
 */
export class Tree {
  readonly #writer: Writer;
  readonly history: History;

  /** `local` is what an earlier run kept of the operation log. */
  constructor(writer: Writer, local: LocalRecords | undefined) {
    this.#writer = writer;
    this.history = new History(writer, local);
  }

  /** Makes a branch or messages in turn, shows that, and tells of a new branch; resolves when it is saved. */
  async #make<T extends Made>(make: () => Promise<T>): Promise<T> {
    const { desk, view } = this.#writer;
    const start = performance.now();
    const made = await this.#writer.inTurn(async () => {
      await this.#writer.recover();
      const made = await make();
      await this.#writer.show();
      return made;
    });
    const { id, isNew, saved } = made;
    if (isNew) desk.emit({ type: 'branch', action: 'create', name: view.nameOf(id), id }, start);
    await saved;
    return made;
  }

  rewind(pending: readonly Pending[], idOrKey: string): Promise<BranchInfo> {
    return this.#branchAt('rewind', () => this.#writer.view.message(idOrKey), pending);
  }

  restore(pending: readonly Pending[], name: string): Promise<BranchInfo> {
    const find = (): MessageRecord => this.#writer.view.message(this.#checkpoint(name).key);
    return this.#branchAt('restore', find, pending, name);
  }

  btw(): Promise<BranchInfo> {
    return this.#branchAt('btw', () => {
      const { replica, view } = this.#writer;
      const head = replica.record(view.settledAt(view.head()));
      if (head) return head;
      throw new ContextError('empty-branch', 'Cannot create btw branch: no messages in conversation');
    });
  }

  /** A branch that ends at a message: an existing empty one, or a new one. It is shown if pending messages are `leaving`. */
  async #branchAt(
    kind: 'rewind' | 'restore' | 'btw',
    find: () => MessageRecord,
    leaving?: readonly Pending[],
    checkpoint?: string,
  ): Promise<BranchInfo> {
    const { desk, view } = this.#writer;
    const { info } = await this.#make(async () => {
      const { key, chat } = find();
      const from = view.active;
      const empty = this.#emptyAt(key, leaving ? undefined : from.id);
      const id = empty?.id ?? createId();
      const made = empty ? undefined : this.#writer.newBranch(key, chat, view.nameOf(from.id), id);
      const undo = made ? [{ id: markId.deletion(made.record, key), chat, value: { on: true } }] : [];
      const show = (): void => {
        if (!leaving) return;
        desk.drop(leaving);
        view.show(id);
      };
      const isSwitch = leaving !== undefined && id !== from.id;
      const add = (): LocalRecords =>
        this.history.add({
          kind,
          label: checkpoint ?? view.nameOf(id),
          shown: [from.key, view.active.key],
          isSwitch,
          undo,
        });
      const delta = made && { ends: made.ends, marks: made.marks };
      const { saved } = this.#writer.commit({ ...delta, show, local: made || isSwitch ? add : undefined });
      return { id, info: view.infoOf(view.handle(id) as Handle), isNew: made !== undefined, saved };
    });
    return info;
  }

  /** A branch without messages of its own that ends at this message, if another branch holds it. */
  #emptyAt(key: string, not: string | undefined): Handle | undefined {
    const { replica, view } = this.#writer;
    return view.live.find((handle) => {
      if (handle.id === not || handle.way?.end !== key || handle.way.isNamed) return false;
      const ends = replica.chat.ends.get(handle.way.record);
      return (
        handle.way.fork === null &&
        ends?.keys.length === 1 &&
        ends.at > (replica.record(key) as MessageRecord).at &&
        view.live.some((other) => other !== handle && holds(replica.chat, other.way?.end ?? null, key))
      );
    });
  }

  /** Shows another branch, up to its head or to a message. The pending messages that are `leaving` are dropped. */
  async #show(
    find: () => { readonly branch: Handle; readonly at: string | null },
    leaving: readonly Pending[] = [],
  ): Promise<void> {
    const { desk, view } = this.#writer;
    const start = performance.now();
    const switched = await this.#writer.inTurn(async () => {
      const { branch, at } = find();
      const from = view.active.id;
      const name = view.nameOf(from);
      // Bodies may be missing because the chat was deleted meanwhile.
      if (!(await view.foresee(branch, at))) await this.#writer.others.pull();
      desk.drop(leaving);
      view.show(branch.id, at);
      const written = from === branch.id ? undefined : this.#writer.commit({});
      await view.load();
      this.#writer.publish();
      return { from: name, to: view.nameOf(branch.id), written };
    });
    const { from, to, written } = switched;
    await written?.saved;
    if (written) desk.emit({ type: 'switch', from, to }, start);
  }

  switchBranch(pending: readonly Pending[], nameOrId: string): Promise<void> {
    const { view } = this.#writer;
    return this.#show(() => ({ branch: view.findBranch(nameOrId), at: null }), pending);
  }

  checkout(idOrKey: string): Promise<void> {
    const { view } = this.#writer;
    return this.#show(() => {
      const { key } = view.message(idOrKey);
      const ending = view.lastUsed().find((handle) => handle.key === key);
      const branch = ending ?? view.lastUsedWith(key) ?? view.active;
      return { branch, at: branch.key === key ? null : key };
    });
  }

  selectSibling(idOrKey: string): Promise<void> {
    const { view } = this.#writer;
    return this.#show(() => {
      const branch = view.lastUsedWith(view.message(idOrKey).key);
      if (!branch) throw messageNotFound(idOrKey);
      return { branch, at: null };
    });
  }

  async edit(idOrKey: string, content: MessageContent): Promise<string> {
    const { replica, view } = this.#writer;
    const { messageId } = await this.#make(async () => {
      const record = view.message(idOrKey);
      const own = typeof content === 'string' ? { parts: [{ type: 'text', text: content }] } : content;
      const messageId = replica.idOf(record.key);
      const plain = stripReminders(normaliseMessage({ ...own, id: messageId, role: record.role }));
      const asked = { message: plain, after: record.parent, between: [], isVersion: true };
      const message = record.role === 'user' ? await this.#writer.folded(asked) : plain;
      const { parent, chat, role } = record;
      const made = replica.message(message, { parent, chat }, 'complete');
      const base = this.#writer.forkBase(parent, role, view.active);
      const id = createId();
      const { ends, marks } = this.#writer.newBranch(made.key, chat, base, id);
      const { saved } = this.#writer.commit({ messages: [made], ends, marks, show: () => view.show(id) });
      return { id, messageId, isNew: true, saved };
    });
    return messageId;
  }

  async add(
    given: readonly UIMessage[],
    { parentId, branch: named, sources }: AddOptions,
  ): Promise<BranchInfo> {
    const messages = readFrom('The messages', () => given.map((one) => normaliseMessage(one)));
    expectOption(messages.length > 0, 'messages', 'a list with messages', given);
    const { replica, view } = this.#writer;
    const { id } = await this.#make(async () => {
      const parent = parentId === null ? null : view.message(parentId).key;
      const keys = sources?.map((id) => view.message(id).key);
      const known = named === undefined ? undefined : view.findBranch(named);
      if (known && known.key !== parent) {
        const name = view.nameOf(known.id);
        const text = `Branch "${name}" does not end at "${parentId}". Leave \`branch\` out for one of its own.`;
        throw new ContextError('invalid-options', text, { details: { branch: name, parentId } });
      }
      const { chat, marks } = this.#writer.chatOf(parent);
      const made: MessageRecord[] = [];
      for (const message of messages) {
        const place = { parent: made.at(-1)?.key ?? parent, chat };
        const more = keys && made.length === 0 ? { sources: keys } : {};
        made.push(replica.message(message, place, 'complete', more));
      }
      const end = made.at(-1)?.key as string;
      const base = this.#writer.forkBase(parent, made[0]?.role ?? '', view.active);
      const record = known?.record;
      const id = known?.id ?? (base === undefined ? view.active.id : createId());
      const isNew = record === undefined;
      const branch = isNew
        ? this.#writer.newBranch(end, chat, base, id)
        : this.#writer.longer(record, end, chat);
      const shorter = known?.way && parent !== null ? this.#asBefore(known.way, parent, end) : undefined;
      const undo = shorter?.undo ?? [{ id: markId.deletion(branch.record, end), chat, value: { on: true } }];
      const shown = [view.active.key, end] as const;
      const add = (): LocalRecords =>
        this.history.add({
          kind: 'add',
          label: view.nameOf(id),
          shown,
          isSwitch: true,
          undo,
          marks: shorter?.marks ?? [],
        });
      const { saved } = this.#writer.commit({
        messages: made,
        ends: [...branch.ends, ...(shorter?.ends ?? [])],
        marks: [...marks, ...branch.marks, ...(shorter?.marks ?? [])],
        local: base === undefined ? undefined : add,
      });
      return { id, isNew, saved };
    });
    return view.infoOf(view.handle(id) as Handle);
  }

  /**
   * The branch that stands in for one that gained messages, up to `end`, when that is undone: it ends at `parent`, as the other
   * one did, and is deleted until then.
   */
  #asBefore({ record, at, createdAt, name, isNamed }: Way, parent: string, end: string) {
    const { replica } = this.#writer;
    const { chat } = replica.record(parent) as MessageRecord;
    const [id, now] = [createId(), replica.now()];
    const value: NameValue = { name, ...(isNamed ? { isOwn: true } : {}) };
    const named = replica.mark(markId.name(id, parent), value, chat);
    const [standIn, longer] = [markId.deletion(id, parent), markId.deletion(record, end)];
    return {
      ends: [{ id, at, createdAt, chat, keys: [parent] }],
      marks: [
        named,
        replica.mark(standIn, { on: true, at: now }, chat),
        replica.mark(longer, { on: false, at: now }, chat),
      ],
      undo: [
        { id: longer, chat, value: { on: true } },
        { id: standIn, chat, value: { on: false } },
        { id: named.id, chat, value },
      ],
    };
  }

  async renameBranch(nameOrId: string, name: string): Promise<BranchInfo> {
    const { desk, replica, view } = this.#writer;
    const to = expectName(name, 'branch');
    const { info, saved } = await this.#writer.inTurn(async () => {
      const branch = view.findBranch(nameOrId);
      const { way } = branch;
      if (view.live.some((other) => other !== branch && other.way?.name === to))
        throw nameTaken('branch', to);
      if (!way) {
        const text = `Branch "${reasonOf(nameOrId)}" has no messages to be named by.`;
        throw new ContextError('empty-branch', text);
      }
      const { chat } = replica.chat.ends.get(way.record) as EndsRecord;
      const mark = replica.mark(markId.name(way.record, way.head), { name: to, isOwn: true }, chat);
      const before = { name: way.name, ...(way.isNamed ? { isOwn: true } : {}) };
      const saved = this.#mark('rename-branch', `${way.name} → ${to}`, mark, before);
      return { info: view.infoOf(branch), saved };
    });
    await saved;
    desk.emit({ type: 'branch', action: 'rename', name: info.name, id: info.id });
    return info;
  }

  async deleteBranch(pending: readonly Pending[], nameOrId: string): Promise<void> {
    const { desk, replica, view } = this.#writer;
    const { id, name, saved } = await this.#writer.inTurn(async () => {
      const { id, way, next } = this.#toDelete(nameOrId);
      const { chat } = replica.chat.ends.get(way.record) as EndsRecord;
      const isShown = id === view.active.id;
      if (isShown) await view.foresee(next, null);
      const value: DeletionValue = { on: true, at: replica.now() };
      // A later message brings the branch back, unless it grows here.
      const key = replica.own.has(way.head ?? '') ? way.head : lastWithWords(replica.chat, way.head);
      const mark = replica.mark(markId.deletion(way.record, key), value, chat);
      const to = isShown ? next.id : undefined;
      const saved = this.#mark('delete-branch', way.name, mark, { on: false }, to, pending);
      await this.#writer.show();
      return { id, name: way.name, saved };
    });
    await saved;
    desk.emit({ type: 'branch', action: 'delete', name, id });
  }

  /** The branch to delete, and the most recently used other one, which is then shown. */
  #toDelete(nameOrId: string): { readonly id: string; readonly way: Way; readonly next: Handle } {
    const { view } = this.#writer;
    const branch = view.findBranch(nameOrId);
    const [next] = view.lastUsed().filter((other) => other !== branch);
    if (next && branch.way) return { id: branch.id, way: branch.way, next };
    const name = view.nameOf(branch.id);
    const message = `Branch "${name}" is the last one of this chat and stays.`;
    throw new ContextError('last-branch', message, { details: { branch: name } });
  }

  /** Writes a mark and logs it; `before` undoes it. Shows `to`, and drops the pending messages that are `leaving`. */
  #mark(
    kind: Operation['kind'],
    label: string,
    mark: Mark,
    before: unknown,
    to?: string,
    leaving: readonly Pending[] = [],
  ): Promise<void> {
    const { view } = this.#writer;
    const isSwitch = to !== undefined && to !== view.active.id;
    const shown = [view.active.key, view.handle(to ?? view.active.id)?.key ?? null] as const;
    const undo = [{ id: mark.id, chat: mark.chat, value: before }];
    const local = (): LocalRecords => this.history.add({ kind, label, shown, isSwitch, undo, marks: [mark] });
    const show = (): void => {
      this.#writer.desk.drop(leaving);
      if (to !== undefined) view.show(to);
    };
    return this.#writer.commit({ marks: [mark], local, show }).saved;
  }

  checkpoint(name: string, options?: { readonly at?: string }): Promise<CheckpointInfo> {
    const { at } = { ...options };
    const { replica, view } = this.#writer;
    const to = expectName(name, 'checkpoint');
    return this.#markCheckpoint('create', to, () => {
      const record = at === undefined ? replica.record(view.settledAt(view.head())) : view.message(at);
      if (!record)
        throw new ContextError('empty-branch', 'Cannot create checkpoint: no messages in conversation');
      const all = this.#writer.facts.checkpoints();
      const id = markId.checkpoint(all.find((one) => one.name === to)?.id ?? createId());
      const later = Math.max(replica.now(), ...all.map((one) => one.at + 1));
      const value = { name: to, key: record.key, createdAt: Date.now(), at: later };
      const before = replica.chat.marks.get(id)?.value ?? { ...value, isDeleted: true };
      return { label: to, before, mark: replica.mark(id, value, record.chat) };
    });
  }

  renameCheckpoint(name: string, next: string): Promise<CheckpointInfo> {
    const to = expectName(next, 'checkpoint');
    return this.#markCheckpoint('rename', to, () => {
      const known = this.#checkpoint(name);
      if (this.#writer.facts.checkpoints().some((one) => one.name === to && one.id !== known.id))
        throw nameTaken('checkpoint', to);
      return { label: `${known.name} → ${to}`, ...this.#changed(known, { name: to }) };
    });
  }

  async deleteCheckpoint(name: string): Promise<void> {
    await this.#markCheckpoint('delete', name, () => {
      const known = this.#checkpoint(name);
      return { label: known.name, ...this.#changed(known, { isDeleted: true }) };
    });
  }

  /** A live checkpoint by name or id. Throws `checkpoint-not-found`. */
  #checkpoint(nameOrId: string): Checkpoint {
    const list = this.#writer.facts.checkpoints();
    const found = list.find(({ name }) => name === nameOrId) ?? list.find(({ id }) => id === nameOrId);
    if (found) return found;
    const { chatId } = this.#writer.desk;
    const message = `Checkpoint "${reasonOf(nameOrId)}" not found in chat "${chatId}"`;
    throw new ContextError('checkpoint-not-found', message, { details: { chatId, checkpoint: nameOrId } });
  }

  #changed({ id }: Checkpoint, change: Partial<CheckpointValue>): Pick<CheckpointMark, 'before' | 'mark'> {
    const { replica } = this.#writer;
    const known = replica.chat.marks.get(markId.checkpoint(id)) as Mark;
    const value = { ...(known.value as CheckpointValue), ...change };
    return { before: known.value, mark: replica.mark(known.id, value, known.chat) };
  }

  async #markCheckpoint(action: 'create' | 'rename' | 'delete', name: string, make: () => CheckpointMark) {
    const { desk, replica } = this.#writer;
    const { mark, saved } = await this.#writer.inTurn(async () => {
      const { label, mark, before } = make();
      const kind = action === 'create' ? 'checkpoint' : (`${action}-checkpoint` as const);
      return { mark, saved: this.#mark(kind, label, mark, before) };
    });
    await saved;
    const one = { ...(mark.value as CheckpointValue), id: subjectOf(mark) };
    desk.emit({ type: 'checkpoint', action, name, messageId: replica.idOf(one.key) });
    return this.#writer.facts.checkpointInfo(one);
  }
}

/** What was made: the handle of its branch, whether that is new, and when it is saved. */
interface Made {
  readonly id: string;
  readonly isNew: boolean;
  readonly saved: Promise<void>;
}

interface CheckpointMark {
  readonly label: string;
  readonly mark: Mark;
  readonly before: unknown;
}

function nameTaken(what: string, name: string): ContextError {
  const message = `A ${what} named "${name}" exists already in this chat. Choose another name.`;
  return new ContextError('name-taken', message, { details: { name } });
}
