import { type BrowserContext, expect, type Page } from '@playwright/test';
import fc from 'fast-check';
import type * as Contextree from '../../src/core.ts';
import { Demo } from './demo.ts';
import { Profile } from './profile.ts';
import { test } from './test.ts';
import { type FoundChat, TurnLog } from './turnLog.ts';

// Real tabs that write to one chat as fast as they can, while one after the other is closed, crashes, or goes with the
// whole browser. What they were told is saved is held against what the disk has in the end. While a page opens the others
// rest: all of them write at once, and nobody alone.
//
// `npm test` plays two of the crowds, with three kills each, one of each way: two tabs, and five that have neither Web Locks nor
// BroadcastChannel. `CONTEXTREE_KILLS=20` kills so often, with as many more saved turns, in all four crowds, and plays the
// planted mistakes that prove the log: so does `npm run soak`.

const ASKED = process.env['CONTEXTREE_KILLS'];
const KILLS = Number(ASKED ?? 3);
const TURNS = KILLS * 10;

/** As in `test/support/campaign.ts`: other kills each time, but in CI; `CONTEXTREE_SEED` draws the same again. */
const SEED = Number(process.env['CONTEXTREE_SEED'] ?? (process.env['CI'] ? 1 : Date.now() % 2 ** 31));

declare const contextree: typeof Contextree;
/** Notes what a tab asks for next, and the turn before, which it was told is saved. Resolves when all tabs are there. */
declare const tell: (tab: string, asks: string, saved: string | null) => Promise<void>;

/** Talks until it is killed: each turn is a question and an answer, saved together. */
async function talk(tab: string): Promise<void> {
  const store = new contextree.IndexedDBContextStore('kills');
  const engine = new contextree.ContextEngine({ store, chatId: 'c', userId: 'me' });
  let saved: string | null = null;
  for (let i = 0; ; i += 1) {
    const id = `${tab}.${i}`;
    await tell(tab, id, saved);
    engine.set(
      contextree.user(`asked ${id}`, { id: `q${id}` }),
      contextree.assistantText(`said ${id}`, { id: `a${id}` }),
    );
    await engine.save();
    // In memory nothing is saved that lasts, and an app says so.
    if (store.persistence !== 'indexeddb') throw new Error(`${tab} writes to memory`);
    saved = id;
  }
}

/** The chat as it lies in the database, and what is wrong with it. */
async function look(): Promise<{ found: FoundChat; findings: unknown[] }> {
  const losses: unknown[] = [];
  const store = new contextree.IndexedDBContextStore('kills', {
    onDataLoss: ({ kind, noticedBy, reason }) => losses.push({ lost: kind, noticedBy, reason }),
  });
  const records = (await store.load('c')).messages.toSorted((a, b) => a.at - b.at);
  if (store.persistence !== 'indexeddb') throw new Error('The database does not open');
  const idOf = new Map(records.map(({ key, id }) => [key, id]));
  const keys = records.map(({ key }) => key);
  const bodies = await store.bodies('c', keys, records);
  const branches = await store.listBranches('c');
  const chains = branches.map(({ headKey }) => store.getMessageChain('c', headKey ?? ''));
  const engine = new contextree.ContextEngine({ store, chatId: 'c', userId: 'me' });
  const findings = await engine.verify();
  return {
    found: {
      messages: records.map(({ key, id, parent }) => {
        const parts = bodies.get(key)?.message.parts ?? [];
        const words = parts.map((part) => (part.type === 'text' ? part.text : ''));
        return { id, parentId: idOf.get(parent ?? '') ?? null, words: words.join(' ') };
      }),
      chains: (await Promise.all(chains)).map((chain) => chain.map(({ id }) => id)),
    },
    findings: [...losses, ...findings],
  };
}

/** What some browsers lack. */
type Lack = 'locks' | 'channels';

function takeAway(lacks: readonly Lack[]): void {
  if (lacks.includes('channels')) Reflect.deleteProperty(globalThis, 'BroadcastChannel');
  if (lacks.includes('locks')) Object.defineProperty(navigator, 'locks', { value: undefined });
}

// --- Mistakes that tabs lose words by, made in a page, each by one patch -------------------------------------------------

/** What a page has read or written of counters, chats and heads is what it reads ever after, whoever else writes. */
function readWhatTheyRemember(): void {
  const known = new Map<string, unknown>();
  const get = Reflect.get(IDBObjectStore.prototype, 'get');
  const getAll = Reflect.get(IDBObjectStore.prototype, 'getAll');
  const openCursor = Reflect.get(IDBIndex.prototype, 'openCursor');
  const put = Reflect.get(IDBObjectStore.prototype, 'put');
  /** Lets a request for one row tell what is known of it; `of` and `as` say where the row lies in its result. */
  const remember = <T>(
    request: IDBRequest<T>,
    name: string,
    of: (result: T) => unknown,
    as: (row: unknown) => unknown,
  ): IDBRequest<T> => {
    if (known.has(name)) Object.defineProperty(request, 'result', { get: () => as(known.get(name)) });
    else request.addEventListener('success', () => known.set(name, of(request.result)));
    return request;
  };
  const isKept = (name: string): boolean => ['meta', 'chats', 'facts'].includes(name);
  const nameOf = (store: string, key: unknown): string => `${store} ${JSON.stringify(key)}`;
  IDBObjectStore.prototype.get = function (key) {
    const request = get.call(this, key);
    const itself = (row: unknown): unknown => row;
    return isKept(this.name) ? remember(request, nameOf(this.name, key), itself, itself) : request;
  };
  IDBObjectStore.prototype.getAll = function (range, limit) {
    const request = getAll.call(this, range, limit);
    const { lower, upper } = Object(range) as Partial<IDBKeyRange>;
    const name = nameOf(this.name, lower);
    const isOne = isKept(this.name) && lower !== undefined && name === nameOf(this.name, upper);
    return isOne
      ? remember(
          request,
          name,
          ([row]) => row,
          (row) => (row ? [row] : []),
        )
      : request;
  };
  // The chat that changed last is the only one.
  IDBIndex.prototype.openCursor = function (query, direction) {
    const request = openCursor.call(this, query, direction);
    if (this.objectStore.name !== 'chats') return request;
    return remember(
      request,
      nameOf('chats', 'c'),
      (cursor) => cursor?.value,
      (value) => ({ value }),
    );
  };
  IDBObjectStore.prototype.put = function (
    row: { chatId?: string; kind?: string; id?: string; chat?: string },
    key,
  ) {
    const own = key ?? (row.chatId === undefined ? row.id : [row.chatId, row.kind, row.id, row.chat]);
    if (isKept(this.name)) known.set(nameOf(this.name, own), row);
    return put.call(this, row, key);
  };
}

/** The messages of a turn follow their branch in a transaction of their own, a moment later. */
function writeInTwoTransactions(): void {
  const put = Reflect.get(IDBObjectStore.prototype, 'put');
  IDBObjectStore.prototype.put = function (row: unknown, key) {
    const { name, transaction } = this;
    if (name !== 'nodes' && name !== 'bodies') return put.call(this, row, key);
    setTimeout(
      () => put.call(transaction.db.transaction(name, 'readwrite').objectStore(name), row, key),
      100,
    );
    return this.count() as unknown as IDBRequest<IDBValidKey>;
  };
}

const WAYS = ['crash', 'browser', 'close'] as const;

/** A kill: how, of which tab, and how long after the turn that it waits for, ms. */
interface Kill {
  readonly way: (typeof WAYS)[number];
  readonly pick: number;
  readonly rest: number;
}

/** So many kills, drawn by lot: every way in any order, any tab, at any moment of a write. */
function drawn(many: number, seed: number): Kill[] {
  const rounds = fc.shuffledSubarray([...WAYS], { minLength: WAYS.length });
  const ways = fc.sample(rounds, { numRuns: Math.ceil(many / WAYS.length), seed }).flat();
  const places = fc.sample(fc.record({ pick: fc.nat(59), rest: fc.nat(40) }), { numRuns: many, seed });
  return places.map((place, i) => ({ way: ways[i] ?? 'crash', ...place }));
}

class Crowd {
  readonly #profile: Profile;
  readonly #lacks: readonly Lack[];
  readonly #mistake: () => void;
  readonly #log = new TurnLog();
  readonly #tabs: Page[] = [];
  kept = 0;
  /** How many turns of each tab were told as saved. */
  readonly keptOf = new Map<string, number>();
  #named = 0;
  /** Resolves when all tabs are open. */
  #all = Promise.withResolvers<void>();

  constructor(profile: Profile, lacks: readonly Lack[], mistake = (): void => {}) {
    this.#profile = profile;
    this.#lacks = lacks;
    this.#mistake = mistake;
  }

  async begin(tabs: number): Promise<void> {
    await this.#profile.start((context) => this.#prepare(context));
    await this.fill(tabs);
  }

  async #prepare(context: BrowserContext): Promise<void> {
    await context.addInitScript(takeAway, this.#lacks);
    await context.addInitScript(this.#mistake);
    await context.exposeFunction('tell', async (tab: string, asks: string, saved: string | null) => {
      if (saved !== null) {
        this.#log.tell([`q${saved}`, `a${saved}`]);
        this.kept += 1;
        this.keptOf.set(tab, (this.keptOf.get(tab) ?? 0) + 1);
      }
      await this.#all.promise;
      this.#log.ask(tab, { [`q${asks}`]: `asked ${asks}`, [`a${asks}`]: `said ${asks}` });
    });
  }

  /** Opens tabs until there are so many. */
  async fill(tabs: number): Promise<void> {
    this.#all = Promise.withResolvers();
    while (this.#tabs.length < tabs) {
      const page = await this.#profile.open();
      this.#named += 1;
      this.#tabs.push(page);
      void page.evaluate(talk, `t${this.#named}`).catch(() => undefined);
    }
    this.#all.resolve();
  }

  async kill({ way, pick, rest }: Kill, tabs: number): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, rest));
    if (way === 'browser') {
      await this.killAll();
      await this.begin(tabs);
      return;
    }
    const [page] = this.#tabs.splice(pick % this.#tabs.length, 1);
    if (!page) return;
    if (way === 'crash') {
      const session = await page.context().newCDPSession(page);
      const crashed = page.waitForEvent('crash');
      void session.send('Page.crash').catch(() => undefined);
      await crashed;
    }
    await page.close();
    await this.fill(tabs);
  }

  async killAll(): Promise<void> {
    await this.#profile.kill();
    this.#tabs.length = 0;
  }

  /** What is wrong in the end. */
  async problems(): Promise<unknown[]> {
    await this.killAll();
    await this.#profile.start();
    const { found, findings } = await (await this.#profile.open()).evaluate(look);
    return [...this.#log.problemsOf(found), ...findings];
  }
}

const CROWDS: readonly (readonly [tabs: number, lacks: readonly Lack[]])[] = [
  [2, []],
  [5, ['locks', 'channels']],
  ...(ASKED === undefined
    ? []
    : ([
        [3, ['locks']],
        [2, ['channels']],
      ] as const)),
];

for (const [number, [tabs, lacks]] of CROWDS.entries()) {
  test.describe(`${tabs} tabs${lacks.length > 0 ? ` without ${lacks.join(' and ')}` : ''}`, () => {
    test('that are killed while they write lose nothing that was saved', async () => {
      test.setTimeout(60_000 + KILLS * 10_000);
      const profile = await Profile.create();
      try {
        const crowd = new Crowd(profile, lacks);
        await crowd.begin(tabs);
        for (const [i, kill] of drawn(KILLS, SEED + number).entries()) {
          const wanted = (TURNS / KILLS) * (i + 1);
          await expect
            .poll(() => crowd.kept, { intervals: [20], timeout: 60_000 })
            .toBeGreaterThanOrEqual(wanted);
          await crowd.kill(kill, tabs);
        }
        expect(await crowd.problems(), `seed ${SEED}`).toEqual([]);
        console.log(`${tabs} tabs: ${KILLS} kills, ${crowd.kept} turns told as saved, none lost`);
        test.info().annotations.push({ type: 'cases', description: String(KILLS) });
      } finally {
        await profile.remove();
      }
    });
  });
}

test('what is said behind a commit that a kill tore in two outlives the next kill, too', async () => {
  const profile = await Profile.create();
  try {
    const crowd = new Crowd(profile, []);
    const talkOn = async (): Promise<void> => {
      const wanted = crowd.kept + 10;
      await crowd.begin(1);
      await expect
        .poll(() => crowd.kept, { intervals: [20], timeout: 60_000 })
        .toBeGreaterThanOrEqual(wanted);
    };
    await talkOn();
    await crowd.killAll();
    // Chromium renews a log by itself, too, but seconds later.
    expect(await profile.tearLogs()).toBe(1);
    await talkOn();
    expect(await crowd.problems()).toEqual([]);
  } finally {
    await profile.remove();
  }
});

/** What a problem says: those of the log are words, those that are found in the chat have some. */
function wordsOf(problem: unknown): string {
  return typeof problem === 'string' ? problem : ((problem as { readonly text?: string }).text ?? '');
}

const MISTAKES = [
  [
    'read what they remember',
    readWhatTheyRemember,
    /lost|out of reach|nobody's words|without its parent|a hole/,
  ],
  // What was told is lost, or what was not is there by half.
  ['write in two transactions', writeInTwoTransactions, /lost|ends in a message that is gone/],
] as const;

for (const [name, mistake, words] of ASKED === undefined ? [] : MISTAKES)
  test(`the log of two tabs finds that they ${name}`, async () => {
    const profile = await Profile.create();
    try {
      const crowd = new Crowd(profile, [], mistake);
      const keeps = (tab: string, turns: number): Promise<void> =>
        expect.poll(() => crowd.keptOf.get(tab) ?? 0, { intervals: [20] }).toBeGreaterThanOrEqual(turns);
      // The second one finds what the first one said, and then both write at once.
      await crowd.begin(1);
      await keeps('t1', 1);
      await crowd.fill(2);
      await keeps('t2', 10);
      expect((await crowd.problems()).map(wordsOf).join('; ')).toMatch(words);
    } finally {
      await profile.remove();
    }
  });

test('an answer that was growing when the browser was killed is there, and can be continued', async ({
  baseURL,
}) => {
  const profile = await Profile.create();
  const open = async (address: string): Promise<Demo> => {
    await profile.start();
    const demo = new Demo(await profile.context.newPage());
    await demo.page.goto(address);
    await demo.message.waitFor();
    return demo;
  };
  try {
    const before = await open(`${baseURL}/?empty`);
    await before.send('A slow answer please');
    await before.streaming(5);
    const seen = await before.answer();
    // Drafts are half a second apart.
    await before.page.waitForTimeout(1000);
    const address = before.page.url();
    await profile.kill();

    // As a browser opens its tabs again.
    const after = await open(address.replace('/?empty#', '/?empty&speed=0#'));
    await expect(after.assistant).toContainText('Interrupted');
    const kept = await after.answer();
    expect(kept.startsWith(seen.slice(0, -20))).toBe(true);
    await after.on(after.assistant, 'Continue').click();
    await after.settled();
    await expect(after.assistant).not.toContainText('Interrupted');
    const whole = await after.answer();
    expect(whole.startsWith(kept.slice(0, -20))).toBe(true);
    expect(whole.split(' ').length).toBeGreaterThanOrEqual(40);
    await expect(after.assistant).toHaveCount(1);
  } finally {
    await profile.remove();
  }
});
