import type { UIMessage } from 'ai';
import fc from 'fast-check';
import { IDBFactory } from 'fake-indexeddb';
import { expect } from 'vitest';
import { ContextEngine } from '../../src/engine/engine.ts';
import { isContextError } from '../../src/errors.ts';
import { openIndexedDB } from '../../src/store/open.ts';
import type { MessageNode } from '../../src/graph/graph.ts';
import type { ContextStore } from '../../src/store/store.ts';
import { examine } from './examine.ts';
import { given, message } from './graph.ts';
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
  /** Whether each page numbers its questions: then two pages say different things under one id. */
  readonly areNumbered?: boolean;
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
  /** How many calls of its own may change what it shows. */
  busy = 0;
  appends = 0;
  /** How many questions were asked here. */
  asked = 0;
  /** Since when it shows each message. */
  readonly #since: Map<string, number> = new Map();

  constructor(world: World, store: ContextStore) {
    this.store = store;
    const disk = refusing(store);
    const loaded = world.machine.loading();
    this.refuse = disk.refuse;
    const counted = new Proxy(disk.store, {
      get: (target, key) => {
        if (key === 'append') this.appends += 1;
        // The first thing that the engine's code does when it has come.
        if (key === 'subscribe') loaded();
        return Reflect.get(target, key, target);
      },
    });
    this.engine = new ContextEngine({ store: counted, chatId: 'c', userId: 'me' });
    this.engine.state.subscribe(({ messages }) => {
      const { now } = world.machine;
      for (const [key, since] of this.#since) {
        if (this.#sees(key)) continue;
        this.#since.delete(key);
        if (this.busy === 0 && now - since >= SEEN) void this.#miss(key, world);
      }
      for (const key of messages.map(keyOf)) if (!this.#since.has(key)) this.#since.set(key, now);
    });
  }

  async #miss(key: string, world: World): Promise<void> {
    await world.machine.rest(SEEN);
    if (!this.#sees(key) && this.busy === 0)
      world.wrong.push(`${world.nameOf(this)} shows no ${key} any more`);
  }

  /** What grows in another page stands beside what is shown; whoever goes to such an answer asks in its place. */
  #sees(key: string): boolean {
    const { messages, elsewhere } = this.engine.state.getState();
    const seen = this.busy === 0 ? [...messages, ...elsewhere] : messages;
    return seen.some((one) => keyOf(one) === key);
  }

  get light(): string {
    return this.engine.state.getState().saveState.state;
  }

  shown(): string[] {
    return this.engine.state.getState().messages.map(({ id }) => id);
  }
}

/** What a message is known by: a question by its words, since another one may have its id; an answer grows. */
function keyOf(one: UIMessage): string {
  return one.role === 'user' ? wordsOf(one) : one.id;
}

function wordsOf({ parts: [part] }: UIMessage): string {
  return part?.type === 'text' ? part.text : '';
}

/** So many ms a message is shown before anybody has seen it, and gone before anybody misses it. */
const SEEN = 200;

class World {
  readonly machine: Machine;
  readonly pages: Page[] = [];
  readonly wrong: string[] = [];
  /** What the pages were told is saved, or kept: words, no two of them the same, and fields. */
  readonly words: Set<string> = new Set();
  readonly fields: Map<string, number> = new Map();
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

  nameOf(page: Page): string {
    return `page ${this.pages.indexOf(page)}`;
  }

  next(): number {
    return (this.#count += 1);
  }

  /** A question of a page. Two under one id in the very same millisecond would be taken for one. */
  async questionOf(page: Page, n: number): Promise<UIMessage> {
    page.asked += 1;
    if (!this.story.areNumbered) return message(`q${n}`);
    while (this.machine.now <= this.#askedAt) await this.machine.rest(1);
    this.#askedAt = this.machine.now;
    return message(`q${page.asked}`, `word ${n}`);
  }
}

/** Asks, and remembers the question once it is kept; gives the answer's id. */
async function ask(world: World, page: Page): Promise<string> {
  const n = world.next();
  const question = await world.questionOf(page, n);
  const id = await page.engine.continue(question, { id: `a.${n}` });
  world.words.add(wordsOf(question));
  return id;
}

async function finish(world: World, { engine }: Page, id: string): Promise<void> {
  await engine.updateMessage(id, message(id, `to ${id}`), 'complete');
  world.words.add(`to ${id}`);
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
    if (question)
      await finish(world, page, await page.engine.continue(question, { id: `a.${world.next()}` }));
  },
  async edit(world, page, pick) {
    const id = one(page.shown(), pick);
    const words = `edit ${world.next()}`;
    if (id === undefined) return;
    await page.engine.edit(id, words);
    world.words.add(words);
  },
  async rewind(_, page, pick) {
    const id = one(page.shown(), pick);
    if (id !== undefined) await page.engine.rewind(id);
  },
  async switch(_, page, pick) {
    const id = one(page.engine.state.getState().branches, pick)?.id;
    if (id !== undefined) await page.engine.switchBranch(id);
  },
  async checkpoint(world, page) {
    if (page.shown().length > 0) await page.engine.checkpoint(`c${world.next()}`);
  },
  title: (world, { engine }) => engine.updateChat({ title: `t${world.next()}` }),
  async rename(world, page, pick) {
    const id = one(page.engine.state.getState().branches, pick)?.id;
    if (id !== undefined) await page.engine.renameBranch(id, `n${world.next()}`);
  },
  async wait(world, page, pick) {
    const id = `w${world.pages.indexOf(page)}.${pick % 3}`;
    const at = world.next();
    await page.engine.keepFields('contextree:queued:c', { [id]: at });
    world.fields.set(id, at);
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
  wipe: (_, __, pick) => wipe(pick),
  list: (_, { store }) => store.listChats(),
  retry: (_, { engine }) => engine.retry(),
  async open(world) {
    if (world.pages.length < 3) await world.open().engine.ready();
  },
} satisfies Record<string, (world: World, page: Page, pick: number) => unknown>;

/** What changes what a page shows, because somebody asks it to. */
const MOVES: readonly string[] = ['again', 'edit', 'rewind', 'switch'];

/** Who numbers a question as one that is known here gets a version of that. */
const ASKS: readonly string[] = ['ask', 'begin'];

/** The browser deletes the database; a person who deletes all that a site has deletes the notes beside it, too. */
async function wipe(pick: number): Promise<void> {
  if (pick % 4 === 0) localStorage.clear();
  await new Promise((resolve) => {
    indexedDB.deleteDatabase('contextree').onsuccess = resolve;
  });
}

function one<T>(things: readonly T[], pick: number): T | undefined {
  return things[pick % things.length];
}

const KINDS = Object.keys(deeds) as (keyof typeof deeds)[];
const OFTEN = ['ask', 'ask', 'ask', 'wipe', 'wipe', 'wipe', 'begin', 'end', 'full', 'list'] as const;

/** Stories of two pages and at most so many steps. */
export const stories = (most: number, areNumbered = false): fc.Arbitrary<Story> =>
  fc.record({
    areOne: fc.boolean(),
    areNumbered: fc.constant(areNumbered),
    steps: fc.array(
      fc.record({
        does: fc.constantFrom<keyof typeof deeds>(...KINDS, ...OFTEN),
        page: fc.nat(1),
        pick: fc.nat(11),
        rest: fc.constantFrom(-1, -1, -1, 0, 1, 10, 100, 1500),
      }),
      { minLength: 2, maxLength: most },
    ),
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
  await begin(world.machine);
  const first = world.open();
  await first.engine.ready();
  await world.open().engine.ready();
  const calls: Promise<void>[] = [];
  for (const { does, page: index, pick, rest } of steps) {
    const page = world.pages[index % world.pages.length] as Page;
    const call = take(world, page, does, pick);
    calls.push(call);
    if (rest < 0) await call;
    if (rest !== 0) await world.machine.rest(rest < 0 ? 200 : rest);
  }
  await Promise.all(calls);
  await comeToRest(world);
}

/** An earlier page has begun the chat, and the note about it has been left. */
async function begin(machine: Machine): Promise<void> {
  const store = openIndexedDB('contextree', {});
  await given(store, 'q0 > a0');
  await machine.rest(50);
  await store.close();
}

async function take(world: World, page: Page, does: Step['does'], pick: number): Promise<void> {
  const isMove = MOVES.includes(does) || (world.story.areNumbered && ASKS.includes(does));
  if (isMove) page.busy += 1;
  try {
    await deeds[does](world, page, pick);
  } catch (error) {
    if (!isExpected(error, does)) world.wrong.push(`${world.nameOf(page)}, ${does}: ${String(error)}`);
  } finally {
    // It may show what others have done there meanwhile.
    if (isMove) void world.machine.rest(100).then(() => (page.busy -= 1));
  }
}

/** What may be said of a deed. */
function isExpected(error: unknown, does: Step['does']): boolean {
  const codes = EXPECTED[does] ?? [];
  return isContextError(error) && ['quota-exceeded', 'store-closed', ...codes].includes(error.code);
}

const EXPECTED: Partial<Record<Step['does'], readonly string[]>> = {
  // Another page has asked something else under that number.
  ask: ['head-moved'],
  begin: ['head-moved'],
  // Another page lets an answer to this question grow.
  again: ['busy'],
  // The browser lost it before its words were read here.
  checkpoint: ['message-not-found', 'empty-branch'],
};

async function comeToRest(world: World): Promise<void> {
  const { machine, pages, wrong } = world;
  for (const page of pages) for (const id of page.growing.splice(0)) await finish(world, page, id);
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
async function checkLights({ pages, wrong }: World): Promise<void> {
  for (const [i, page] of pages.entries()) {
    const there = new Set((await nodesOf(page.store)).map(({ data }) => keyOf(data)));
    const lacking = page.engine.state
      .getState()
      .messages.map(keyOf)
      .filter((key) => !there.has(key));
    if (page.light === 'saved' && lacking.length > 0)
      wrong.push(`page ${i} says saved, and ${lacking.join()} is not`);
  }
}

async function checkDisk(world: World): Promise<void> {
  const { pages, wrong } = world;
  const [first] = pages as [Page];
  const fresh = world.open();
  await fresh.engine.ready();
  const { chat, ...records } = await first.store.load('c');
  const said = (await nodesOf(first.store)).map(({ data }) => wordsOf(data));
  for (const words of world.words) {
    const count = said.filter((one) => one === words).length;
    if (count !== 1) wrong.push(`"${words}" is there ${count} times`);
  }
  const fields = (await first.store.get<Record<string, number>>('contextree:queued:c')) ?? {};
  for (const [id, at] of world.fields) if (fields[id] !== at) wrong.push(`${id} is ${fields[id]}, not ${at}`);
  if (chat)
    for (const { text } of examine({ chat, ...records }, { now: 1, createId: () => 'new' }).findings)
      wrong.push(text);
  const outline = outlineOf(fresh);
  if (!chat) return;
  for (const page of pages.slice(0, -1)) {
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
