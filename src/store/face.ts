import { expectListener, refuseToLoad } from '../errors.ts';
import type { ContextStore, StoreNotice, StoreReads } from './store.ts';
import type { Access } from './tables/usual.ts';

/** The calls on tables, of `tables/usual.ts` and `tables/rarely.ts`, by the texts that they take first; `commit` looks at its own. */
const CALLS = {
  '': 'commit listChats changesSince putBlob clear storage',
  chatId: 'load bodies saveDraft getChat held deleteChat restoreChat examine',
  'chatId key': 'hold revisions',
  key: 'get set delete',
  hash: 'getBlob',
};

/** The reads that are built on those calls, with the file that has them. */
const READS = [
  [
    'getMessage getMessageChain getMessages listBranches listCheckpoints getGraph',
    () => import('./reads.ts'),
  ],
  ['searchMessages', () => import('./search.ts')],
] as const;

type Read = (store: Face, ...args: readonly unknown[]) => Promise<unknown>;
type NoCall = 'persistence' | 'persist' | 'subscribe' | 'close' | keyof StoreReads;
interface CallsOfStore extends Required<Omit<ContextStore, NoCall>> {}

/**
 * The methods of a store, whose code is loaded on first use. If the code is there, a call is passed on synchronously: a page
 * that is going away has no other task. Otherwise a copy of its arguments waits, and so do later calls, in order.
 */
abstract class Face {
  readonly #listeners = new Set<{ readonly hear: (notice: StoreNotice) => void }>();
  /** The tables, once they are loaded. */
  protected access: Access | undefined;
  #opening: Promise<Access> | undefined;
  /** Loads the code of a call. */
  #coming: Promise<unknown> | undefined;

  /** Adds the methods; called where the class is used, so that bundlers can remove it. */
  static withCalls(): abstract new () => StoreFace {
    const define = (
      name: string,
      value: (this: Face, ...args: readonly unknown[]) => Promise<unknown>,
    ): void =>
      void Object.defineProperty(Face.prototype, name, { value, configurable: true, writable: true });
    for (const [texts, names] of Object.entries(CALLS))
      for (const name of names.split(' '))
        define(name, function (...args) {
          return this.call(name, args, texts);
        });
    for (const [names, load] of READS)
      for (const name of names.split(' '))
        define(name, async function (...args) {
          const reads: object = await load().catch(refuseToLoad);
          return (reads as Readonly<Record<string, Read>>)[name]?.(this, ...args);
        });
    return Face as unknown as abstract new () => StoreFace;
  }

  protected async call(name: string, args: readonly unknown[], texts: string): Promise<unknown> {
    // A draft waits for no other call: the page may be about to go.
    const isHere = this.access?.calls[name] && (!this.#coming || name === 'saveDraft');
    if (isHere) return this.#use(this.access as Access, name, args, texts);
    const own = args.map(copyNow);
    await this.#coming?.catch(() => undefined);
    const access = await this.arrive();
    if (!access.calls[name]) {
      this.#coming ??= import('./tables/rarely.ts').then(
        (rarely) => (access.calls = { ...access.calls, ...rarely }),
        refuseToLoad,
      );
      await this.#coming.finally(() => (this.#coming = undefined));
    }
    return this.#use(this.access ?? access, name, own, texts);
  }

  /** Loads the tables; `hear` is called for changes of other tabs. */
  protected abstract open(hear: (notice: StoreNotice) => void): Promise<Access>;

  async #use(access: Access, name: string, args: readonly unknown[], texts: string): Promise<unknown> {
    try {
      return await access.call(name, args, texts);
    } catch (error) {
      const other = await this.instead(error);
      if (other === access) throw error;
      return this.#use(other, name, args, texts);
    }
  }

  /** The tables that take the place of failing ones. Throws the error where none do. */
  protected async instead(error: unknown): Promise<Access> {
    throw error;
  }

  /** The tables, once they are loaded. */
  protected async arrive(): Promise<Access> {
    this.#opening ??= this.open(this.hear).then((access) => (this.access = access));
    this.#opening.catch(() => (this.#opening = undefined));
    return this.access ?? this.#opening;
  }

  /** Calls every listener, even if one throws. */
  protected readonly hear = (notice: StoreNotice): void => {
    for (const { hear } of this.#listeners) {
      try {
        hear(notice);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  };

  subscribe(hear: (notice: StoreNotice) => void): () => void {
    expectListener(hear);
    const own = { hear };
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  async close(): Promise<void> {
    this.#listeners.clear();
    await this.#opening?.catch(() => undefined);
    this.access?.close();
    this.access = this.#opening = undefined;
  }
}

export interface StoreFace extends Face, CallsOfStore, StoreReads {}

export const StoreFace: abstract new () => StoreFace = /* @__PURE__ */ Face.withCalls();

function copyNow(value: unknown): unknown {
  try {
    return structuredClone(value);
  } catch {
    // The store's own check throws for it.
    return value;
  }
}
