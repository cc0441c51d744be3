import { Branches, type Way } from '../../src/graph/branches.ts';
import {
  chainOf,
  hasWords,
  lastRev,
  shownVersion,
  type ChatDelta,
  type ChatValue,
  type EndsRecord,
  type Mark,
  type MessageRecord,
  type Version,
} from '../../src/graph/graph.ts';
import { createChat, join, recordsOf } from '../../src/graph/join.ts';
import { markId, marksOfKind, recordOf } from '../../src/graph/marks.ts';
import { told } from './records.ts';
import type {
  DeletedBranch,
  NamedBranch,
  Random,
  Replica,
  SimulatedTab,
  Words,
  World,
} from './simulation.ts';

/** What is right, in one place each: a planted bug puts another one there. */
export interface Rules {
  readonly join: (into: ChatValue, from: ChatDelta) => void;
  readonly branches: (chat: ChatValue) => readonly Way[];
  /** Records of deleted chats are left out. */
  readonly living: (delta: ChatDelta, dead: ReadonlySet<string>) => ChatDelta;
  /** What is written when the database is another one than was read. */
  readonly afterLoss: (has: ChatValue, waiting: ChatValue) => ChatDelta;
}

export const RULES: Rules = {
  join: (into, from) => void join(into, from),
  branches: (chat) => new Branches(chat).live,
  living: (delta, dead) => {
    const isAlive = ({ chat }: { readonly chat: string }): boolean => !dead.has(chat);
    return {
      messages: delta.messages.filter(isAlive),
      ends: delta.ends.filter(isAlive),
      marks: delta.marks.filter(isAlive),
    };
  },
  afterLoss: (has) => recordsOf(has),
};

interface Device {
  chat: ChatValue;
  dead: Set<string>;
  id: number;
  generation: number;
  readonly skew: number;
}

/** A world of plain records: a database is a chat, a page is one with what waits to be written. */
export function plainWorld(random: Random, rules: Rules = RULES): World {
  return new PlainWorld(random, rules);
}

class PlainWorld implements World {
  readonly deviceCount: number;
  readonly devices: Device[];
  readonly tabs = new Set<PlainTab>();
  readonly random: Random;
  readonly rules: Rules;
  /** The chat of each message that was ever said. */
  readonly chatOf = new Map<string, string>();
  readonly everDead = new Set<string>();
  now = 1_000_000;
  made = 0;
  isCalm = false;

  constructor(random: Random, rules: Rules) {
    this.random = random;
    this.rules = rules;
    this.deviceCount = 1 + Math.floor(random() * 2);
    this.devices = Array.from({ length: this.deviceCount }, () => ({
      chat: createChat(),
      dead: new Set<string>(),
      id: this.made++,
      generation: 0,
      skew: Math.floor((random() - 0.5) * 7200),
    }));
  }

  open(device: number, like?: SimulatedTab): PlainTab {
    const tab = new PlainTab(this, this.devices[device] as Device, like as PlainTab | undefined);
    this.tabs.add(tab);
    return tab;
  }

  pass(ms: number): void {
    this.now += ms;
  }

  loseDatabase(device: number): void {
    const one = this.devices[device] as Device;
    Object.assign(one, { chat: createChat(), dead: new Set(), id: this.made++, generation: 0 });
  }

  clear(device: number): void {
    const one = this.devices[device] as Device;
    this.delete(one, chatsOf(one.chat));
    one.generation += 1;
  }

  delete(device: Device, chats: Iterable<string>): void {
    for (const chat of chats) {
      device.dead.add(chat);
      this.everDead.add(chat);
    }
    device.chat = this.living(device.chat, device.dead);
  }

  meet(a: number, b: number): void {
    const [one, other] = [this.devices[a] as Device, this.devices[b] as Device];
    for (const [from, to] of [
      [one, other],
      [other, one],
    ] as const) {
      for (const chat of from.dead) to.dead.add(chat);
      this.rules.join(to.chat, recordsOf(from.chat));
      to.chat = this.living(to.chat, to.dead);
    }
  }

  settle(): void {
    this.isCalm = true;
    // What anybody deleted is told to all.
    for (const device of this.devices) for (const chat of this.everDead) device.dead.add(chat);
    for (let round = 0; round < 4; round += 1) {
      for (const tab of this.tabs) {
        tab.write();
        tab.read();
      }
      for (let i = 1; i < this.deviceCount; i += 1) this.meet(0, i);
    }
  }

  replicas(): Replica[] {
    const chats = [...this.devices, ...this.tabs].map(({ chat }) => chat);
    return chats.map((chat) => this.#replica(chat));
  }

  isDeleted(key: string): boolean {
    return this.everDead.has(this.chatOf.get(key) ?? '');
  }

  living(chat: ChatValue, dead: ReadonlySet<string>): ChatValue {
    const all = recordsOf(chat);
    const left = this.rules.living(all, dead);
    const isSame =
      left.messages.length + left.ends.length + left.marks.length ===
      all.messages.length + all.ends.length + all.marks.length;
    if (isSame) return chat;
    const next = createChat();
    this.rules.join(next, left);
    return next;
  }

  /** As a page reads it: not all words at once. */
  read(chat: ChatValue): ChatDelta {
    const { messages, ...rest } = recordsOf(chat);
    const bare = ({ body: _body, ...version }: Version): Version => version;
    const some = (version: Version): Version =>
      !this.isCalm && this.random() < 0.4 ? bare(version) : version;
    return {
      ...rest,
      messages: messages.map((record) => ({ ...record, versions: record.versions.map(some) })),
    };
  }

  #replica(chat: ChatValue): Replica {
    const words = [...chat.messages.values()].flatMap(({ key, versions }) =>
      versions.filter(({ body }) => body).map(({ sum }): Words => ({ key, text: sum })),
    );
    const branches = this.rules
      .branches(chat)
      .map(({ id, record, name, head, end }) => ({ id, record, name, head, keys: chainOf(chat, end) }));
    // Who has read which words is no matter of agreement; what is shown is.
    const bare = (record: MessageRecord): MessageRecord => ({
      ...record,
      versions: record.versions.map(({ body: _body, ...version }) => version),
    });
    const { messages, ...rest } = recordsOf(chat);
    const plain = createChat({ ...rest, messages: messages.map(bare) });
    return {
      words,
      branches,
      told: told(plain) + JSON.stringify(branches.map(({ keys: _keys, ...branch }) => branch)),
    };
  }
}

/** The chat keys that are known to a chat. */
function chatsOf({ messages, ends, marks }: ChatValue): Set<string> {
  const all = [...messages.values(), ...ends.values(), ...marks.values()];
  return new Set(all.map(({ chat }) => chat));
}

class PlainTab implements SimulatedTab {
  chat = createChat();
  #waiting = createChat();
  #database: number;
  #generation: number;
  #dead: Set<string>;
  #shown: { readonly record: string; readonly key: string | null } | undefined;
  #news: Words[] = [];
  readonly #author: string;
  readonly #device: Device;
  readonly #world: PlainWorld;

  constructor(world: PlainWorld, device: Device, like?: PlainTab) {
    this.#world = world;
    this.#device = device;
    this.#author = like ? like.#author : `tab${world.made++}`;
    this.#database = like ? like.#database : device.id;
    this.#generation = like ? like.#generation : device.generation;
    this.#dead = new Set(device.dead);
    if (like) this.#shown = like.#shown;
    this.#join(this.chat, like ? recordsOf(like.chat) : world.read(device.chat));
    if (like) this.#join(this.#waiting, recordsOf(like.#waiting));
    this.#look();
  }

  ask(): void {
    const record = this.#shown?.record ?? `record${this.#world.made++}`;
    const question = this.#message(this.#shown?.key ?? null, this.#text('q'));
    this.#join(this.chat, { messages: [question], ends: [], marks: [] });
    const answer = this.#message(question.key, this.#random() < 0.3 ? '' : this.#text('a'));
    this.#shown = { record, key: answer.key };
    this.#commit([question, answer], this.#ends(record, answer));
  }

  answerLate(): void {
    const silent = [...this.chat.messages.values()].find((record) => !hasWords(shownVersion(record)));
    if (!silent) return;
    const text = this.#random() < 0.5 ? this.#text('late') : '';
    const version = this.#version(lastRev(silent) + 1, text);
    this.#commit([{ ...silent, versions: [text === '' ? { ...version, gone: true } : version] }]);
  }

  fork(): void {
    const at = this.#pick(chainOf(this.chat, this.#shown?.key ?? null));
    if (at === undefined) return;
    const message = this.#message(at, this.#text('e'));
    this.#shown = { record: `record${this.#world.made++}`, key: message.key };
    this.#commit([message], this.#ends(this.#shown.record, message));
  }

  rewrite(): void {
    const key = this.#pick(chainOf(this.chat, this.#shown?.key ?? null));
    const record = this.chat.messages.get(key ?? '');
    if (!record || !hasWords(shownVersion(record))) return;
    // Two who go on with one answer may well say the same.
    const text = this.#random() < 0.5 ? `${shownVersion(record).sum}+` : this.#text('w');
    this.#commit([{ ...record, versions: [this.#version(lastRev(record) + 1, text)] }]);
  }

  deleteBranch(): DeletedBranch | undefined {
    const ways = this.#branches();
    const way = ways.length > 1 ? this.#pick(ways) : undefined;
    if (!way) return undefined;
    const { record, head } = way;
    this.#mark(markId.deletion(record, head), { on: true, at: this.#tick() }, record);
    return { record, head, keys: chainOf(this.chat, head) };
  }

  restoreBranch(): string | undefined {
    const mark = this.#pick(marksOfKind(this.chat, 'deletion'));
    if (!mark) return undefined;
    const value = { ...(mark.value as object), on: false };
    this.#commit([], [], [{ ...mark, rev: mark.rev + 1, by: this.#author, value }]);
    return recordOf(mark.id);
  }

  nameBranch(name: string): NamedBranch | undefined {
    const way = this.#pick(this.#branches().filter(({ end }) => end !== null));
    if (!way) return undefined;
    this.#mark(markId.name(way.record, way.end), { name, isOwn: true }, way.record);
    return { name, end: way.end as string };
  }

  switchBranch(): void {
    const way = this.#pick(this.#branches());
    if (way) this.#shown = { record: way.record, key: way.head };
  }

  importSource(): void {
    const chat = this.#chatAt(null);
    const messages = [0, 1, 2].map((i): MessageRecord => {
      const version = { ...this.#version(1, `import${i}`), by: 'source' };
      const [key, parent] = [`key:${chat}:${i}`, i === 0 ? null : `key:${chat}:${i - 1}`];
      const [at, sameFor] = [1000 + i, { role: 'user', createdAt: 1000 + i, chat }];
      this.#world.chatOf.set(key, chat);
      return { key, id: key, parent, at, ...sameFor, versions: [version] };
    });
    const ends = { id: `${chat}:import`, at: 1000, createdAt: 1000, chat, keys: [`key:${chat}:2`] };
    this.#commit(messages, [ends]);
  }

  deleteChat(): void {
    const chats = chatsOf(this.chat);
    this.#world.delete(this.#device, chats);
    this.#hear(chats);
  }

  write(): void {
    const device = this.#device;
    // Cleared on purpose, and not by the browser: what this page knows is deleted with it.
    if (this.#database === device.id && this.#generation !== device.generation) {
      this.#world.delete(device, chatsOf(this.chat));
      this.#generation = device.generation;
    }
    if (this.#database !== device.id) {
      this.#join(this.#waiting, this.#world.rules.afterLoss(this.chat, this.#waiting));
      for (const chat of this.#dead) device.dead.add(chat);
      [this.#database, this.#generation] = [device.id, device.generation];
    }
    this.#hear(device.dead);
    const isCalm = this.#world.isCalm;
    if (!isCalm && this.#random() < 0.1) return; // The disk is full.
    for (const piece of this.#pieces()) {
      this.#world.rules.join(device.chat, piece);
      device.chat = this.#world.living(device.chat, device.dead);
      if (!isCalm && this.#random() < 0.05) return;
    }
    if (!isCalm && this.#random() < 0.1) return; // The answer got lost.
    for (const { key, versions } of this.#waiting.messages.values())
      for (const { body, sum } of versions) if (body) this.#news.push({ key, text: sum });
    this.#waiting = createChat();
    this.read();
  }

  read(): void {
    if (this.#database !== this.#device.id || this.#generation !== this.#device.generation) return;
    this.#hear(this.#device.dead);
    this.#join(this.chat, this.#world.read(this.#device.chat));
    this.#look();
  }

  close(): void {
    this.#world.tabs.delete(this);
  }

  acknowledged(): readonly Words[] {
    return this.#news.splice(0);
  }

  #branches(): readonly Way[] {
    return this.#world.rules.branches(this.chat);
  }

  /** Keeps showing the branch that holds the message it saw last. */
  #look(): void {
    const ways = this.#branches();
    const { record, key } = this.#shown ?? { record: undefined, key: null };
    const way =
      ways.find(({ head }) => key !== null && chainOf(this.chat, head).includes(key)) ??
      ways.find((one) => one.record === record) ??
      ways[0];
    this.#shown = way && { record: way.record, key: way.head };
  }

  #hear(dead: Iterable<string>): void {
    for (const chat of dead) this.#dead.add(chat);
    this.chat = this.#world.living(this.chat, this.#dead);
    this.#waiting = this.#world.living(this.#waiting, this.#dead);
    this.#look();
  }

  #commit(
    messages: readonly MessageRecord[],
    ends: readonly EndsRecord[] = [],
    marks: readonly Mark[] = [],
  ): void {
    const delta = { messages, ends, marks };
    this.#join(this.chat, delta);
    this.#join(this.#waiting, delta);
    this.write();
  }

  #join(into: ChatValue, delta: ChatDelta): void {
    this.#world.rules.join(into, delta);
  }

  /** What waits, in two pieces; ends of the first one are cut back to what is in it. */
  #pieces(): ChatDelta[] {
    const { messages, ends, marks } = recordsOf(this.#waiting);
    const half = Math.floor(this.#random() * (messages.length + 1));
    const first = messages.slice(0, half);
    const late = new Set(messages.slice(half).map(({ key }) => key));
    const cut = ends.map((record) => {
      const keys = record.keys.flatMap(
        (key) => chainOf(this.chat, key).findLast((one) => !late.has(one)) ?? [],
      );
      return { ...record, keys };
    });
    return [
      { messages: first, ends: cut.filter(({ keys }) => keys.length > 0), marks: [] },
      { messages: messages.slice(half), ends, marks },
    ];
  }

  #message(parent: string | null, text: string): MessageRecord {
    const key = `key:${this.#world.made++}`;
    const [at, chat] = [this.#tick(), this.#chatAt(parent)];
    this.#world.chatOf.set(key, chat);
    return {
      key,
      id: key,
      parent,
      role: 'user',
      at,
      createdAt: at,
      chat,
      versions: [this.#version(1, text)],
    };
  }

  #version(rev: number, text: string): Version {
    const said = { rev, by: this.#author, status: 'complete', sum: text, parts: 1, preview: text } as const;
    return text === '' ? said : { ...said, body: { id: '', role: 'user', parts: [] } };
  }

  #ends(id: string, { key, at, chat }: MessageRecord): EndsRecord[] {
    const known = this.chat.ends.get(id);
    return [
      { id, at: known?.at ?? at, createdAt: known?.createdAt ?? at, chat: known?.chat ?? chat, keys: [key] },
    ];
  }

  #mark(id: string, value: unknown, record: string): void {
    const chat = this.chat.ends.get(record)?.chat ?? this.#chatAt(null);
    this.#commit([], [], [{ id, rev: this.chat.lastRev + 1, by: this.#author, chat, value }]);
  }

  /** A child has its parent's chat; a first message the oldest that is known. */
  #chatAt(parent: string | null): string {
    const above = this.chat.messages.get(parent ?? '')?.chat;
    return above ?? [...chatsOf(this.chat)].toSorted()[0] ?? `chat${this.#world.made++}`;
  }

  #tick(): number {
    return Math.max(this.#world.now + this.#device.skew, this.chat.lastAt + 1);
  }

  #text(kind: string): string {
    return `${kind}${this.#world.made++}`;
  }

  #random(): number {
    return this.#world.random();
  }

  #pick<T>(all: readonly T[]): T | undefined {
    return all[Math.floor(this.#random() * all.length)];
  }
}
