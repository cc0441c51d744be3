import { ContextEngine } from '../../src/engine/engine.ts';
import { ContextError, isContextError } from '../../src/errors.ts';
import { assistant, user } from '../../src/fragment/message.ts';
import { Branches } from '../../src/graph/branches.ts';
import { chainOf, type MessageRecord, type Version, sumOfBody, previewOf } from '../../src/graph/graph.ts';
import { createChat } from '../../src/graph/join.ts';
import { kindOf, messageOfMark, recordOf, type DeletionValue } from '../../src/graph/marks.ts';
import { IndexedDBContextStore } from '../../src/store/indexeddb/store.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
// Loads lazy code before a story begins, so that each run of a seed plays the same story.
import '../../src/engine/repair.ts';
import '../../src/engine/session.ts';
import '../../src/engine/conflict.ts';
import '../../src/engine/loss.ts';
import '../../src/engine/saves.ts';
import '../../src/engine/tree.ts';
import '../../src/store/indexeddb/connection.ts';
import '../../src/store/memoryTables.ts';
import '../../src/store/reads.ts';
import '../../src/store/tables/files.ts';
import '../../src/store/tables/pack.ts';
import '../../src/store/tables/rarely.ts';
import '../../src/store/tables/upkeep.ts';
import type {
  ChatRecords,
  CommitOptions,
  ContextStore,
  StoreDelta,
  StoreNotice,
} from '../../src/store/store.ts';
import { nextTask } from './clock.ts';
import { said, texts } from './engine.ts';
import type { DeletedBranch, NamedBranch, Random, Replica, Words } from './simulation.ts';

/**
 * A world of engines on a store.
 *
 * A device is a database: one store in memory, or two store objects on one name in IndexedDB. Each page is an engine, and
 * between it and the store is a disk of its own, which can be full, lose an answer, delay one while others act, miss a notice,
 * and die with its page. Time, random numbers and faults come from the seed.
 */
export interface EngineWorldOptions {
  readonly store: 'memory' | 'indexeddb';
  /** How an engine's writes get to its store: a planted bug replaces it. */
  readonly commit?: Commit;
}

/** Writes a delta of a page to its store. */
export type Commit = (
  store: ContextStore,
  chatId: string,
  delta: StoreDelta,
  options: CommitOptions,
) => Promise<ChatRecords>;

const COMMIT: Commit = (store, chatId, delta, options) => store.commit(chatId, delta, options);

const CHAT = 'c';
const USER = 'u';

/** Starts a world with its own time and random numbers; `close()` restores the platform's. */
export function engineWorld(random: Random, options: EngineWorldOptions): EngineWorld {
  return new EngineWorld(random, options);
}

export class EngineWorld {
  readonly deviceCount: number;
  readonly devices: Device[];
  readonly tabs = new Set<EngineTab>();
  readonly random: Random;
  readonly options: EngineWorldOptions;
  /** The chat of each message that was ever written to a disk. */
  readonly chatOf = new Map<string, string>();
  /** The first message of each id. */
  readonly keyOf = new Map<string, string>();
  /** The first parent of each id. */
  readonly parentOf = new Map<string, string | null>();
  /** Messages of deleted branches according to their marks, whatever was said in them before or after. */
  readonly givenUp = new Set<string>();
  readonly dead = new Set<string>();
  /** Branch records of which a deletion was undone: either operation may win. */
  readonly restored = new Set<string>();
  readonly marksSeen = new Set<string>();
  readonly running = new Set<Promise<unknown>>();
  /** Faults, noted as soon as they are seen. */
  readonly faults = new Set<string>();
  /** Turns that were refused because another page had continued the branch: they must not be stored anywhere. */
  readonly refused = new Set<string>();
  held: Held[] = [];
  hasLost = false;
  isCalm = false;
  made = 0;
  readonly #own: OwnRandom;
  /**
   * Whether browsers clear databases in this story; if not, people may delete chats. With both at once, a cleared database
   * forgets which chats were deleted, and open pages may restore them: the promises say so.
   */
  readonly #isForgetful: boolean;

  constructor(random: Random, options: EngineWorldOptions) {
    this.#own = new OwnRandom(random);
    this.#isForgetful = random() < 0.5;
    this.random = random;
    this.options = options;
    this.deviceCount = random() < 0.75 ? 1 : 2;
    this.devices = Array.from({ length: this.deviceCount }, () => new Device(this));
  }

  /** Opens a page on a device; a duplicate of another one, if given. */
  async open(index: number, like?: EngineTab): Promise<EngineTab> {
    const tab = new EngineTab(this, this.devices[index] as Device);
    this.tabs.add(tab);
    await tab.begin();
    const shown = like?.engine.branch;
    if (shown !== undefined) await tab.show(shown);
    return tab;
  }

  /** The clock goes on, in ms. */
  pass(ms: number): void {
    this.#own.pass(ms);
    const kept: Held[] = [];
    for (const one of this.held.splice(0))
      if (this.isCalm || this.random() < 0.5) one.letGo();
      else kept.push(one);
    this.held.unshift(...kept);
  }

  /** The browser clears a database without notice. */
  loseDatabase(index: number): void {
    if (!this.#isForgetful) return;
    (this.devices[index] as Device).renew();
    this.hasLost = true;
  }

  /** A person clears all data. */
  async clear(): Promise<void> {
    if (this.#isForgetful) return;
    for (const chat of this.chatOf.values()) this.dead.add(chat);
    for (const device of this.devices) {
      await this.#bury(device);
      await device.any().clear();
    }
  }

  /** A person deletes a chat on every device. */
  async deleteChat(): Promise<void> {
    if (this.#isForgetful) return;
    for (const device of this.devices) {
      await device.any().deleteChat(CHAT);
      // What a page wrote at this very moment may have been deleted, too.
      for (const chat of (await device.any().load(CHAT)).deleted) this.dead.add(chat);
    }
  }

  async #bury(device: Device): Promise<void> {
    const { messages, ends, marks } = await device.any().load(CHAT);
    for (const { chat } of [...messages, ...ends, ...marks]) this.dead.add(chat);
  }

  /** Two devices exchange their records. */
  async meet(a: number, b: number): Promise<void> {
    if (a === b) return;
    const [one, other] = [this.devices[a] as Device, this.devices[b] as Device];
    await carry(one.any(), other.any());
    await carry(other.any(), one.any());
  }

  /** All pages write, read and exchange, without faults, until nothing changes. */
  async settle(): Promise<void> {
    this.isCalm = true;
    await this.#quiet();
    for (const tab of this.tabs) await tab.endAnswers();
    for (const index of this.devices.keys()) await (await this.open(index)).sayLast();
    await this.#quiet();
    for (let round = 0; round < 4; round += 1) {
      for (const tab of this.tabs) await tab.look();
      for (const tab of this.tabs) await tab.write();
      for (const tab of this.tabs) await tab.giveUp();
      await this.#quiet();
      for (let i = 1; i < this.deviceCount; i += 1) await this.meet(0, i);
    }
    for (const tab of this.tabs) await tab.look();
    await this.#quiet();
    for (const tab of this.tabs) await tab.judge();
  }

  /** Waits until no work is under way: a disk takes real time. */
  async #quiet(): Promise<void> {
    for (let i = 0; i < 5000 && (i < 3 || this.running.size + this.held.length > 0); i += 1) {
      this.pass(200);
      await (i < 100 ? turnOfLoop() : this.#own.wait(1));
    }
    if (this.running.size > 0) this.faults.add('something never ends');
  }

  /** Databases and open pages. */
  async replicas(): Promise<Replica[]> {
    const stored = await Promise.all(this.devices.map((device) => this.#stored(device)));
    const pages = [...this.tabs].map((tab) => {
      const { words, ...page } = tab.replica();
      const behind = this.isCalm ? (stored[this.devices.indexOf(tab.device)]?.words ?? []) : [];
      return { ...page, words: [...words, ...behind] };
    });
    return [...stored, ...pages];
  }

  /** A database, as a newly opened engine shows it, with its records. */
  async #stored(device: Device): Promise<Replica> {
    const store = device.any();
    const records = await store.load(CHAT);
    const chat = createChat(records);
    const keys = records.messages.map(({ key }) => key);
    const words: Words[] = [...(await store.bodies(CHAT, keys))].map(([key, { message }]) => ({
      key,
      text: texts([message]),
    }));
    for (const key of keys)
      for (const { message } of await store.revisions(CHAT, key)) words.push({ key, text: texts([message]) });
    const engine = new ContextEngine({ store, chatId: CHAT, userId: USER });
    await engine.ready();
    const told = toldBy(engine);
    engine.dispose();
    return {
      words,
      told,
      branches: new Branches(chat).live.map(({ id, record, name, head, end }) => ({
        id,
        record: this.restored.has(record) ? '' : record,
        name,
        head,
        keys: chainOf(chat, end),
      })),
      faults: [
        ...this.faults,
        ...words.flatMap(({ text }) => (this.refused.has(text) ? ['a refused turn is there'] : [])),
      ],
    };
  }

  /** Whether a message belongs to a chat that was deleted. */
  isDeleted(key: string): boolean {
    return this.dead.has(this.chatOf.get(key) ?? '');
  }

  async close(): Promise<void> {
    for (const tab of this.tabs) tab.close();
    for (const device of this.devices) await device.close();
    this.#own.giveBack();
  }
}

/** Lets everything that needs no timer happen. */
async function turnOfLoop(): Promise<void> {
  for (let i = 0; i < 4; i += 1) await nextTask();
}

/** What an engine shows of a chat, as a text on which all must agree. */
function toldBy(engine: ContextEngine): string {
  const { nodes, checkpoints } = engine.graph();
  const branches = engine.state.getState().branches.map(({ name, headKey, label, ownCount }) => ({
    name,
    headKey,
    label,
    ownCount,
  }));
  const plain = nodes.map(({ key, parentKey, content }) => [key, parentKey, content, engine.status(key)]);
  return JSON.stringify({ branches, plain, checkpoints });
}

/** Copies the records of one database to another one, as a file would. */
async function carry(from: ContextStore, to: ContextStore): Promise<void> {
  const [has, there] = [await from.load(CHAT), await to.load(CHAT)];
  const bodies = await from.bodies(
    CHAT,
    has.messages.map(({ key }) => key),
  );
  const isLiving = ({ chat }: { readonly chat: string }): boolean => !there.deleted.includes(chat);
  const earlier = new Map<string, Version[]>();
  for (const { key } of has.messages)
    earlier.set(
      key,
      (await from.revisions(CHAT, key)).map(({ rev, by, status, message: body }) => {
        const { length: parts } = body.parts;
        return { rev, by, status, body, sum: sumOfBody(body), parts, preview: previewOf(body) };
      }),
    );
  const worded = (record: MessageRecord): MessageRecord => {
    const { seq: _seq, ...rest } = record;
    const body = bodies.get(record.key);
    const versions = record.versions.map((version) =>
      body && !body.isDraft && body.rev === version.rev && body.by === version.by && body.sum === version.sum
        ? { ...version, body: body.message }
        : version,
    );
    return { ...rest, versions: [...(earlier.get(record.key) ?? []), ...versions] };
  };
  const bare = <R extends { readonly seq?: number }>({ seq: _seq, ...record }: R): R =>
    record as unknown as R;
  const delta = {
    messages: has.messages.filter(isLiving).map(worded),
    ends: has.ends.filter(isLiving).map(bare),
    marks: has.marks.filter(isLiving).map(bare),
  };
  if (delta.messages.length + delta.ends.length + delta.marks.length === 0) return;
  await to.commit(CHAT, delta, { userId: USER, database: '', generation: 0, since: 0 });
}

// ------------------------------------------------------------------ time and chance

/** Time and ids from a seed, as long as a story is played. */
class OwnRandom {
  #now = 1_700_000_000_000;
  #timers = new Map<object, { readonly at: number; readonly ring: () => void }>();
  readonly #before = {
    now: Date.now,
    // oxlint-disable-next-line typescript/unbound-method -- given back as it was, never called
    randomUUID: crypto.randomUUID,
    setTimeout: globalThis.setTimeout,
    clearTimeout: globalThis.clearTimeout,
  };

  constructor(random: Random) {
    const hex = (digits: number): string =>
      Array.from({ length: digits }, () => Math.floor(random() * 16).toString(16)).join('');
    crypto.randomUUID = () => `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`;
    Date.now = () => this.#now;
    const set = (ring: (...args: unknown[]) => void, ms = 0, ...args: unknown[]): object => {
      const timer = { unref: () => timer, ref: () => timer };
      this.#timers.set(timer, { at: this.#now + ms, ring: () => ring(...args) });
      return timer;
    };
    Object.assign(globalThis, {
      setTimeout: set,
      clearTimeout: (timer: object) => this.#timers.delete(timer),
    });
  }

  pass(ms: number): void {
    this.#now += ms;
    for (const [timer, { at, ring }] of this.#timers)
      if (at <= this.#now) {
        this.#timers.delete(timer);
        ring();
      }
  }

  /** Waits for so many real ms, whatever the story's clock says. */
  wait(ms: number): Promise<void> {
    const { setTimeout } = this.#before;
    return new Promise((resolve) => void setTimeout(resolve, ms));
  }

  giveBack(): void {
    const { now, randomUUID, ...timers } = this.#before;
    Date.now = now;
    crypto.randomUUID = randomUUID;
    Object.assign(globalThis, timers);
  }
}

// ------------------------------------------------------------------ devices and disks

interface Held {
  readonly disk: Disk;
  readonly letGo: () => void;
}

/** A database, and its pages. */
class Device {
  stores: ContextStore[] = [];
  readonly holds = new Set<{ readonly key: string }>();
  readonly disks = new Set<Disk>();
  readonly #world: EngineWorld;
  readonly #names: string[] = [];
  #old: ContextStore[] = [];

  constructor(world: EngineWorld) {
    this.#world = world;
    this.renew();
  }

  /** Its first store, for reads outside of any page. */
  any(): ContextStore {
    return this.stores[0] as ContextStore;
  }

  /** Replaces the database by a new one. */
  renew(): void {
    this.#old.push(...this.stores);
    const name = `simulation${(databases += 1)}`;
    this.#names.push(name);
    this.stores =
      this.#world.options.store === 'memory'
        ? [new InMemoryContextStore()]
        : [new IndexedDBContextStore(name), new IndexedDBContextStore(name)];
    for (const [i, store] of this.stores.entries())
      store.subscribe((notice) => {
        for (const disk of this.disks) if (disk.side % this.stores.length === i) disk.hear(notice);
      });
  }

  async close(): Promise<void> {
    for (const store of [...this.#old, ...this.stores]) await store.close();
    if (this.#world.options.store === 'memory') return;
    for (const name of this.#names) await ended(indexedDB.deleteDatabase(name));
  }
}

let databases = 0;

function ended(request: IDBRequest): Promise<void> {
  return new Promise((resolve) => {
    request.onsuccess = request.onerror = () => resolve();
  });
}

/** The faults between one page and its database. */
class Disk {
  readonly side: number;
  readonly store: ContextStore;
  isDead = false;
  /** Resolves when the page is gone: nobody waits for its work. */
  readonly gone: Promise<void>;
  #go: () => void = () => {};
  readonly #world: EngineWorld;
  readonly #device: Device;
  readonly #listeners = new Set<(notice: StoreNotice) => void>();
  readonly #holds = new Set<() => void>();
  #missed: StoreNotice | undefined;
  #waiting: (() => void)[] = [];
  /** Deletions of branches that this page wrote since the last query. */
  deletions: { readonly record: string; readonly head: string | null }[] = [];

  constructor(world: EngineWorld, device: Device) {
    this.#world = world;
    this.#device = device;
    this.side = Math.floor(world.random() * 2);
    this.gone = new Promise((resolve) => (this.#go = resolve));
    device.disks.add(this);
    const own: Partial<ContextStore> = {
      load: (chatId, since) => this.#call(0.05, (store) => store.load(chatId, since)),
      bodies: (chatId, keys, records) => this.#call(0.03, (store) => store.bodies(chatId, keys, records)),
      commit: (chatId, delta, options) => this.#commit(chatId, delta, options),
      saveDraft: (chatId, draft, options) =>
        this.#call(0.1, (store) => store.saveDraft(chatId, draft, options)),
      hold: async (_chatId, key) => this.#hold(key),
      held: async () => this.#held(),
      subscribe: (listener) => {
        this.#listeners.add(listener);
        return () => void this.#listeners.delete(listener);
      },
    };
    this.store = new Proxy({} as ContextStore, {
      get: (_target, name: keyof ContextStore) => {
        if (name in own) return own[name];
        const store = this.#store();
        const value: unknown = store[name];
        return typeof value === 'function' ? (value as () => unknown).bind(store) : value;
      },
      has: (_target, name) => name in own || name in this.#store(),
    });
  }

  #store(): ContextStore {
    return this.#device.stores[this.side % this.#device.stores.length] as ContextStore;
  }

  get isHeld(): boolean {
    return this.#world.held.some(({ disk }) => disk === this);
  }

  /** Resolves when a call of this page has to wait for others to act. */
  stalled(): Promise<void> {
    return this.isHeld ? Promise.resolve() : new Promise((resolve) => this.#waiting.push(resolve));
  }

  #stall(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Delays a call now and then until others have acted. A page that is gone gets no answer. */
  async #gate(chance: number): Promise<void> {
    // No store answers within the task of the call.
    await nextTask();
    if (this.isDead) await NEVER;
    if (this.#world.isCalm || this.#world.random() >= chance) return;
    await new Promise<void>((letGo) => {
      this.#world.held.push({ disk: this, letGo });
      this.#stall();
    });
    if (this.isDead) await NEVER;
  }

  async #call<T>(chance: number, call: (store: ContextStore) => Promise<T>): Promise<T> {
    await this.#gate(chance);
    const result = await call(this.#store());
    if (this.isDead) await NEVER;
    return result;
  }

  async #commit(chatId: string, delta: StoreDelta, options: CommitOptions): Promise<ChatRecords> {
    const world = this.#world;
    this.#note(delta);
    await this.#gate(0.15);
    if (!world.isCalm && world.random() < 0.08) throw new ContextError('quota-exceeded', 'The disk is full.');
    const store = this.#store();
    const { commit = COMMIT } = world.options;
    const moved = options.expect && movedIn(options.expect, await store.load(chatId), delta);
    const records = await commit(store, chatId, delta, options).catch((error: unknown) => {
      const { generation } = ((error as ContextError).details ?? {}) as Partial<ChatRecords>;
      // All data was cleared since this page read: what it began meanwhile goes, too.
      if (isContextError(error, 'chat-deleted') && generation !== options.generation)
        for (const { chat } of [...delta.messages, ...delta.ends, ...delta.marks]) world.dead.add(chat);
      throw error;
    });
    if (moved) world.faults.add('a turn went where others were expected');
    await this.#gate(0.1);
    if (this.isDead) await NEVER;
    if (!world.isCalm && world.random() < 0.05)
      throw new ContextError('store-unavailable', 'The answer got lost.');
    return records;
  }

  #note({ messages, marks }: StoreDelta): void {
    const { chatOf, keyOf, parentOf, givenUp } = this.#world;
    for (const { key, id, chat, parent } of messages) {
      if (!keyOf.has(id)) keyOf.set(id, key);
      chatOf.set(key, chat);
      parentOf.set(key, parent);
    }
    for (const mark of marks) {
      const name = `${mark.id} ${mark.rev} ${mark.by}`;
      if (kindOf(mark) !== 'deletion' || this.#world.marksSeen.has(name)) continue;
      this.#world.marksSeen.add(name);
      const record = recordOf(mark.id) as string;
      if (!(mark.value as DeletionValue).on) {
        this.#world.restored.add(record);
        continue;
      }
      const head = messageOfMark(mark);
      this.deletions.push({ record, head });
      for (let key = head; key && !givenUp.has(key); key = parentOf.get(key) ?? null) givenUp.add(key);
    }
  }

  #hold(key: string): () => void {
    const hold = { key };
    this.#device.holds.add(hold);
    const release = (): void => {
      this.#device.holds.delete(hold);
      this.#holds.delete(release);
    };
    this.#holds.add(release);
    return release;
  }

  #held(): ReadonlySet<string> {
    const keys = [...this.#device.holds].map(({ key }) => key);
    // A page that waits for another page's lock waits for others to act.
    if (keys.filter((key) => key.startsWith('alone ')).length > 1) this.#stall();
    return new Set(keys);
  }

  hear(notice: StoreNotice): void {
    if (this.isDead) return;
    if (!this.#world.isCalm && this.#world.random() < 0.4) this.#missed = notice;
    else for (const listener of this.#listeners) listener(notice);
  }

  /** Delivers the missed notices. */
  listen(): void {
    const notice = this.#missed;
    this.#missed = undefined;
    if (notice) for (const listener of this.#listeners) listener(notice);
  }

  die(): void {
    this.isDead = true;
    this.#go();
    this.#device.disks.delete(this);
    for (const release of this.#holds) release();
    this.#world.held = this.#world.held.filter(({ disk }) => disk !== this);
  }
}

const NEVER = new Promise<never>(() => {});

/** Whether a branch ends elsewhere than expected, and not because this very delta is already stored. */
function movedIn(
  expect: Readonly<Record<string, readonly string[]>>,
  { ends, messages }: ChatRecords,
  delta: StoreDelta,
): boolean {
  const there = new Set(messages.map(({ key }) => key));
  if (delta.messages.every(({ key }) => there.has(key))) return false;
  return Object.entries(expect).some(([id, keys]) => {
    const known = ends.find((record) => record.id === id)?.keys ?? [];
    return known.length !== keys.length || !keys.every((key) => known.includes(key));
  });
}

// ------------------------------------------------------------------ pages

/** The errors that people may get; any other is a bug. */
const EXPECTED: ReadonlySet<string> = new Set([
  'branch-not-found',
  'busy',
  'chat-deleted',
  'checkpoint-not-found',
  'empty-branch',
  'head-moved',
  'last-branch',
  'message-not-found',
  'name-taken',
  'overtaken',
  'quota-exceeded',
  // A disk takes real time, and the clock of a story runs faster.
  'store-blocked',
  'store-unavailable',
  'data-loss',
]);

/** One page. Each act chooses its target among what the page shows. */
export class EngineTab {
  readonly engine: ContextEngine;
  readonly device: Device;
  readonly #disk: Disk;
  readonly #world: EngineWorld;
  /** Words that a method accepted and that are not acknowledged yet. */
  #said: Words[] = [];
  /** Keys of answers that grow here. */
  readonly #answers = new Set<string>();
  /** Keys of answers that this page continues. */
  readonly #goingOn = new Set<string>();
  readonly #policy: 'fork' | 'error' | 'rebase';

  constructor(world: EngineWorld, device: Device) {
    this.#world = world;
    this.device = device;
    this.#disk = new Disk(world, device);
    const chance = world.random();
    this.#policy = chance < 0.7 ? 'fork' : chance < 0.85 ? 'error' : 'rebase';
    this.engine = new ContextEngine({
      store: this.#disk.store,
      chatId: CHAT,
      userId: USER,
      onConflict: this.#policy,
    });
    // Waiting words are dropped with a deleted chat.
    this.engine.state.subscribe(({ error }) => {
      if (error?.code === 'chat-deleted') this.#said = [];
    });
  }

  async begin(): Promise<void> {
    await this.#act(() => this.engine.ready());
  }

  async show(branch: string): Promise<void> {
    await this.#act(() => this.engine.switchBranch(branch));
  }

  /** A question and its answer, which may stay reserved. */
  async ask(): Promise<void> {
    const [chance, text] = [this.#random(), this.#text('q')];
    if (chance < 0.3) return this.#save(this.#idOr(text), text);
    const answer = this.#text('a');
    const branch = this.#random() < 0.15 ? this.#pick(this.#branches())?.name : undefined;
    const parentId = this.#random() < 0.1 ? this.#pick(this.#chain()) : undefined;
    await this.#act(async () => {
      const asked = this.engine.ask(said(this.#idOr(text), text), {
        id: answer,
        ...(branch === undefined ? {} : { branch }),
        ...(parentId === undefined ? {} : { parentId }),
      });
      await asked.catch((error: unknown) => {
        if (isContextError(error, 'head-moved')) this.#world.refused.add(text);
        throw error;
      });
      // By now an edit may have given its id to another message.
      const key = this.#world.keyOf.get(answer);
      const question = key === undefined ? undefined : this.engine.node(key)?.parentKey;
      if (key === undefined || question === undefined) return;
      if (question !== null) this.#told(question, text);
      this.#answers.add(key);
      if (chance < 0.45) return;
      if (chance < 0.6) await this.engine.updateMessage(key, said(answer, `${answer}...`), 'streaming');
      if (chance < 0.5) return;
      await this.#end(key, answer);
    });
  }

  /** Ends an answer: complete, cut off, or without a word. */
  async #end(key: string, answer: string): Promise<void> {
    const chance = this.#random();
    const isSilent = chance < 0.12;
    const words = isSilent ? { ...said(answer), parts: [] } : said(answer, answer);
    if (!this.#answers.delete(key)) return;
    await this.engine.updateMessage(key, words, chance < 0.7 && !isSilent ? 'complete' : 'interrupted');
    if (!isSilent) this.#told(key, answer);
  }

  async #save(id: string, text: string): Promise<void> {
    await this.#act(async () => {
      const message = { ...said(id, text), role: 'user' as const };
      this.engine.set(user(message));
      const { headMessageId } = await this.engine.save();
      const node = headMessageId === undefined ? undefined : this.engine.node(headMessageId);
      if (node && this.#textOf(node.key) === text) this.#told(node.key, text);
    });
  }

  /** Answers a reserved answer late or removes it, or continues one that was cut off. */
  async answerLate(): Promise<void> {
    const own = this.#pick([...this.#answers]);
    if (own !== undefined) return this.#act(() => this.#end(own, this.#text('a')));
    const isCutShort = (key: string): boolean =>
      this.engine.status(key) === 'interrupted' && !this.#goingOn.has(key);
    const key = this.#pick(this.#chain().filter(isCutShort));
    if (key === undefined) return;
    this.#goingOn.add(key);
    const goOn = async (): Promise<void> => {
      const text = this.#text('a');
      await this.engine.updateMessage(key, said(text, text), 'streaming');
      this.#answers.add(key);
      await this.#end(key, text);
    };
    await this.#act(() => goOn().finally(() => this.#goingOn.delete(key)));
  }

  /** Makes a fork at a message of the shown branch. */
  async fork(): Promise<void> {
    const key = this.#pick(this.#chain());
    if (key === undefined) return;
    const [chance, text] = [this.#random(), this.#text('e')];
    const acts: (() => Promise<unknown>)[] = [
      async () => {
        await this.engine.edit(key, text);
        const made = this.engine.state.getState().headKey;
        if (made !== undefined && this.#textOf(made) === text) this.#told(made, text);
      },
      () => this.engine.rewind(key),
      () => this.engine.btw(),
      () => this.engine.restore(this.#pick(this.engine.state.getState().checkpoints)?.name ?? 'none'),
    ];
    await this.#act(acts[Math.floor(chance * acts.length)] as () => Promise<unknown>);
  }

  /** Edits a message. */
  async rewrite(): Promise<void> {
    const grows = (one: string): boolean => this.#answers.has(one) || this.#goingOn.has(one);
    const key = this.#pick(this.#chain().filter((one) => !grows(one)));
    if (key === undefined) return;
    const text = this.#text('w');
    await this.#act(async () => {
      const before = this.engine.message(key);
      if (!before) return;
      const words = { ...before, parts: [{ type: 'text' as const, text }] };
      // A draft counts until the end of the answer, which says what it was. An answer may go on before its words are changed.
      let isDraft = this.engine.status(key) === 'streaming';
      const change = (): typeof words => {
        isDraft = this.engine.status(key) === 'streaming';
        return words;
      };
      await this.engine.updateMessage(key, this.#random() < 0.5 ? change : words);
      if (!isDraft) this.#told(key, text);
    });
  }

  /** Deletes a branch; returns which one. */
  async deleteBranch(): Promise<DeletedBranch | undefined> {
    const branch = this.#pick(this.#branches());
    if (!branch || this.#branches().length < 2) return undefined;
    this.#disk.deletions = [];
    let isDone = false;
    await this.#act(async () => {
      await this.engine.deleteBranch(branch.id);
      isDone = true;
    });
    const [made] = this.#disk.deletions;
    // A branch with an unknown record is not checked.
    return { record: (isDone && made?.record) || 'unknown', head: made?.head ?? null };
  }

  /** Undoes or redoes an operation. */
  async undoOrRedo(): Promise<void> {
    const isRedo = this.#random() < 0.3;
    await this.#act(() => (isRedo ? this.engine.redo() : this.engine.undo()));
  }

  /** Names a branch; returns the name, and the message at which the branch ended. */
  async nameBranch(name: string): Promise<NamedBranch | undefined> {
    const branch = this.#pick(this.#branches().filter(({ headKey }) => headKey !== null));
    if (!branch) return undefined;
    // An answer that grows may be taken back.
    const end = this.#chainTo(branch.headKey).find((key) => this.engine.status(key) !== 'streaming');
    await this.#act(() => this.engine.renameBranch(branch.id, name));
    return end === undefined ? undefined : { name, end };
  }

  async switchBranch(): Promise<void> {
    const branch = this.#pick(this.#branches());
    const key = this.#pick(this.#keys());
    const checkpoint = this.#pick(this.engine.state.getState().checkpoints)?.name;
    if (!branch || key === undefined) return;
    const acts: (() => Promise<unknown>)[] = [
      () => this.engine.switchBranch(branch.id),
      () => this.engine.switchBranch(branch.id),
      () => this.engine.checkout(key),
      () => this.engine.selectSibling(key),
      () => this.engine.checkpoint(this.#text('c'), { at: key }),
      () => this.engine.renameCheckpoint(checkpoint ?? 'none', this.#text('c')),
      () => this.engine.deleteCheckpoint(checkpoint ?? 'none'),
    ];
    await this.#act(this.#pick(acts) as () => Promise<unknown>);
  }

  /** Saves messages with ids that an app gives each time. */
  async importSource(): Promise<void> {
    await this.#act(async () => {
      for (const id of ['i1', 'a-i2', 'i3'])
        this.engine.set(id.startsWith('a') ? assistant(said(id)) : user(said(id)));
      const result = await this.engine.save();
      const node = this.engine.node(result.headMessageId ?? '');
      if (node && this.#textOf(node.key) === 'i3') this.#told(node.key, 'i3');
    });
  }

  async deleteChat(): Promise<void> {
    await this.#world.deleteChat();
  }

  /** Tries to write what is waiting. */
  async write(): Promise<void> {
    await this.#act(() => this.engine.retry());
  }

  /** Reads what others wrote. */
  async read(): Promise<void> {
    this.#disk.listen();
    await turnOfLoop();
  }

  /** Reads what others wrote, without a notice. */
  async look(): Promise<void> {
    await this.#act(() => this.engine.verify());
  }

  /** Ends all growing answers. */
  async endAnswers(): Promise<void> {
    for (const key of this.#answers) await this.#act(() => this.#end(key, this.#text('a')));
  }

  /** Drops refused messages that wait to follow what was shown, as a person does who looks at the branch. */
  async giveUp(): Promise<void> {
    const { pending, branchId } = this.engine.state.getState();
    if (pending.length > 0) await this.show(branchId);
  }

  /** Makes a write, with which the page stores the drafts of dead pages. */
  async sayLast(): Promise<void> {
    await this.#save(this.#text('q'), 'last');
  }

  close(): void {
    this.engine.dispose();
    this.#disk.die();
    this.#world.tabs.delete(this);
  }

  /** The words that were acknowledged since the last query. */
  acknowledged(): readonly Words[] {
    const { state } = this.engine.state.getState().saveState;
    return state === 'saved' && this.#running === 0 ? this.#said.splice(0) : [];
  }

  replica(): Replica {
    const { branches } = this.engine.state.getState();
    const words = this.#keys().flatMap((key) => {
      const text = this.#textOf(key);
      return text === undefined ? [] : [{ key, text }];
    });
    return {
      words,
      told: toldBy(this.engine),
      branches: branches.map(({ id, name, headKey }) => ({
        id,
        record: '',
        name,
        head: headKey,
        keys: this.#chainTo(headKey),
      })),
    };
  }

  /** Checks what this page shows in the end. */
  async judge(): Promise<void> {
    const { saveState, status, error, chat } = this.engine.state.getState();
    const { faults, hasLost } = this.#world;
    if (saveState.state === 'error' || saveState.state === 'saving')
      faults.add(`saveState is ${saveState.state} ${saveState.error?.code ?? ''}`.trim());
    if (status === 'error' && error?.code !== 'chat-deleted') faults.add(`status is error: ${error?.code}`);
    if ((chat?.messageCount ?? 0) !== this.#keys().length) faults.add('the chat counts wrong');
    // Words that no page had when the database was lost can only be named.
    for (const { kind } of await this.engine.verify())
      if (!(hasLost && kind === 'missing-body')) faults.add(`verify() finds ${kind}`);
  }

  // ------------------------------------------------------------------ what it is made of

  #running = 0;

  /** Runs an act, and waits for it as long as no other page must act first. */
  async #act(run: () => Promise<unknown>): Promise<void> {
    const { running, faults } = this.#world;
    this.#running += 1;
    const done = run().catch((error: unknown) => {
      if (!isContextError(error) || !EXPECTED.has(error.code)) faults.add(`unexpected: ${String(error)}`);
    });
    const task = Promise.race([done, this.#disk.gone]).finally(() => {
      this.#running -= 1;
      running.delete(task);
    });
    running.add(task);
    await Promise.race([task, this.#disk.stalled(), this.#waited(() => !running.has(task))]);
  }

  /** An act that waits for an earlier one of this page, or for a timer, waits for others to act. */
  async #waited(isOver: () => boolean): Promise<void> {
    for (let i = 0; i < 300 && !isOver(); i += 1) await nextTask();
  }

  #told(key: string, text: string): void {
    this.#said.push({ key, text });
  }

  #branches(): ReturnType<ContextEngine['state']['getState']>['branches'] {
    return this.engine.state.getState().branches;
  }

  #keys(): string[] {
    return this.engine.graph().nodes.map(({ key }) => key);
  }

  /** The keys of the shown chain. */
  #chain(): string[] {
    return this.#chainTo(this.engine.state.getState().headKey ?? null);
  }

  #chainTo(head: string | null): string[] {
    const keys: string[] = [];
    for (let node = this.engine.node(head ?? ''); node && keys.length < 10_000;) {
      keys.push(node.key);
      node = this.engine.node(node.parentKey ?? '');
    }
    return keys;
  }

  #textOf(key: string): string | undefined {
    const message = this.engine.message(key);
    return message && texts([message]);
  }

  /** A new id, or now and then one that an app gave before. */
  #idOr(text: string): string {
    return this.#random() < 0.2 ? `q-id${Math.floor(this.#random() * 6)}` : text;
  }

  #text(kind: string): string {
    return `${kind}${(this.#world.made += 1)}`;
  }

  #random(): number {
    return this.#world.random();
  }

  #pick<T>(all: readonly T[]): T | undefined {
    return all[Math.floor(this.#random() * all.length)];
  }
}
