import type { EngineTab, EngineWorld } from './engineWorld.ts';

/**
 * Stories of tabs, devices, faults and people, drawn from a seed, over a world of engines on a store. The story decides who
 * acts; the world acts, with its faults, and says which words it has acknowledged. In the end all devices exchange their
 * records, and the questions are those of a person: is everything there that I was told is saved, do all of us see the same, is
 * what I deleted gone, has each branch one name?
 */
export type Random = () => number;

/** The content of a message, under its key. */
export interface Words {
  readonly key: string;
  readonly text: string;
}

export interface DeletedBranch {
  readonly record: string;
  readonly head: string | null;
}

export interface NamedBranch {
  readonly name: string;
  readonly end: string;
}

/** What a page, or a database, knows. */
export interface Replica {
  readonly words: readonly Words[];
  readonly branches: readonly {
    readonly id: string;
    readonly record: string;
    readonly name: string;
    readonly head: string | null;
    /** The keys of its messages, up to its end. */
    readonly keys: readonly string[];
  }[];
  /** Everything on which all must agree, as one text. */
  readonly told: string;
  /** Other problems, in words. */
  readonly faults?: readonly string[];
}

export interface Outcome {
  readonly seed: number;
  /** Problems, in words; none in a good world. */
  readonly bad: readonly string[];
  /** Words that were acknowledged and had to be there in the end. */
  readonly words: number;
  readonly branches: number;
}

/** Numbers from 0 to below 1, the same for the same seed. */
function randomOf(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Plays one story: of a few steps, in which rare events coincide, or of many; of `most` and five at most. */
export async function simulate(
  seed: number,
  createWorld: (random: Random) => EngineWorld,
  most: number = 150,
): Promise<Outcome> {
  const random = randomOf(seed);
  const world = createWorld(randomOf(seed ^ 0x5bd1e995));
  const story = new Story(random, world);
  try {
    await story.play(Math.floor(5 + random() ** 2 * most));
    return { seed, ...(await story.end()) };
  } finally {
    await world.close();
  }
}

interface Page {
  readonly tab: EngineTab;
  readonly device: number;
  /** For how many more steps it is frozen. */
  frozen: number;
}

class Story {
  #pages: Page[] = [];
  readonly #acknowledged = new Map<string, Words>();
  #deletions: DeletedBranch[] = [];
  readonly #names: NamedBranch[] = [];
  #given = 0;
  readonly #random: Random;
  readonly #world: EngineWorld;
  /** Whether people tidy up at the end of the story, all of them at once. */
  readonly #isTidy: boolean;

  constructor(random: Random, world: EngineWorld) {
    this.#random = random;
    this.#world = world;
    this.#isTidy = random() < 0.2;
  }

  async play(steps: number): Promise<void> {
    for (let i = 0; i < 3; i += 1) await this.#open();
    for (let i = 0; i < steps; i += 1) {
      this.#world.pass(1 + Math.floor(this.#random() * 50));
      for (const page of this.#pages) page.frozen -= 1;
      const page = this.#pick(this.#pages.filter(({ frozen }) => frozen < 0)) ?? (await this.#open());
      await this.#act(page);
      for (const { tab } of this.#pages)
        for (const words of tab.acknowledged()) this.#acknowledged.set(`${words.key} ${words.text}`, words);
    }
  }

  async end(): Promise<Omit<Outcome, 'seed'>> {
    for (let i = 0; this.#isTidy && i < 40; i += 1) {
      const page = this.#pick(this.#pages);
      if (page) await this.#deleteBranch(page.tab);
    }
    await this.#world.settle();
    const replicas = await this.#world.replicas();
    const words = [...this.#acknowledged.values()].filter(({ key }) => !this.#world.isDeleted(key));
    const bad = [
      ...(new Set(replicas.map(({ told }) => told)).size > 1 ? ['they do not agree'] : []),
      ...replicas.flatMap((replica) => [
        ...this.#branchFaults(replica),
        ...this.#deletionFaults(replica),
        ...this.#nameFaults(replica),
        ...this.#wordFaults(replica, words),
        ...(replica.faults ?? []),
      ]),
    ];
    return { bad: [...new Set(bad)], words: words.length, branches: replicas[0]?.branches.length ?? 0 };
  }

  #pick<T>(all: readonly T[]): T | undefined {
    return all[Math.floor(this.#random() * all.length)];
  }

  async #open(like?: Page): Promise<Page> {
    const device = like?.device ?? Math.floor(this.#random() * this.#world.deviceCount);
    const page = { tab: await this.#world.open(device, like?.tab), device, frozen: -1 };
    this.#pages.push(page);
    return page;
  }

  async #act(page: Page): Promise<void> {
    const { tab, device } = page;
    const acts: [number, () => unknown][] = [
      [30, () => tab.ask()],
      [6, () => tab.answerLate()],
      [8, () => tab.fork()],
      [10, () => tab.rewrite()],
      [6, () => this.#deleteBranch(tab)],
      [3, () => tab.undoOrRedo()],
      [4, () => this.#nameBranch(tab)],
      [3, () => tab.switchBranch()],
      [3, () => tab.importSource()],
      [3, () => this.#open()],
      [2, () => this.#open(page)],
      [2, () => this.#close(page)],
      [3, () => void (page.frozen = 8)],
      [1.5, () => this.#lose(() => this.#world.loseDatabase(device))],
      [1, () => this.#lose(() => this.#world.clear())],
      [1, () => this.#lose(() => tab.deleteChat())],
      [4, () => this.#world.meet(device, (device + 1) % this.#world.deviceCount)],
      [4, () => tab.write()],
      [4, () => tab.read()],
    ];
    let left = this.#random() * acts.reduce((sum, [weight]) => sum + weight, 0);
    await acts.find(([weight]) => (left -= weight) < 0)?.[1]();
  }

  async #deleteBranch(tab: EngineTab): Promise<void> {
    const gone = await tab.deleteBranch();
    if (gone) this.#deletions.push(gone);
  }

  async #nameBranch(tab: EngineTab): Promise<void> {
    const named = await tab.nameBranch(`name${(this.#given += 1)}`);
    if (named) this.#names.push(named);
  }

  async #close(page: Page): Promise<void> {
    this.#pages = this.#pages.filter((other) => other !== page);
    await this.#lose(() => page.tab.close());
  }

  /** Deletions that nobody else has read may be lost: those are not checked, either. */
  async #lose(act: () => unknown): Promise<void> {
    await act();
    this.#deletions = [];
    await this.#forget();
  }

  /** Words that nobody has any more can't come back. */
  async #forget(): Promise<void> {
    const replicas = await this.#world.replicas();
    const there = new Set(replicas.flatMap(({ words }) => words.map(({ key, text }) => `${key} ${text}`)));
    for (const words of this.#acknowledged.keys()) if (!there.has(words)) this.#acknowledged.delete(words);
  }

  #branchFaults({ branches, words }: Replica): string[] {
    const isTwice = (of: (branch: Replica['branches'][number]) => string): boolean =>
      new Set(branches.map(of)).size < branches.length;
    return [
      ...(isTwice(({ name }) => name) ? ['one name twice'] : []),
      ...(isTwice(({ id }) => id) ? ['one id twice'] : []),
      ...(branches.length === 0 && words.length > 0 ? ['no branch is left'] : []),
    ];
  }

  #deletionFaults({ branches }: Replica): string[] {
    const isBack = ({ record, head }: DeletedBranch): boolean =>
      branches.length > 1 && branches.some((branch) => branch.record === record && branch.head === head);
    return this.#deletions.some(isBack) ? ['a deleted branch is back'] : [];
  }

  #nameFaults({ branches }: Replica): string[] {
    const isWrong = ({ name, end }: NamedBranch): boolean =>
      branches.some((branch) => branch.name === name && !branch.keys.includes(end));
    return this.#names.some(isWrong) ? ['a name is on another branch'] : [];
  }

  #wordFaults({ words, branches }: Replica, acknowledged: readonly Words[]): string[] {
    const there = new Set(words.map(({ key, text }) => `${key} ${text}`));
    const reached = new Set(branches.flatMap(({ keys }) => keys));
    return [
      ...acknowledged.flatMap(({ key, text }) => {
        if (!there.has(`${key} ${text}`)) {
          const isReplaced = this.#world.hasLost && words.some((one) => one.key === key);
          return isReplaced ? [] : ['words are lost'];
        }
        return reached.has(key) || this.#world.givenUp.has(key) ? [] : ['words are on no branch'];
      }),
      ...(words.some(({ key }) => this.#world.isDeleted(key)) ? ['words of a deleted chat are back'] : []),
    ];
  }
}
