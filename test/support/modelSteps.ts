import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, vi } from 'vitest';
import type { ContextEngine } from '../../src/engine/engine.ts';
import type { EngineState } from '../../src/engine/state.ts';
import { assistant, lastAssistantMessage, user } from '../../src/fragment/message.ts';
import type { ContextErrorCode } from '../../src/errors.ts';
import type { GraphData } from '../../src/graph/visualize.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import type { ContextStore } from '../../src/store/store.ts';
import { engineOn, said, texts } from './engine.ts';
import { findIn, History, logged } from './history.ts';
import { Desk, isVisible, type Line, type Page, Paper, pathTo, read, type Waiting } from './model.ts';
import { refusing, type RefusingStore } from './refusal.ts';
import { same } from './same.ts';
import { tornIn, touch, watched, type WatchedStore } from './whole.ts';

// Engines and a chat on paper (`model.ts`), step by step: each step is done to both, and must leave both looking alike.

/** One step: what is done, at which desk, to which thing, in which way. Numbers are taken modulo what there is. */
export interface Step {
  readonly does: keyof typeof steps;
  readonly desk: number;
  readonly pick: number;
  readonly way: number;
}

/** A tab: an engine, its desk on paper, and the locks that fall when it dies. */
interface Tab {
  readonly engine: ContextEngine;
  readonly desk: Desk;
  readonly die: () => void;
  /** How often its state changed in more than `status` and `saveState`. */
  changes: number;
  /** How often in more than the chat's row, too. */
  views: number;
  /** Slices that got another identity without another value. */
  readonly renewed: string[];
  /** Branches that were told with a part of their words, or with another one's. */
  readonly torn: readonly string[];
  readonly failAt: WatchedStore['failAt'];
  readonly hasFailed: WatchedStore['hasFailed'];
}

class World {
  readonly paper = new Paper();
  readonly disk: ContextStore;
  readonly tabs: Tab[] = [];
  readonly history = new History();
  readonly #connect: () => ContextStore;
  readonly #refusing: RefusingStore[] = [];
  #opened = 0;
  isRefusing = false;
  /** Who is at work: at the other desks people do something else whenever something is read. */
  acting: Tab | undefined;
  /** How the save() that was refused last was to be done. */
  refusedSave: { readonly inPlace: boolean; readonly pile: readonly Waiting[] } | undefined;
  #words = 0;

  constructor(connect: () => ContextStore) {
    this.disk = connect();
    this.#connect = connect;
  }

  async open(): Promise<Tab> {
    this.#opened += 1;
    const refusable = refusing(this.#connect());
    this.#refusing.push(refusable);
    if (this.isRefusing) refusable.refuse('quota-exceeded');
    const { store: living, die } = mortal(logged(refusable.store, this.history, this.#opened));
    const { store, onRead, failAt, hasFailed } = watched(living);
    const engine = engineOn(store);
    const torn = tornIn(engine);
    const desk = new Desk(this.paper);
    const tab: Tab = { engine, desk, die, changes: 0, views: 0, renewed: [], torn, failAt, hasFailed };
    engine.state.subscribe((now, before) => {
      const changed = changedSlices(now, before);
      tab.renewed.push(...changed.filter((key) => isDeepStrictEqual(now[key], before[key])));
      const told = changed.filter((key) => !['status', 'error', 'saveState'].includes(key));
      if (told.length > 0) tab.changes += 1;
      if (told.some((key) => key !== 'chat' && key !== 'revision')) tab.views += 1;
    });
    this.tabs.push(tab);
    await engine.ready();
    onRead(() => {
      if (this.acting !== tab) touch(engine);
    });
    return tab;
  }

  refuse(on: boolean): void {
    this.isRefusing = on;
    for (const one of this.#refusing) one.refuse(on ? 'quota-exceeded' : undefined);
  }

  /** Words that were never said before. */
  words(): string {
    this.#words += 1;
    return `w${this.#words}`;
  }

  tab(index: number): Tab {
    return this.tabs[this.isRefusing ? 0 : index % this.tabs.length] as Tab;
  }

  /** Waits until all engines have heard of everything. */
  async settle(): Promise<void> {
    if (this.disk.persistence !== 'memory') await heard();
    await this.#quieten();
    if (!this.tabs.some(({ hasFailed }) => hasFailed())) return;
    // What could not be read is looked at again.
    for (const { failAt } of this.tabs) failAt(0);
    await wait();
    await this.#quieten();
  }

  async #quieten(): Promise<void> {
    for (let round = 0; round < 3; round += 1)
      for (const { engine } of this.tabs) await engine.resolve({ at: NOWHERE }).catch(() => {});
  }
}

/** A message that is none: an engine says so when it has done all that it began, and reads nothing for it. */
const NOWHERE = 'nowhere';

/** Tabs of a database hear of each other a few tasks later. */
async function heard(): Promise<void> {
  for (let turns = 0; turns < 8; turns += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** A store as one tab has it: when the tab dies its locks fall, and nothing that it still does reaches the disk. */
function mortal(inner: ContextStore): { store: ContextStore; die: () => void } {
  const locks: (() => void)[] = [];
  let isDead = false;
  const store = new Proxy(inner, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        if (isDead) return new Promise(() => {});
        const result: unknown = value.apply(target, args);
        if (key === 'hold') void (result as Promise<() => void>).then((release) => locks.push(release));
        return result;
      };
    },
  });
  const die = (): void => {
    isDead = true;
    for (const release of locks) release();
  };
  return { store, die };
}

function changedSlices(now: EngineState, before: EngineState): (keyof EngineState)[] {
  return (Object.keys(now) as (keyof EngineState)[]).filter((key) => now[key] !== before[key]);
}

// --- The steps. Each does the same on paper and with the engine; false: it does not apply here. ----------------------

type Take = (world: World, tab: Tab, step: Step) => Promise<boolean | void>;

const steps = {
  async set(world, { engine, desk }, { way, pick }) {
    const waiting = newWaiting(world, desk, way, pick);
    if (!waiting) return false;
    desk.pile.push(waiting);
    const { id, role, words } = waiting;
    if (id === undefined) engine.set(lastAssistantMessage(words));
    else
      engine.set(
        role === 'user' ? user({ ...said(id, words), role }) : assistant({ ...said(id, words), role }),
      );
  },

  async unset(_world, { engine, desk }, { pick }) {
    const waiting = one(
      desk.pile.filter(({ id }) => id !== undefined),
      pick,
    );
    if (!waiting) return false;
    desk.pile = desk.pile.filter(({ id }) => id !== waiting.id);
    engine.unset(waiting.id as string);
  },

  async save(world, { engine, desk }, { way }) {
    if (isGrowing(desk.shown)) return false;
    const inPlace = way % 3 === 0;
    if (world.isRefusing) {
      // Words that the disk refused while they grew are not there for other tabs: nothing is to hang on them.
      if (desk.answers.some(({ isUndrafted }) => isUndrafted)) return false;
      if (!desk.pile.some(({ id }) => id !== undefined && !world.paper.find(id))) return false;
      world.refusedSave = { inPlace, pile: [...desk.pile] };
      return refuses(engine.save({ branch: !inPlace }));
    }
    const promised = texts((await engine.resolve()).messages);
    desk.save(inPlace);
    // Afterwards the tab may follow others again; what it promised is what it wrote.
    if (!inPlace) agree(promised, read(desk.shown));
    await engine.save({ branch: !inPlace });
  },

  async ask(world, { engine, desk }, { way, pick }) {
    const known =
      way % 3 === 0
        ? one(
            visible(desk).filter(({ role }) => role === 'user'),
            pick,
          )
        : undefined;
    const parent = way % 3 === 1 ? one([null, ...settled(desk)], pick) : undefined;
    if (!known && parent === undefined && isGrowing(desk.shown)) return false;
    const hidden =
      way > 4 && parent === undefined
        ? one(
            world.paper.live.filter((line) => !isGrowing(desk.seen(line))),
            pick,
          )
        : undefined;
    const words = world.words();
    const ids = { question: `q-${words}`, answer: `a-${words}` };
    const message = known ? saidBy(known) : said(ids.question, words);
    const branch = hidden ? idOf(engine, hidden) : undefined;
    const options = {
      id: ids.answer,
      ...(branch === undefined ? {} : { branch }),
      ...(parent === undefined ? {} : { parentId: parent?.id ?? null }),
    };
    if (known && isAnsweredBeside(world, desk, known))
      return refuses(engine.continue(message, options), 'busy');
    desk.ask(known ?? words, ids, parent, hidden ?? desk.line);
    await engine.continue(message, options);
  },

  /** The first words of an answer. Of one that something hangs on already other tabs would not see them grow. */
  async draft(world, { engine, desk }, { pick }) {
    if (world.refusedSave) return false;
    const isFollowed = (page: Page): boolean =>
      world.paper.pages.some(({ parent, gone }) => parent === page && !gone);
    const answer = one(
      desk.answers.filter((page) => page.words === '' && !isFollowed(page)),
      pick,
    );
    if (!answer) return false;
    answer.words = world.words();
    answer.isUndrafted = world.isRefusing;
    await engine.updateMessage(answer.id, saidBy(answer), 'streaming');
  },

  async finish(world, { engine, desk }, { pick, way }) {
    const answer = one(desk.answers, pick);
    if (!answer) return false;
    const [status, isEmpty] = [way % 2 === 0 ? 'complete' : 'interrupted', way > 4] as const;
    const words = isEmpty ? '' : world.words();
    desk.finish(answer, words, status);
    const message = saidBy({ ...answer, words });
    await engine.updateMessage(answer.id, isEmpty ? { ...message, parts: [] } : message, status);
  },

  async resume(world, { engine, desk }, { pick }) {
    if (world.isRefusing) return false;
    const answer = one(
      settled(desk).filter(({ role }) => role === 'assistant'),
      pick,
    );
    if (!answer) return false;
    const resuming = (): Promise<void> => engine.updateMessage(answer.id, saidBy(answer), 'streaming');
    if (isAnsweredBeside(world, desk, answer.parent, answer)) return refuses(resuming(), 'busy');
    desk.resume(answer);
    await resuming();
  },

  async amend(world, { engine, desk }, { pick }) {
    const page = one(settled(desk), pick);
    if (!page) return false;
    page.words = world.words();
    await engine.updateMessage(page.id, saidBy(page));
  },

  async edit(world, { engine, desk }, { pick }) {
    const page = one(visible(desk), pick);
    if (!page) return false;
    const version = desk.edit(page, world.words());
    version.id = await engine.edit(page.id, version.words);
  },

  async rewind(world, { engine, desk }, { pick }) {
    const page = one(visible(desk), pick);
    if (!page) return false;
    if (world.isRefusing) return refuses(engine.rewind(page.id));
    const { name } = desk.rewind(page);
    await gives(engine.rewind(page.id), { name, headMessageId: page.id, isActive: true });
  },

  async btw(world, { engine, desk }) {
    if (world.isRefusing) return false;
    const line = desk.btw();
    if (line) await gives(engine.btw(), { name: line.name, headMessageId: line.head?.id, isActive: false });
    else await refuses(engine.btw(), 'empty-branch');
  },

  async mark(world, { engine, desk }, { pick, way }) {
    if (world.isRefusing) return false;
    const name = `mark-${way % 3}`;
    const page = way % 2 === 0 ? one(visible(desk), pick) : undefined;
    if (desk.mark(name, page ?? null))
      await gives(engine.checkpoint(name, page ? { at: page.id } : {}), { name });
    else await refuses(engine.checkpoint(name), 'empty-branch');
  },

  async unmark(world, { engine }, { pick }) {
    const mark = one(world.paper.marks, pick);
    if (!mark || world.isRefusing) return false;
    world.paper.marks = world.paper.marks.filter((other) => other !== mark);
    await engine.deleteCheckpoint(mark.name);
  },

  async restore(world, { engine, desk }, { pick }) {
    const mark = one(
      world.paper.marks.filter(({ page }) => visible(desk).includes(page)),
      pick,
    );
    if (!mark || world.isRefusing) return false;
    const { name } = desk.rewind(mark.page);
    await gives(engine.restore(mark.name), { name, headMessageId: mark.page.id });
  },

  async switch(world, { engine, desk }, step) {
    return clickThrough(engine, world.paper.live, step, async (line) => {
      desk.switchTo(line);
      await engine.switchBranch(line.name);
    });
  },

  async checkout(_world, { engine, desk }, step) {
    return clickThrough(engine, visible(desk), step, async (page) => {
      desk.checkout(page);
      await engine.checkout(page.id);
    });
  },

  async select(_world, { engine, desk }, step) {
    return clickThrough(engine, visible(desk), step, async (page) => {
      if (desk.select(page)) await engine.selectSibling(page.id);
      else await refuses(engine.selectSibling(page.id), 'message-not-found');
    });
  },

  async rename(world, { engine }, { pick, way }) {
    const line = one(world.paper.live, pick);
    if (!line || world.isRefusing) return false;
    const name = ['main', 'main-v2', 'main-v3', 'ideas'][way % 4] as string;
    const isTaken = line.name !== name && world.paper.live.some((other) => other.name === name);
    const renaming = engine.renameBranch(idOf(engine, line), name);
    if (isTaken) await refuses(renaming, 'name-taken');
    else await gives(renaming, { name });
    if (!isTaken) line.name = name;
  },

  async delete(world, { engine, desk }, { pick }) {
    const line = one(world.paper.live, pick);
    if (!line || world.isRefusing) return false;
    if (desk.delete(line)) await engine.deleteBranch(line.name);
    else await refuses(engine.deleteBranch(line.name), 'last-branch');
  },

  async loadMore(_world, { engine }, { pick }) {
    await engine.loadMore(pick);
  },

  async open(world) {
    if (world.isRefusing || world.tabs.length > 2) return false;
    await world.open();
  },

  /** The tab is closed or reloaded in the middle of whatever it does. The others notice in a while. */
  async die(world, tab) {
    if (world.isRefusing) return false;
    tab.die();
    tab.engine.dispose();
    tab.desk.die();
    world.tabs.splice(world.tabs.indexOf(tab), 1);
    await wait();
    if (world.tabs.length === 0) await world.open();
  },

  /** With one tab only, which has seen everything: what others wrote would be noticed when the disk works again. */
  async refuse(world, { desk }) {
    const hasSeenAll = desk.line !== undefined || world.paper.lines.length === 0;
    const isUpToDate = world.paper.live.every((line) => desk.seen(line) === line.head);
    if (world.isRefusing || world.tabs.length > 1 || !hasSeenAll || !isUpToDate) return false;
    world.refuse(true);
  },

  async heal(world, { engine, desk }) {
    if (!world.isRefusing) return false;
    world.refuse(false);
    const { inPlace = false, pile = [] } = world.refusedSave ?? {};
    const waiting = pile.filter((one) => desk.pile.includes(one));
    if (waiting.length > 0) desk.save(inPlace, waiting);
    world.refusedSave = undefined;
    await engine.retry();
  },
} satisfies Record<string, Take>;

/**
 * How many are clicked at a step, one before the other is there. One, while messages wait: whether their branch follows other
 * tabs once it is left, and before the next click, is a matter of luck.
 */
const clicksOf = ({ way }: Step, { pending }: EngineState): number =>
  way > 3 && pending.length === 0 ? 3 : 1;

/** Goes to something, or to one after another, whatever is done of the one before it by then. */
async function clickThrough<T>(
  engine: ContextEngine,
  things: readonly T[],
  step: Step,
  click: (thing: T) => Promise<void>,
): Promise<boolean> {
  const clicks: Promise<void>[] = [];
  const count = clicksOf(step, engine.state.getState());
  for (let i = 0; i < count && things.length > 0; i += 1) {
    clicks.push(click(one(things, step.pick * (1 + i * step.way)) as T));
    for (let turns = step.pick % 16; turns > 0; turns -= 1) await Promise.resolve();
  }
  await Promise.all(clicks);
  return clicks.length > 0;
}

async function wait(): Promise<void> {
  await vi.advanceTimersByTimeAsync(40_000);
}

async function refuses(call: Promise<unknown>, code: ContextErrorCode = 'quota-exceeded'): Promise<void> {
  await expect(call).rejects.toMatchObject({ code });
}

function agree(words: string, onPaper: string): void {
  same(words, onPaper);
}

async function gives(call: Promise<unknown>, expected: object): Promise<void> {
  expect(await call).toMatchObject(expected);
}

/** Whether another tab is writing an answer to this question, or any tab behind this answer. */
function isAnsweredBeside(world: World, desk: Desk, question: Page | null, answer?: Page): boolean {
  const growing = world.paper.pages.filter(({ pen, gone }) => pen && !gone);
  return growing.some(
    (page) => (page.parent === question && page.pen?.desk !== desk) || pathTo(page).includes(answer as Page),
  );
}

function newWaiting(world: World, desk: Desk, way: number, pick: number): Waiting | undefined {
  const words = world.words();
  const known = one(settled(desk), pick);
  if (way === 0) return { id: undefined, role: 'assistant', words };
  if (way === 1) return known && { id: known.id, role: known.role, words: known.words };
  if (way === 2) return known && { id: known.id, role: known.role, words };
  const again = one(
    desk.pile.filter(({ id }) => id !== undefined),
    pick,
  );
  if (way === 3) return again && { ...again, words };
  return way % 2 === 0
    ? { id: `q-${words}`, role: 'user', words }
    : { id: `a-${words}`, role: 'assistant', words };
}

function one<T>(things: readonly T[], pick: number): T | undefined {
  return things[pick % things.length];
}

/** What a tab can point at: also what no live branch reaches any more, but not words that only one tab has yet. */
function visible(desk: Desk): Page[] {
  return desk.paper.pages.filter((page) => {
    return !page.gone && isVisible(page) && !page.isUndrafted && (!page.pen || page.pen.desk === desk);
  });
}

/** Whether it is being written and shows: what hangs on it would be seen elsewhere before its words are. */
function isGrowing(page: Page | null): boolean {
  return page?.status === 'streaming' && isVisible(page);
}

function settled(desk: Desk): Page[] {
  return visible(desk).filter(({ status }) => status !== 'streaming');
}

function saidBy({ id, role, words }: Page) {
  return { ...said(id, words), role };
}

function idOf(engine: ContextEngine, { name }: Line): string {
  return engine.state.getState().branches.find((branch) => branch.name === name)?.id ?? '';
}

// --- What must be true after each step -------------------------------------------------------------------------------

/** Pages whose id the engine made learn it, by their words. */
function learnIds({ paper }: World, { engine }: Tab): void {
  const known = new Set(paper.pages.map(({ id }) => id));
  const fresh = engine.graph().nodes.filter(({ id }) => !known.has(id));
  for (const page of paper.pages.filter(({ id }) => id === '')) {
    page.id = fresh.find(({ content }) => content === page.words)?.id ?? '';
  }
}

function checkTab({ paper, isRefusing, refusedSave }: World, { engine, desk, renewed, torn }: Tab): void {
  const state = engine.state.getState();
  same([renewed, torn], [[], []]);
  const found = {
    status: state.status,
    branch: state.branch,
    words: texts(state.messages),
    head: state.headMessageId,
    detached: state.detached,
    pending: state.pending.length,
    branches: wordsByBranch(engine.graph()),
    checkpoints: Object.fromEntries(state.checkpoints.map(({ name, messageId }) => [name, messageId])),
  };
  same(found, {
    status: 'ready',
    branch: desk.lineName,
    words: read(desk.shown),
    head: desk.shown?.id,
    detached: desk.at !== null,
    pending: desk.pile.length,
    branches: Object.fromEntries(paper.live.map((line) => [line.name, read(desk.seen(line))])),
    checkpoints: Object.fromEntries(paper.marks.map(({ name, page }) => [name, page.id])),
  });
  const isSaveWaiting = refusedSave?.pile.some((one) => desk.pile.includes(one)) ?? false;
  if (isSaveWaiting || !isRefusing) same(state.saveState.state === 'error', isSaveWaiting);
  for (const page of pathTo(desk.shown).filter(isVisible)) {
    const siblings = desk.siblings(page).map(({ id }) => id);
    same([page.words, engine.siblings(page.id).ids], [page.words, siblings]);
    same([page.words, engine.status(page.id)], [page.words, page.status]);
  }
}

function wordsByBranch({ nodes, branches }: GraphData): Record<string, string> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const words = (head: string | null): string[] => {
    const node = head === null ? undefined : byId.get(head);
    return node ? [...words(node.parentId), node.content] : [];
  };
  return Object.fromEntries(
    branches.map(({ name, headMessageId }) => [name, words(headMessageId).join(' > ')]),
  );
}

/** The disk: all that paper holds is there, each message once, under its own id, and nothing dangles. */
async function checkDisk({ paper, disk }: World): Promise<void> {
  const { nodes, branches, checkpoints } = await disk.load('c');
  const byId = new Map(nodes.map((info) => [info.id, info]));
  same(byId.size, nodes.length);
  for (const { id, parentId, depth } of nodes) {
    const parent = parentId === null ? undefined : byId.get(parentId);
    same([id, depth], [id, parentId === null ? 1 : (parent?.depth ?? NaN) + 1]);
  }
  const bodies = await disk.getNodes('c', [...byId.keys()]);
  same(
    bodies.map(({ data }) => data.id),
    bodies.map(({ id }) => id),
  );
  const live = branches.filter(({ deletedAt }) => deletedAt === undefined);
  same(new Set(live.map(({ name }) => name)).size, live.length);
  for (const id of [
    ...live.map(({ headMessageId }) => headMessageId),
    ...checkpoints.map(({ messageId }) => messageId),
  ]) {
    same([id, id === null || byId.has(id)], [id, true]);
  }
  const words = live.map(async ({ name, headMessageId }) => {
    const chain = headMessageId === null ? [] : await disk.getMessageChain('c', headMessageId);
    return [name, texts(chain.map(({ data }) => data).filter(({ parts }) => parts.length > 0))] as const;
  });
  const drafted = (head: Page | null): string =>
    texts(
      pathTo(head)
        .filter((page) => isVisible(page) && !page.isUndrafted)
        .map(saidBy),
    );
  same(
    Object.fromEntries(await Promise.all(words)),
    Object.fromEntries(paper.live.map(({ name, head }) => [name, drafted(head)])),
  );
}

/** A tab that has been open all the time knows what one knows that opens now. */
async function checkFresh({ disk }: World, { engine }: Tab): Promise<void> {
  const fresh = engineOn(disk);
  await fresh.ready();
  const [then, now] = [engine, fresh].map((one) => {
    const { chat, branches, checkpoints } = one.state.getState();
    const { nodes } = one.graph();
    return {
      chat,
      branches: branches.map((branch) => ({ ...branch, isActive: false })).toSorted(byName),
      checkpoints: checkpoints.toSorted(byName),
      nodes,
      siblings: nodes.map(({ id }) => one.siblings(id)),
      infos: nodes.map(({ id }) => one.node(id)),
    };
  });
  same(then, now);
  for (const { headMessageId: at } of engine.state.getState().branches) {
    if (at !== null) same(await engine.resolve({ at }), await fresh.resolve({ at }));
  }
  fresh.dispose();
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}

async function check(world: World): Promise<void> {
  if (world.isRefusing) {
    checkTab(world, world.tab(0));
    return;
  }
  for (const tab of world.tabs) checkTab(world, tab);
  await checkDisk(world);
}

const isQuiet = ({ paper }: World): boolean =>
  !paper.pages.some(({ status, gone }) => status === 'streaming' && !gone);

/**
 * Plays steps; throws where an engine and the paper differ. Timers must be fake ones. `connect` gives each tab its store, all
 * of one disk.
 */
export async function playSteps(
  script: readonly Step[],
  connect: () => ContextStore = inMemory(),
): Promise<void> {
  const world = new World(connect);
  await world.open();
  for (const step of [...script, { does: 'heal', desk: 0, pick: 0, way: 0 } as const])
    await take(world, step);
  for (const tab of world.tabs) {
    tab.failAt(0);
    if (isQuiet(world) && tab.desk.pile.length === 0) await checkFresh(world, tab);
  }
  for (const { engine } of world.tabs) engine.dispose();
  same(world.history.check(await findIn(world.disk, ['c'])), []);
}

async function take(world: World, step: Step): Promise<void> {
  const tab = world.tab(step.desk);
  const { changes, views } = tab;
  const before = tab.engine.state.getState();
  const does: Take = steps[step.does];
  world.acting = tab;
  // At some steps a read of each other tab fails.
  for (const other of world.tabs) other.failAt(step.way === 7 && other !== tab ? (step.pick % 4) + 1 : 0);
  if ((await inTime(does(world, tab, step), step)) === false) return;
  if (step.does !== 'die' && step.does !== 'heal') {
    // What another branch shows is told at once, and its chat's row when that is written; where messages go then, all of it.
    const { branchId } = tab.engine.state.getState();
    const isLook = ['checkout', 'select', 'switch'].includes(step.does);
    const clicks = isLook ? clicksOf(step, before) : 1;
    const isSoon = isLook && (step.does !== 'switch' || before.pending.length === 0);
    const most = clicks > 1 || (isSoon && branchId !== before.branchId) ? 2 * clicks : 1;
    // Of several, one may be told with the one before it, and what another tab writes there a moment later.
    const mostViews = clicks > 1 ? most : 1;
    same([tab.views - views > mostViews, tab.changes - changes > most], [false, false]);
  }
  world.acting = undefined;
  await inTime(world.settle(), step);
  for (const { desk } of world.isRefusing ? [tab] : world.tabs) desk.look();
  learnIds(world, tab);
  if (tab.desk.pile.length === 0) world.refusedSave = undefined;
  await check(world);
}

const { setTimeout: realTimeout, clearTimeout: clearReal } = globalThis;

/** Nothing may hang. */
async function inTime<T>(work: Promise<T>, step: Step): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = realTimeout(() => reject(new Error(`hangs: ${step.does}`)), 2000);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearReal(timer);
  }
}

const stepArb: fc.Arbitrary<Step> = fc.record({
  does: fc.constantFrom(
    ...(Object.keys(steps) as (keyof typeof steps)[]),
    'set',
    'set',
    'save',
    'ask',
    'finish',
    'draft',
  ),
  desk: fc.nat(2),
  pick: fc.nat(40),
  way: fc.nat(7),
});

const turn = (['ask', 'finish'] as const).map((does) => ({ does, desk: 0, pick: 0, way: 0 }));

/** Steps behind a turn that they can be done to: most failures need few, and the right ones. */
export const shortScripts: fc.Arbitrary<Step[]> = fc
  .array(stepArb, { maxLength: 4, size: 'max' })
  .map((rest) => [...turn, ...rest]);

/** Some failures need many. */
export const longScripts: fc.Arbitrary<Step[]> = fc.array(stepArb, { maxLength: 40, size: 'max' });

/** For tabs over a database: when one dies there, the others know of its fallen locks when they look, and paper at once. */
export const endlessScripts: fc.Arbitrary<Step[]> = longScripts.map((steps) =>
  steps.filter(({ does }) => does !== 'die'),
);

function inMemory(): () => ContextStore {
  const disk = new InMemoryContextStore();
  return () => disk;
}
