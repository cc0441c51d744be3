import type { UIMessage } from 'ai';
import fc from 'fast-check';
import { IDBFactory } from 'fake-indexeddb';
import { expect } from 'vitest';
import { ContextEngine } from '../../src/engine/engine.ts';
import { isContextError } from '../../src/errors.ts';
import { openIndexedDB } from '../../src/store/open.ts';
import type { MessageNode } from '../../src/graph/graph.ts';
import type { BranchInfo, ContextStore, StoreOp } from '../../src/store/store.ts';
import { examine } from './examine.ts';
import { given, head, insert, me, message } from './graph.ts';
import { Machine } from './machine.ts';
import { refusing } from './refusal.ts';

/**
 * Pages that have one chat open, while the browser deletes its database under them: what people do in them, in which order,
 * after which rest, while a disk is full now and then; and numbers that say whose step comes next, down to the single request.
 *
 * What then must be true: what a page was told is saved is on the disk once all have come to rest, on a branch, once; no page
 * shows less than it did, unless somebody asked it to; a page that says "saved" is; all pages show what a new one does;
 * nobody is told of a failure that is none of theirs; and nothing goes round for ever.
 */
export interface Story {
  /** Whether the pages share a store, as parts of one page do; else each is a tab. */
  readonly areOne: boolean;
  /** Whether each page numbers its messages: then two pages say different things under one id. */
  readonly areNumbered?: boolean;
  /** Whether the chat's id had another one before, which was deleted: a page that comes behind a loss knows nothing of that. */
  readonly isSecond?: boolean;
  readonly steps: readonly Step[];
  readonly picks: readonly number[];
}

export interface Step {
  readonly does: keyof typeof deeds;
  readonly page: number;
  readonly pick: number;
  /** How many ms go by before the next step; -1: until this one is done, and all have heard of it. */
  readonly rest: number;
}

/** One page: what it shows, what it was told is saved, and what is under way. */
class Page {
  readonly store: ContextStore;
  readonly engine: ContextEngine;
  readonly refuse: ReturnType<typeof refusing>['refuse'];
  /** The answers that grow. */
  readonly growing: string[] = [];
  /** What each answer was asked with. */
  readonly questions: Map<string, string> = new Map();
  /** How many calls of its own may change what it shows. */
  busy = 0;
  appends = 0;
  /** How many questions were asked here. */
  asked = 0;
  isOpen = true;
  /** The words that it has shown. */
  readonly read: Set<string> = new Set();
  /** Resolves when it is closed. */
  readonly closing: Promise<void>;
  #tellClosing = (): void => {};
  readonly #world: World;
  /** What the answers that were asked for here are known by. */
  readonly marks: Map<string, string> = new Map();
  /** What was on each branch when this was last told of. */
  #branches: ReadonlyMap<string, readonly string[]> = new Map();
  /** The branches on which messages were seen here. */
  readonly #places: Map<string, readonly string[]> = new Map();
  /** The branches that were deleted here. */
  readonly deleted: Set<string> = new Set();
  /** What gives back the locks that it holds. */
  readonly #locks: (() => void)[] = [];
  /** Since when it shows each message. */
  readonly #since: Map<string, number> = new Map();

  constructor(world: World, store: ContextStore) {
    this.store = store;
    this.#world = world;
    this.closing = new Promise((resolve) => {
      this.#tellClosing = resolve;
    });
    const disk = refusing(world.disk.watched(store));
    const loaded = world.machine.loading();
    if (!world.story.areOne) void this.closing.then(loaded);
    this.refuse = disk.refuse;
    const counted = new Proxy(disk.store, {
      get: (target, key) => {
        if (key === 'append') this.appends += 1;
        // The first thing that the engine's code does when it has come.
        if (key === 'subscribe' || key === 'load') loaded();
        const value: unknown = Reflect.get(target, key, target);
        if (typeof value !== 'function') return value;
        return (...args: readonly unknown[]): unknown => this.#call(key, value.bind(target), args);
      },
    });
    this.engine = new ContextEngine({ store: counted, chatId: 'c', userId: 'me' });
    this.engine.state.subscribe(({ branches, messages }) => {
      const { now } = world.machine;
      this.#branches = new Map(branches.map((one) => [one.id, this.#chain(one.headMessageId)]));
      world.takeAlong();
      if (!this.isOpen) return;
      for (const one of messages) this.read.add(wordsOf(one));
      for (const [key, since] of this.#since) {
        if (this.#sees(key)) continue;
        this.#since.delete(key);
        if (this.busy === 0 && now - since >= SEEN) void this.#miss(key, world);
      }
      for (const key of messages.map((one) => this.keyOf(one)))
        if (!this.#since.has(key)) this.#since.set(key, now);
    });
  }

  /** A tab that is closed asks nothing of its store any more; a part of a page that is gone goes on with what it does. */
  #call(
    key: string | symbol,
    call: (...args: readonly unknown[]) => unknown,
    args: readonly unknown[],
  ): unknown {
    if (!this.isOpen && !this.#world.story.areOne) return new Promise(() => {});
    if (key === 'append') this.#world.hear(args[1] as readonly StoreOp[]);
    const answer = call(...args);
    if (key === 'hold') void (answer as Promise<() => void>).then((release) => this.#locks.push(release));
    return answer;
  }

  /** Closes it, without waiting for anything. */
  close(): void {
    this.isOpen = false;
    this.engine.dispose();
    this.#tellClosing();
    if (this.#world.story.areOne) return;
    void this.store.close();
    for (const release of this.#locks) release();
  }

  async #miss(key: string, world: World): Promise<void> {
    await world.machine.rest(SEEN);
    const by = world.deleted.get(world.words.get(key)?.mark ?? key);
    const isAnswered = !this.growing.some((id) => this.questions.get(id) === key);
    const isDeleted = world.going.size > 0 || by?.has(this) || (by && isAnswered);
    if (this.isOpen && !isDeleted && !this.#sees(key) && this.busy === 0)
      world.wrong.push(`${world.nameOf(this)} shows no ${key} any more`);
  }

  /** What grows in another page stands beside what is shown; whoever goes to such an answer asks in its place. */
  #sees(key: string): boolean {
    const { messages, elsewhere } = this.engine.state.getState();
    const seen = this.busy === 0 ? [...messages, ...elsewhere] : messages;
    return seen.some((one) => this.keyOf(one) === key);
  }

  keyOf(one: UIMessage): string {
    return keyOf(one, this.markOf(one.id));
  }

  /** The message with these words that it shows. */
  saidAs(words: string): Said | undefined {
    const { messages } = this.engine.state.getState();
    return this.engine.node(messages.find((one) => wordsOf(one) === words)?.id ?? '');
  }

  /** What the message is known by that has this id here. */
  markOf(id: string): string {
    return markOf({ id, createdAt: this.engine.node(id)?.createdAt }, this.#world.story);
  }

  get light(): string {
    return this.engine.state.getState().saveState.state;
  }

  shown(): string[] {
    return this.engine.state.getState().messages.map(({ id }) => id);
  }

  /** The branches on which it sees a message, and those on which it was seen when this was asked before. */
  placesOf(mark: string): readonly string[] {
    const places = [...(this.#places.get(mark) ?? []), ...this.branchesWith(mark)];
    this.#places.set(mark, places);
    return places;
  }

  /** The messages that it sees on a branch. */
  messagesOn(branchId: string): readonly string[] {
    return this.#branches.get(branchId) ?? [];
  }

  /** The messages that it sees on other branches than these. */
  messagesBut(branchIds: ReadonlyMap<string, unknown>): readonly string[] {
    return [...this.#branches].flatMap(([id, marks]) => (branchIds.has(id) ? [] : marks));
  }

  /** The branches on which it sees a message. */
  branchesWith(mark: string): string[] {
    return [...this.#branches].filter(([, marks]) => marks.includes(mark)).map(([id]) => id);
  }

  #chain(head: string | null): string[] {
    const marks: string[] = [];
    for (let at = head; at !== null; at = this.engine.node(at)?.parentId ?? null) marks.push(this.markOf(at));
    return marks;
  }
}

/** What a message is known by: a question by its words, since another one may have its id; an answer grows. */
function keyOf(one: UIMessage, mark: string): string {
  return one.role === 'user' ? wordsOf(one) : mark;
}

/**
 * What a message is known by that grows, or whose words nobody has read here: its id. Where two may have one id, that and
 * when it was said; a page may have given it another id for that.
 */
function markOf({ id, createdAt }: Said, { areNumbered = false }: Story): string {
  const given = id.replace(/:\d+$/, '');
  return areNumbered && /^[aq]\d+$/.test(given) ? `${given}:${createdAt}` : given;
}

function wordsOf({ parts: [part] }: UIMessage): string {
  return part?.type === 'text' ? part.text : '';
}

/**
 * What is on the disk for sure: the writes that it has taken, and told so, since the last wipe. Only that is left of what
 * was said in a page which is closed by now, and what another one has read.
 */
class Disk {
  readonly words: Set<string> = new Set();
  readonly fields: Map<string, unknown> = new Map();
  #wipes = 0;

  wiped(): void {
    this.#wipes += 1;
    this.words.clear();
    this.fields.clear();
  }

  /** A store whose writes are taken down here. */
  watched(store: ContextStore): ContextStore {
    const append: ContextStore['append'] = async (chatId, ops, options) => {
      const wipes = this.#wipes;
      const result = await store.append(chatId, ops, options);
      // What was there already as a whole brings nothing else along.
      const isWritten = result.changed || ops.every(({ op }) => op !== 'insert');
      if (wipes === this.#wipes && isWritten) for (const op of ops) this.#takeDown(op);
      return result;
    };
    return new Proxy(store, {
      get: (target, key) => (key === 'append' ? append : bound(target, Reflect.get(target, key, target))),
    });
  }

  #takeDown(op: StoreOp): void {
    if ((op.op === 'insert' || op.op === 'replace') && op.data) this.words.add(wordsOf(op.data));
    if (op.op !== 'merge') return;
    for (const [id, field] of Object.entries(op.value)) this.fields.set(id, field);
  }
}

function bound(to: object, value: unknown): unknown {
  return typeof value === 'function' ? value.bind(to) : value;
}

/** So many ms a message is shown before anybody has seen it, and gone before anybody misses it. */
const SEEN = 200;

/** A message: what it is called, and when it was said. */
interface Said {
  readonly id: string;
  readonly createdAt?: number | undefined;
}

/** Words that a page was told are saved, or kept, as the message that is known by that. */
interface Kept {
  readonly page: Page;
  readonly mark: string;
}

class World {
  readonly machine: Machine;
  readonly pages: Page[] = [];
  readonly wrong: string[] = [];
  readonly disk: Disk = new Disk();
  /** What the pages were told is saved, or kept: words, no two of them the same, and fields. */
  readonly words: Map<string, Kept> = new Map();
  readonly fields: Map<string, { readonly at: number; readonly page: Page }> = new Map();
  /** The questions that were sent to a store, by their words. */
  readonly said: Map<string, Said> = new Map();
  /** The messages that were on branches which somebody deleted, and on no other one there; and in which pages. */
  readonly deleted: Map<string, ReadonlySet<Page>> = new Map();
  /** The branches that somebody deleted. */
  readonly gone: Set<string> = new Set();
  /** Those that are being deleted, and by whom, until all pages have heard of it. */
  readonly going: Map<string, { readonly page: Page }> = new Map();
  /** What was on a deleted branch only when all was lost: nobody writes that again. */
  readonly #forsaken: Set<string> = new Set();
  readonly story: Story;
  #count = 0;
  #askedAt = 0;

  constructor(machine: Machine, story: Story) {
    this.machine = machine;
    this.story = story;
  }

  open(): Page {
    const store = this.story.areOne ? this.pages[0]?.store : undefined;
    const page = new Page(this, store ?? openIndexedDB('contextree', {}));
    this.pages.push(page);
    return page;
  }

  /** A page was told that words are kept. A branch that is deleted at this moment may take them along. */
  keep(words: string, page: Page, mark: string): void {
    this.words.set(words, { page, mark });
    const places = page.placesOf(mark);
    const isLive = places.some((branchId) => !this.going.has(branchId));
    const isOwn =
      page.branchesWith(mark).length === 0 && places.some((branchId) => page.deleted.has(branchId));
    if (isOwn || (this.going.size > 0 && !isLive)) this.delete([mark], page);
    // Who has not deleted it has its branch come back.
    if (!page.isOpen || this.going.size > 0 || this.deleted.get(mark)?.has(page)) return;
    this.deleted.delete(mark);
    this.#forsaken.delete(mark);
  }

  /** Messages are deleted with their branch. */
  delete(marks: readonly string[], page: Page): void {
    for (const mark of marks) this.deleted.set(mark, new Set(this.deleted.get(mark)).add(page));
  }

  /** What stands on a branch that is being deleted goes with it, also what came there just then. */
  takeAlong(): void {
    for (const [branchId, { page }] of this.going) {
      const elsewhere = new Set(page.messagesBut(this.going));
      const all = this.pages.flatMap((each) => each.messagesOn(branchId));
      this.delete(
        all.filter((mark) => !elsewhere.has(mark)),
        page,
      );
    }
  }

  /** What a page writes is the last that it says of its messages. */
  hear(ops: readonly StoreOp[]): void {
    for (const op of ops)
      if (op.op === 'insert' && op.data.role === 'user') this.said.set(wordsOf(op.data), op);
  }

  /** All is lost: what is on no branch any more stays so, but for what is shown, since its branch has come back. */
  lose(): void {
    const shown = new Set(
      this.going.size > 0 ? [] : this.openPages.flatMap((page) => page.shown().map((id) => page.markOf(id))),
    );
    for (const mark of this.deleted.keys()) if (!shown.has(mark)) this.#forsaken.add(mark);
  }

  get openPages(): readonly Page[] {
    return this.pages.filter(({ isOpen }) => isOpen);
  }

  /** The page of a step. Who has closed all comes back. */
  async pageAt(index: number): Promise<Page> {
    if (this.openPages.length === 0) await this.enter();
    return one(this.openPages, index) as Page;
  }

  /** Whether words must be there at the end: they are known to a page that is open, or were written and not lost since. */
  owes(words: string, { page, mark }: Kept): boolean {
    if (this.#forsaken.has(mark)) return false;
    return page.isOpen || this.disk.words.has(words) || this.openPages.some(({ read }) => read.has(words));
  }

  /** Opens a page, which may be closed before it has read anything. */
  async enter(): Promise<void> {
    const page = this.open();
    await Promise.race([page.engine.ready(), page.closing]);
  }

  nameOf(page: Page): string {
    return `page ${this.pages.indexOf(page)}`;
  }

  next(): number {
    return (this.#count += 1);
  }

  /** Two messages under one id in the very same millisecond would be taken for one. */
  async newMoment(): Promise<void> {
    while (this.machine.now <= this.#askedAt) await this.machine.rest(1);
    this.#askedAt = this.machine.now;
  }
}

/** Asks, and remembers the question once it is kept; gives the answer's id. */
async function ask(world: World, page: Page): Promise<string> {
  const n = world.next();
  const { areNumbered } = world.story;
  const number = areNumbered ? (page.asked += 1) : n;
  if (areNumbered) await world.newMoment();
  const question = message(`q${number}`, `word ${n}`);
  const id = await page.engine.continue(question, { id: `a${number}` });
  const words = wordsOf(question);
  // Where the disk is full it may wait in the page without being sent.
  const said = world.said.get(words) ?? page.saidAs(words) ?? question;
  world.keep(words, page, markOf(said, world.story));
  // Both are said at once.
  const mark = markOf({ ...said, id }, world.story);
  page.marks.set(id, mark);
  page.placesOf(mark);
  page.questions.set(id, words);
  return id;
}

async function finish(world: World, page: Page, id: string): Promise<void> {
  const words = `to ${id}, ${world.next()}`;
  await page.engine.updateMessage(id, message(id, words), 'complete');
  world.keep(words, page, page.marks.get(id) ?? id);
}

const deeds = {
  async ask(world, page) {
    await finish(world, page, await ask(world, page));
  },
  async begin(world, page) {
    page.growing.push(await ask(world, page));
  },
  async grow(_, page) {
    const [id] = page.growing;
    if (id !== undefined) await page.engine.updateMessage(id, message(id, 'to'), 'streaming');
  },
  async end(world, page) {
    const id = page.growing.shift();
    if (id !== undefined) await finish(world, page, id);
  },
  async again(world, page) {
    const question = page.engine.state.getState().messages.findLast(({ role }) => role === 'user');
    if (question) await finish(world, page, await page.engine.continue(question, { id: `b${world.next()}` }));
  },
  async edit(world, page, pick) {
    const id = one(page.shown(), pick);
    const words = `edit ${world.next()}`;
    if (id === undefined) return;
    world.keep(words, page, await page.engine.edit(id, words));
  },
  async rewind(_, page, pick) {
    const id = one(page.shown(), pick);
    if (id !== undefined) await page.engine.rewind(id);
  },
  async switch(world, page, pick) {
    const branch = one(page.engine.state.getState().branches, pick);
    if (branch) await orGone(world, page, branch, page.engine.switchBranch(branch.id));
  },
  async checkpoint(world, page) {
    if (page.shown().length > 0) await page.engine.checkpoint(`c${world.next()}`);
  },
  title: (world, { engine }) => engine.updateChat({ title: `t${world.next()}` }),
  async rename(world, page, pick) {
    const branch = one(page.engine.state.getState().branches, pick);
    if (branch) await orGone(world, page, branch, page.engine.renameBranch(branch.id, `n${world.next()}`));
  },
  async delete(world, page, pick) {
    const { branches } = page.engine.state.getState();
    const branch = one(branches, pick);
    if (!branch || branches.length < 2) return;
    const deletion = { page };
    world.going.set(branch.id, deletion);
    world.takeAlong();
    world.gone.add(branch.id);
    page.deleted.add(branch.id);
    try {
      await orGone(world, page, branch, page.engine.deleteBranch(branch.id));
    } finally {
      // Behind a loss it may be there again, and deleted once more.
      const isOver = (): boolean => world.going.get(branch.id) === deletion && world.going.delete(branch.id);
      void world.machine.rest(500).then(isOver);
    }
  },
  async wait(world, page, pick) {
    const id = `w${world.pages.indexOf(page)}.${pick % 3}`;
    const at = world.next();
    await page.engine.keepFields('contextree:queued:c', { [id]: at });
    world.fields.set(id, { at, page });
  },
  async unwait(world, page, pick) {
    const id = `w${world.pages.indexOf(page)}.${pick % 3}`;
    if (!world.fields.has(id)) return;
    await page.engine.keepFields('contextree:queued:c', { [id]: null });
    world.fields.delete(id);
  },
  async full(world, page, pick) {
    page.refuse('quota-exceeded');
    await world.machine.rest(pick * 20);
    page.refuse(undefined);
  },
  /** The disk does what it is told, and its answer gets lost. */
  async late(world, page, pick) {
    page.refuse('store-closed', { late: true });
    await world.machine.rest(pick * 20);
    page.refuse(undefined);
  },
  wipe: (world, _, pick) => wipe(world, pick),
  list: (_, { store }) => store.listChats(),
  retry: (_, { engine }) => engine.retry(),
  async open(world) {
    if (world.openPages.length < 3) await world.enter();
  },
  /** A tab is closed, or a part of a page is gone. */
  async close(_, page) {
    page.close();
  },
  async reload(world, page) {
    page.close();
    await world.enter();
  },
} satisfies Record<string, (world: World, page: Page, pick: number) => unknown>;

/** A branch may be deleted; or lost: then none leads to its words here. */
async function orGone(
  { gone }: World,
  page: Page,
  { id, headMessageId }: BranchInfo,
  deed: Promise<unknown>,
): Promise<void> {
  await deed.catch((error: unknown) => {
    const isLost = headMessageId === null || page.branchesWith(page.markOf(headMessageId)).length === 0;
    const isGone = isLost || gone.has(id);
    if (!isGone || !isContextError(error, 'branch-not-found')) throw error;
  });
}

/** What changes what a page shows, because somebody asks it to. */
const MOVES: readonly string[] = ['again', 'delete', 'edit', 'rewind', 'switch'];

/** Who numbers a question as one that is known here gets a version of that. */
const ASKS: readonly string[] = ['ask', 'begin'];

/** The browser deletes the database; a person who deletes all that a site has deletes the notes beside it, too. */
async function wipe(world: World, pick: number): Promise<void> {
  world.lose();
  if (pick % 4 === 0) localStorage.clear();
  await new Promise((resolve) => {
    indexedDB.deleteDatabase('contextree').onsuccess = resolve;
  });
  world.disk.wiped();
  world.lose();
}

function one<T>(things: readonly T[], pick: number): T | undefined {
  return things[pick % things.length];
}

const KINDS = Object.keys(deeds) as (keyof typeof deeds)[];
const OFTEN = ['ask', 'ask', 'ask', 'wipe', 'wipe', 'wipe', 'begin', 'end', 'full', 'list'] as const;

const RESTS = [-1, -1, -1, 0, 1, 10, 100, 1500] as const;

const stepOf = (...kinds: readonly Step['does'][]): fc.Arbitrary<Step> =>
  fc.record({
    does: fc.constantFrom(...kinds),
    page: fc.nat(1),
    pick: fc.nat(11),
    rest: fc.constantFrom(...RESTS),
  });

/** A page whose disk is full asks, and another one asks something else under that number. */
const clash: fc.Arbitrary<readonly Step[]> = fc
  .record({
    page: fc.nat(1),
    pick: fc.nat(11),
    rests: fc.tuple(...[0, 1, 2].map(() => fc.constantFrom(...RESTS))),
  })
  .map(({ page, pick, rests: [first = 0, second = 0, third = 0] }) => [
    { does: 'full', page, pick, rest: Math.max(first, 0) },
    { does: 'ask', page, pick: 0, rest: second },
    { does: 'ask', page: 1 - page, pick: 0, rest: third },
  ]);

/** Steps among which two messages get one id, and branches are deleted, more often than by chance. */
const numberedSteps = (most: number): fc.Arbitrary<readonly Step[]> => {
  const single = stepOf(...KINDS, ...OFTEN, 'delete', 'delete', 'delete').map((step) => [step]);
  return fc
    .array(fc.oneof({ weight: 6, arbitrary: single }, { weight: 1, arbitrary: clash }), {
      minLength: 2,
      maxLength: most,
    })
    .map((parts) => parts.flat());
};

/** Stories of two pages and at most so many steps, or turns of events. */
export const stories = (most: number, areNumbered = false): fc.Arbitrary<Story> =>
  fc.record({
    areOne: fc.boolean(),
    areNumbered: fc.constant(areNumbered),
    isSecond: fc.boolean(),
    steps: areNumbered
      ? numberedSteps(most)
      : fc.array(stepOf(...KINDS, ...OFTEN), { minLength: 2, maxLength: most }),
    picks: fc.array(fc.nat(12), { minLength: 1, maxLength: 31 }),
  });

/** Plays a story and looks at what is left; throws where something is lost, wrong or unsaid. */
export async function playWipes(story: Story): Promise<void> {
  globalThis.indexedDB = new IDBFactory();
  const machine = new Machine(story.picks);
  const world = new World(machine, story);
  machine.install();
  try {
    const isDone = await machine.during(
      tell(world, story.steps).catch((error: unknown) => world.wrong.push(String(error))),
    );
    expect([isDone ? 'all came to rest' : 'somebody hangs', ...world.wrong]).toEqual(['all came to rest']);
  } finally {
    for (const { engine } of world.pages) engine.dispose();
    await machine.during(Promise.all(world.pages.map(({ store }) => store.close())));
    machine.remove();
  }
}

async function tell(world: World, steps: readonly Step[]): Promise<void> {
  await begin(world);
  const first = world.open();
  await first.engine.ready();
  await world.open().engine.ready();
  const calls: Promise<void>[] = [];
  for (const { does, page: index, pick, rest } of steps) {
    const page = await world.pageAt(index);
    const done = take(world, page, does, pick);
    // What a page has begun ends with it; the browser deletes all the same.
    const call = world.story.areOne || does === 'wipe' ? done : Promise.race([done, page.closing]);
    calls.push(call);
    if (rest < 0) await call;
    if (rest !== 0) await world.machine.rest(rest < 0 ? 200 : rest);
  }
  await Promise.all(calls);
  await comeToRest(world);
}

/** An earlier page has begun the chat, and the note about it has been left. */
async function begin({ machine, story }: World): Promise<void> {
  const store = openIndexedDB('contextree', {});
  const { isSecond = false } = story;
  if (isSecond) {
    await given(store, 'p0');
    await store.deleteChat('c');
  }
  const turn = [insert('q0', null), insert('a0', 'q0'), head(null, 'a0')];
  await store.append('c', turn, { ...me, epoch: isSecond ? 1 : 0 });
  await machine.rest(50);
  await store.close();
}

async function take(world: World, page: Page, does: Step['does'], pick: number): Promise<void> {
  const isMove = MOVES.includes(does) || (world.story.areNumbered && ASKS.includes(does));
  if (isMove) page.busy += 1;
  try {
    await deeds[does](world, page, pick);
  } catch (error) {
    if (page.isOpen && !isExpected(error, does))
      world.wrong.push(`${world.nameOf(page)}, ${does}: ${String(error)}`);
  } finally {
    // It may show what others have done there meanwhile.
    if (isMove) void world.machine.rest(100).then(() => (page.busy -= 1));
  }
}

/** What may be said of a deed. */
function isExpected(error: unknown, does: Step['does']): boolean {
  const codes = ['quota-exceeded', 'store-closed', ...(EXPECTED[does] ?? [])];
  return isContextError(error) && codes.includes(error.code);
}

const EXPECTED: Partial<Record<Step['does'], readonly string[]>> = {
  // Another page has asked something else under that number.
  ask: ['head-moved'],
  begin: ['head-moved'],
  // Another page lets an answer to this question grow.
  again: ['busy'],
  delete: ['last-branch'],
  // The browser lost it before its words were read here.
  checkpoint: ['message-not-found', 'empty-branch'],
};

async function comeToRest(world: World): Promise<void> {
  const { machine, openPages: pages, wrong } = world;
  // Where a part of a page is gone, its answers grow on.
  for (const page of world.story.areOne ? world.pages : pages)
    for (const id of page.growing.splice(0)) await finish(world, page, id);
  for (const { store } of pages) await store.listChats();
  await machine.rest(2000);
  await checkLights(world);
  for (let round = 0; round < 3; round += 1) {
    for (const { engine } of pages) await engine.retry();
    await machine.rest(2000);
  }
  const appends = Math.max(...pages.map((page) => page.appends));
  if (appends > 200) wrong.push(`${appends} writes`);
  await checkDisk(world);
}

/** Who says that all is saved has it on the disk: somebody has just looked. */
async function checkLights(world: World): Promise<void> {
  for (const page of world.openPages) {
    const { light } = page;
    const keys = page.engine.state.getState().messages.map((one) => page.keyOf(one));
    const nodes = await nodesOf(page.store);
    const there = new Set(nodes.map((node) => keyOf(node.data, markOf(node, world.story))));
    const lacking = keys.filter((key) => !there.has(key));
    if (light === 'saved' && lacking.length > 0)
      world.wrong.push(`${world.nameOf(page)} says saved, and ${lacking.join()} is not`);
  }
}

async function checkDisk(world: World): Promise<void> {
  const { disk, openPages: pages, wrong } = world;
  const fresh = world.open();
  await fresh.engine.ready();
  const { chat, ...records } = await fresh.store.load('c');
  const said = await nodesOf(fresh.store);
  for (const [words, kept] of world.words) {
    const found = said.filter(({ data }) => wordsOf(data) === words);
    const isOwed = world.owes(words, kept);
    if (found.length > 1 || (found.length === 0 && isOwed))
      wrong.push(`"${words}" is there ${found.length} times`);
    const isSeen =
      world.deleted.has(kept.mark) || found.some(({ id }) => fresh.branchesWith(fresh.markOf(id)).length > 0);
    if (isOwed && !isSeen) wrong.push(`"${words}" is on no branch`);
  }
  const fields = (await fresh.store.get<Record<string, number>>('contextree:queued:c')) ?? {};
  for (const [id, { at, page }] of world.fields)
    if (fields[id] !== at && (page.isOpen || disk.fields.get(id) === at))
      wrong.push(`${id} is ${fields[id]}, not ${at}`);
  if (chat)
    for (const { text } of examine({ chat, ...records }, { now: 1, createId: () => 'new' }).findings)
      wrong.push(text);
  const outline = outlineOf(fresh);
  if (!chat) return;
  for (const page of pages) {
    if (!['saved', 'idle'].includes(page.light)) wrong.push(`${world.nameOf(page)} says ${page.light}`);
    const own = outlineOf(page);
    if (own !== outline) wrong.push(`${world.nameOf(page)} shows ${own}, a new one ${outline}`);
  }
}

/** The messages of the chat as they are on the disk; a message that no branch reaches is told of by what examines it. */
async function nodesOf(store: ContextStore): Promise<MessageNode[]> {
  const { nodes } = await store.load('c');
  return store.getNodes(
    'c',
    nodes.map(({ id }) => id),
  );
}

/** What a page tells of the chat, but for what is shown of it. */
function outlineOf({ engine }: Page): string {
  const { branches, checkpoints, chat } = engine.state.getState();
  const heads = branches.map(
    ({ name, headMessageId, messageCount }) => `${name}: ${headMessageId} (${messageCount})`,
  );
  const marks = checkpoints.map(({ name, messageId }) => `${name} at ${messageId}`);
  return [chat?.title, ...heads, ...marks].join('; ');
}
