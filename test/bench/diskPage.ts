import type { UIMessage } from 'ai';
import { IndexedDBContextStore } from '../../src/store/indexeddb/store.ts';
import type { ChatRecords } from '../../src/store/store.ts';
import { lineOf, writer } from './line.ts';

/** What a page does for `disk.ts`: writes a chat at once or turn by turn, waits until it is sealed, and says how long it is as JSON. */
export interface Told {
  /** Bytes of its `UIMessage`s alone. */
  readonly messages: number;
  /** Bytes of its messages as the store gives them back: with their parent, time, device and the like. */
  readonly nodes: number;
}

const { searchParams } = new URL(location.href);
const count = Number(searchParams.get('count'));
const how = searchParams.get('how') ?? '';
const step = how.startsWith('turns') ? 2 : count;
const isInOrder = how.endsWith('in order');
const book = await (await fetch('/book')).text();

let seed = 1;

/** A kilobyte from some place in a book, or the next one, as where a conversation keeps to its subject. */
function message(i: number): UIMessage {
  seed = (seed * 48_271) % 2_147_483_647;
  const at = (isInOrder ? i * 1000 : seed) % (book.length - 1000);
  const text = book.slice(at, at + 1000);
  return {
    id: crypto.randomUUID(),
    role: i % 2 === 0 ? 'user' : 'assistant',
    parts: [{ type: 'text', text }],
  };
}

const store = new IndexedDBContextStore('disk', { patience: 60_000 });

const bytesOf = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).length;

async function write(): Promise<Told> {
  let end: string | undefined;
  let read: ChatRecords | undefined;
  for (let from = 0; from < count; from += step) {
    const messages = Array.from({ length: step }, (_, i) => message(from + i));
    read = await store.commit('c', lineOf(messages, end), writer(read));
    end = messages.at(-1)?.id;
  }
  const nodes = await store.getMessageChain('c', end ?? '');
  return { messages: bytesOf(nodes.map(({ data }) => data)), nodes: bytesOf(nodes) };
}

/** Until nothing is left to seal: a tail stays, of one block to two. */
async function sealed(): Promise<void> {
  while (((await store.storage()).singles ?? 0) > 127)
    await new Promise((resolve) => setTimeout(resolve, 200));
}

const told = count > 0 ? await write() : { messages: 0, nodes: 0 };
if (count > 0) await sealed();
else await store.load('c');
await new Promise((resolve) => setTimeout(resolve, 1000));
await store.close();
await fetch('/told', { method: 'POST', body: JSON.stringify(told) });
