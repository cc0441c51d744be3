/**
 * Files of a site's own (OPFS) in memory, for where there are none: what a journal needs of them, and no more. A file is
 * written beside what was there and takes its place when it is closed, as in a browser.
 *
 * Writes are counted; the k-th can be made to fail.
 */
export class MemoryFiles {
  #root = new Folder();
  #writes = 0;
  #failAt = Infinity;
  readonly #before = Object.getOwnPropertyDescriptor(globalThis, 'navigator');

  /** Takes the place of the files that there are. */
  install(): void {
    const write = (): void => {
      this.#writes += 1;
      if (this.#writes === this.#failAt) throw new DOMException('injected', 'QuotaExceededError');
    };
    note = write;
    const storage = { getDirectory: async () => this.#root };
    Object.defineProperty(globalThis, 'navigator', { configurable: true, value: { storage } });
    Object.assign(globalThis, { FileSystemFileHandle: Handle });
  }

  remove(): void {
    if (this.#before) Object.defineProperty(globalThis, 'navigator', this.#before);
    Reflect.deleteProperty(globalThis, 'FileSystemFileHandle');
  }

  /** Lets the k-th write from now on fail, once. */
  failAt(k: number): void {
    this.#writes = 0;
    this.#failAt = k;
  }

  /** Whether the write that was to fail has come. */
  get struck(): boolean {
    return this.#writes >= this.#failAt;
  }

  copy(): Folder {
    return this.#root.copy();
  }

  lay(folder: Folder): void {
    this.#root = folder.copy();
  }
}

let note = (): void => {};

export class Handle {
  readonly kind = 'file';
  readonly name: string;
  #content: Uint8Array<ArrayBuffer>;

  constructor(name: string, content: Uint8Array<ArrayBuffer> = new Uint8Array()) {
    this.name = name;
    this.#content = content;
  }

  async getFile(): Promise<File> {
    return new File([this.#content], this.name);
  }

  async createWritable({ keepExistingData = false } = {}) {
    const parts: (string | Uint8Array<ArrayBuffer>)[] = keepExistingData ? [this.#content] : [];
    return {
      seek: async () => {},
      write: async (part: string | Uint8Array<ArrayBuffer>) => {
        note();
        parts.push(part);
      },
      close: async () => {
        this.#content = new Uint8Array(await new Blob(parts).arrayBuffer());
      },
      abort: async () => {},
    };
  }

  copy(): Handle {
    return new Handle(this.name, this.#content);
  }
}

export class Folder {
  readonly kind = 'directory';
  readonly name: string;
  readonly #entries = new Map<string, Handle | Folder>();

  constructor(name = '') {
    this.name = name;
  }

  async getDirectoryHandle(name: string, { create = false } = {}): Promise<Folder> {
    return this.#find(name, create ? new Folder(name) : undefined) as Folder;
  }

  async getFileHandle(name: string, { create = false } = {}): Promise<Handle> {
    return this.#find(name, create ? new Handle(name) : undefined) as Handle;
  }

  async removeEntry(name: string): Promise<void> {
    this.#find(name, undefined);
    this.#entries.delete(name);
  }

  async *keys(): AsyncGenerator<string> {
    yield* this.#entries.keys();
  }

  async *values(): AsyncGenerator<Handle | Folder> {
    yield* this.#entries.values();
  }

  #find(name: string, otherwise: Handle | Folder | undefined): Handle | Folder {
    const entry = this.#entries.get(name) ?? otherwise;
    if (!entry) throw new DOMException(`no ${name}`, 'NotFoundError');
    this.#entries.set(name, entry);
    return entry;
  }

  put(entry: Handle | Folder): void {
    this.#entries.set(entry.name, entry);
  }

  copy(): Folder {
    const folder = new Folder(this.name);
    for (const [name, entry] of this.#entries) folder.#entries.set(name, entry.copy());
    return folder;
  }
}

/** Folders by name, and files with their text. */
export interface Tree {
  readonly [name: string]: string | Tree;
}

/** Folders and files as a tree says them. */
export function folderOf(tree: Tree, name = ''): Folder {
  const folder = new Folder(name);
  for (const [own, content] of Object.entries(tree)) {
    const isText = typeof content === 'string';
    folder.put(isText ? new Handle(own, new TextEncoder().encode(content)) : folderOf(content, own));
  }
  return folder;
}

/** What is in a folder, as a tree. */
export async function treeOf(folder: Folder): Promise<Tree> {
  const tree: Record<string, string | Tree> = {};
  for await (const entry of folder.values())
    tree[entry.name] = entry.kind === 'file' ? await (await entry.getFile()).text() : await treeOf(entry);
  return tree;
}
