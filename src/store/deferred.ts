import { refuseToLoad } from '../errors.ts';
import type { DataLoss } from './loss.ts';
import type { ContextStore, Persistence, StoreNotice } from './store.ts';

/** What the stores of this package can tell beyond the contract. */
export type OwnStore = ContextStore & Required<Pick<ContextStore, 'salvage' | 'storage' | 'persist'>>;

/** The methods that answer with a promise. */
type Answering = Exclude<keyof OwnStore, 'persistence' | 'dataLoss' | 'subscribe' | 'close'>;

/**
 * A store whose code comes when it is first used.
 *
 * A page paints before it reads, and a server that only renders never reads at all. So what people make is this: a
 * store by name, a few hundred bytes, that fetches the store itself with its first call and hands everything on. Who
 * listens is kept here, so that one can listen before there is anything to hear.
 */
export class DeferredStore implements ContextStore {
  readonly #open: () => Promise<OwnStore>;
  readonly #expected: Persistence;
  readonly #listeners: Set<{ readonly hear: (notice: StoreNotice) => void }> = new Set();
  #opening: Promise<OwnStore> | undefined;
  #store: OwnStore | undefined;
  #stop: (() => void) | undefined;

  readonly load: OwnStore['load'] = this.#later('load');
  readonly getChat: OwnStore['getChat'] = this.#later('getChat');
  readonly getMessage: OwnStore['getMessage'] = this.#later('getMessage');
  readonly getMessageChain: OwnStore['getMessageChain'] = this.#later('getMessageChain');
  readonly getNodes: OwnStore['getNodes'] = this.#later('getNodes');
  readonly getMessages: OwnStore['getMessages'] = this.#later('getMessages');
  readonly listBranches: OwnStore['listBranches'] = this.#later('listBranches');
  readonly listCheckpoints: OwnStore['listCheckpoints'] = this.#later('listCheckpoints');
  readonly getGraph: OwnStore['getGraph'] = this.#later('getGraph');
  readonly listChats: OwnStore['listChats'] = this.#later('listChats');
  readonly searchMessages: OwnStore['searchMessages'] = this.#later('searchMessages');
  readonly salvage: OwnStore['salvage'] = this.#later('salvage');
  readonly changesSince: OwnStore['changesSince'] = this.#later('changesSince');
  readonly append: OwnStore['append'] = this.#later('append');
  readonly saveDraft: OwnStore['saveDraft'] = this.#later('saveDraft');
  readonly deleteChat: OwnStore['deleteChat'] = this.#later('deleteChat');
  readonly restoreChat: OwnStore['restoreChat'] = this.#later('restoreChat');
  readonly get: OwnStore['get'] = this.#later('get');
  readonly set: OwnStore['set'] = this.#later('set');
  readonly delete: OwnStore['delete'] = this.#later('delete');
  readonly putBlob: OwnStore['putBlob'] = this.#later('putBlob');
  readonly getBlob: OwnStore['getBlob'] = this.#later('getBlob');
  readonly hold: OwnStore['hold'] = this.#later('hold');
  readonly held: OwnStore['held'] = this.#later('held');
  readonly clear: OwnStore['clear'] = this.#later('clear');
  readonly storage: OwnStore['storage'] = this.#later('storage');
  readonly persist: OwnStore['persist'] = this.#later('persist');

  /** `expected` is what `persistence` says before the store is there. */
  constructor(expected: Persistence, open: () => Promise<OwnStore>) {
    this.#expected = expected;
    this.#open = open;
  }

  get persistence(): Persistence {
    return this.#store?.persistence ?? this.#expected;
  }

  subscribe(listener: (notice: StoreNotice) => void): () => void {
    const own = { hear: listener };
    this.#listeners.add(own);
    // A failure to load is met again, and told, by the first call.
    void this.#ready().then(
      (store) => this.#listen(store),
      () => undefined,
    );
    return () => this.#listeners.delete(own);
  }

  get dataLoss(): DataLoss | undefined {
    return this.#store?.dataLoss;
  }

  async close(): Promise<void> {
    this.#listeners.clear();
    const store = await this.#opening?.catch(() => undefined);
    this.#stop?.();
    this.#stop = undefined;
    await store?.close();
  }

  /** A method that is the store's own. It is called at once where the store is there, so that arguments count as they are now. */
  #later<K extends Answering>(name: K): OwnStore[K] {
    const answer = (...args: unknown[]): unknown => {
      const call = (store: OwnStore): unknown => Reflect.apply(store[name], store, args);
      return this.#store ? call(this.#store) : this.#ready().then(call);
    };
    return answer as OwnStore[K];
  }

  #ready(): Promise<OwnStore> {
    this.#opening ??= this.#load();
    return this.#opening;
  }

  async #load(): Promise<OwnStore> {
    try {
      this.#store = await this.#open();
      this.#listen(this.#store);
      return this.#store;
    } catch (cause) {
      this.#opening = undefined;
      return refuseToLoad(cause);
    }
  }

  /** Hears what the store tells, once; a store that was closed has forgotten us. */
  #listen(store: OwnStore): void {
    this.#stop ??= store.subscribe((notice) => this.#tell(notice));
  }

  /** A listener that throws does not keep the others from hearing. */
  #tell(notice: StoreNotice): void {
    for (const { hear } of this.#listeners) {
      try {
        hear(notice);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}
