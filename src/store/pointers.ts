import type { Branch, Checkpoint } from '../graph/graph.ts';
import { nextBranchName } from '../graph/graph.ts';

/**
 * The branches or the checkpoints of a chat, as they will be when an append is through.
 *
 * Most operations speak of one branch, by its id, and only that is read. What asks for a name, or for all, needs all of
 * them; an append may bring thousands of such operations, and a chat may have thousands of branches. So they are read
 * once, and what is asked of them afterwards is looked up, not looked for.
 */
export class Pointers<T extends Branch | Checkpoint> {
  readonly #one: (id: string) => Promise<T | undefined>;
  readonly #list: () => Promise<readonly T[]>;
  readonly #told = new Map<string, T>();
  #all: Map<string, T> | undefined;
  /** The ids of live ones, by their name. */
  readonly #named = new Map<string, Set<string>>();
  #live = 0;
  /** Where to go on looking for a free name, by what it begins with. */
  readonly #numbers = new Map<string, number>();
  /** The ids of those that end at a message, once that is asked. */
  #ends: Map<string | null, Set<string>> | undefined;

  /** How one is read, and how all are, in the order in which they were made. */
  constructor(one: (id: string) => Promise<T | undefined>, list: () => Promise<readonly T[]>) {
    this.#one = one;
    this.#list = list;
  }

  /** Those that were changed, or found as they should be: what the result tells of. */
  get told(): T[] {
    return [...this.#told.values()];
  }

  /** One that the result tells of. */
  toldOf(id: string): T | undefined {
    return this.#told.get(id);
  }

  /** Puts one as it will be, or as it was found. */
  tell(pointer: T): void {
    const { id } = pointer;
    this.#told.set(id, pointer);
    if (!this.#all) return;
    const before = this.#all.get(id);
    this.#rename(before, pointer);
    if (before) this.#ends?.get(endOf(before))?.delete(id);
    if (this.#ends) addEnd(this.#ends, pointer);
    this.#all.set(id, pointer);
  }

  /** Forgets those that were to be made. */
  clear(): void {
    this.#told.clear();
    this.#all = undefined;
    this.#ends = undefined;
    this.#named.clear();
    this.#numbers.clear();
    this.#live = 0;
  }

  /** One by its id, deleted ones too. */
  async find(id: string): Promise<T | undefined> {
    return this.#told.get(id) ?? (this.#all ? this.#all.get(id) : this.#one(id));
  }

  /** All, deleted ones too, in the order in which they were made. */
  async all(): Promise<T[]> {
    return [...(await this.#load()).values()];
  }

  /** Those that end at a message, deleted ones too. */
  async endingAt(messageId: string): Promise<T[]> {
    const all = await this.#load();
    if (!this.#ends) {
      this.#ends = new Map();
      for (const pointer of all.values()) addEnd(this.#ends, pointer);
    }
    return [...(this.#ends.get(messageId) ?? [])].map((id) => all.get(id) as T);
  }

  /** How many there are, deleted ones too; and how many live ones. */
  async counts(): Promise<{ readonly all: number; readonly live: number }> {
    return { all: (await this.#load()).size, live: this.#live };
  }

  /** The live one of a name. */
  async named(name: string): Promise<T | undefined> {
    const all = await this.#load();
    const [id] = this.#named.get(name) ?? [];
    return id === undefined ? undefined : all.get(id);
  }

  /** The next free name of a branch that is made from one of this name. */
  async nextName(base: string): Promise<string> {
    await this.#load();
    const name = nextBranchName(base, this.#named, this.#numbers.get(base));
    this.#numbers.set(base, Number(name.slice(base.length + 2)));
    return name;
  }

  async #load(): Promise<Map<string, T>> {
    if (this.#all) return this.#all;
    const stored = await this.#list();
    const all = new Map([...stored.map((pointer) => [pointer.id, pointer] as const), ...this.#told]);
    for (const pointer of all.values()) this.#rename(undefined, pointer);
    return (this.#all = all);
  }

  #rename(before: T | undefined, after: T): void {
    this.#live += Number(isLive(after)) - Number(before !== undefined && isLive(before));
    if (before && isLive(before) && isLive(after) && before.name === after.name) return;
    if (before && isLive(before)) {
      const ids = this.#named.get(before.name);
      ids?.delete(before.id);
      if (ids?.size === 0) this.#named.delete(before.name);
      this.#free(before.name);
    }
    if (isLive(after)) this.#named.set(after.name, (this.#named.get(after.name) ?? new Set()).add(after.id));
  }

  /** A name can be given again: it may be the first free one of those with its beginning. */
  #free(name: string): void {
    const [, base = '', number] = /^(.*)-v(\d+)$/s.exec(name) ?? [];
    const first = this.#numbers.get(base);
    if (first !== undefined && Number(number) < first) this.#numbers.set(base, Math.max(2, Number(number)));
  }
}

function addEnd(ends: Map<string | null, Set<string>>, pointer: Branch | Checkpoint): void {
  const end = endOf(pointer);
  ends.set(end, (ends.get(end) ?? new Set()).add(pointer.id));
}

function endOf(pointer: Branch | Checkpoint): string | null {
  return 'messageId' in pointer ? pointer.messageId : pointer.headMessageId;
}

/** Whether a chat, a branch or a checkpoint is not deleted. */
export function isLive(thing: { readonly deletedAt?: number }): boolean {
  return thing.deletedAt === undefined;
}
