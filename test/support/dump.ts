/**
 * A whole database as JSON and back, with the platform's own calls and nothing of ours: what an older version of this
 * package has left on a disk is kept in such files, so that later versions can be held to open it.
 *
 * Values are what JSON keeps, and half surrogates, which JSON text keeps escaped.
 */
export interface DatabaseDump {
  readonly version: number;
  readonly stores: readonly StoreDump[];
}

interface StoreDump {
  readonly name: string;
  readonly keyPath: string | string[] | null;
  readonly indexes: readonly {
    readonly name: string;
    readonly keyPath: string | string[];
    readonly unique: boolean;
    readonly multiEntry: boolean;
  }[];
  readonly rows: readonly { readonly key: IDBValidKey; readonly value: unknown }[];
}

/** Everything in a database, at its present version. */
export async function dumpDatabase(name: string): Promise<DatabaseDump> {
  const db = await openDatabase(name);
  const dump = await dumpOf(db);
  db.close();
  return dump;
}

/** A connection to a database, at its present version. */
export function openDatabase(name: string): Promise<IDBDatabase> {
  return answer(indexedDB.open(name));
}

/** Everything that an open database holds, at one moment. */
export async function dumpOf(db: IDBDatabase): Promise<DatabaseDump> {
  // One transaction: each costs a browser more than what is read in it.
  const tx = db.transaction([...db.objectStoreNames]);
  const stores = [...db.objectStoreNames].map((name) => dumpStore(tx.objectStore(name)));
  return { version: db.version, stores: await Promise.all(stores) };
}

async function dumpStore(store: IDBObjectStore): Promise<StoreDump> {
  const indexes = [...store.indexNames].map((each) => store.index(each));
  const [keys, values] = await Promise.all([answer(store.getAllKeys()), answer(store.getAll())]);
  return {
    name: store.name,
    keyPath: store.keyPath,
    indexes: indexes.map(({ name, keyPath, unique, multiEntry }) => ({ name, keyPath, unique, multiEntry })),
    rows: keys.map((key, i) => ({ key, value: values[i] })),
  };
}

/** Makes a database from its dump. */
export async function loadDatabase(name: string, { version, stores }: DatabaseDump): Promise<void> {
  const request = indexedDB.open(name, version);
  request.onupgradeneeded = () => {
    for (const { name, keyPath, indexes } of stores) {
      const store = request.result.createObjectStore(name, { keyPath });
      for (const { name, keyPath, unique, multiEntry } of indexes)
        store.createIndex(name, keyPath, { unique, multiEntry });
    }
  };
  const db = await answer(request);
  const tx = db.transaction([...db.objectStoreNames], 'readwrite');
  for (const { name, keyPath, rows } of stores) {
    for (const { key, value } of rows) tx.objectStore(name).put(value, ...(keyPath === null ? [key] : []));
  }
  try {
    await new Promise((resolve, reject) => {
      tx.oncomplete = resolve;
      tx.onabort = () => reject(tx.error);
    });
  } finally {
    db.close();
  }
}

/** A database with one of its chats, and what belongs to none. */
export function withOnly({ version, stores }: DatabaseDump, chatId: string): DatabaseDump {
  const isOwn = (key: IDBValidKey): boolean => !Array.isArray(key) || key[0] === chatId;
  return {
    version,
    stores: stores.map((table) => ({ ...table, rows: table.rows.filter(({ key }) => isOwn(key)) })),
  };
}

function answer<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
