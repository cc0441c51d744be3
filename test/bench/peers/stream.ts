import 'fake-indexeddb/auto';
import type { ChatTransport, UIMessage, UIMessageChunk } from 'ai';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createContextChats } from '../../../src/ai/contextChats.ts';
import { ContextEngine } from '../../../src/engine/engine.ts';
import { IndexedDBContextStore } from '../../../src/store/indexeddb/store.ts';
import type { StoreOp } from '../../../src/store/store.ts';

/**
 * What a streamed chunk costs in long chats, and what an answer writes: here, and in what else people use.
 *
 * `npm run bench:peers` installs the peers into this folder, runs this file after `render.ts` and writes its section of RESULTS.md. Time is the time of the process, so that a busy machine tells little; it runs in Node, without a screen,
 * so that only the keeping of messages is weighed. The same for ours in Chromium: `npm run bench`.
 */

const TEXT =
  'The quick brown fox jumps over the lazy dog while the graph remembers every word it said. '.repeat(11);
const CHUNKS = 300;
const SHORT = 100;
const LONG = 10_000;

const listOf = (length: number): UIMessage[] =>
  Array.from({ length }, (_, i) => ({
    id: `m${i}`,
    role: i % 2 === 0 ? 'user' : 'assistant',
    parts: [{ type: 'text', text: `${i} ${TEXT}` }],
  }));

/** Takes an answer, word by word. */
type Take = (word: string) => void | Promise<void>;

/** Microseconds of this process for one word; the quickest of a few rounds. */
async function microsPerWord(open: (length: number) => Promise<Take>, length: number): Promise<number> {
  const take = await open(length);
  const rounds: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    const before = process.cpuUsage();
    for (let word = 0; word < CHUNKS; word += 1) await take(`word-${word} `);
    const { user, system } = process.cpuUsage(before);
    rounds.push((user + system) / CHUNKS);
  }
  return Math.min(...rounds);
}

// --- Ours -----------------------------------------------------------------------------------------------------------

async function engineWith(length: number): Promise<ContextEngine> {
  const store = new IndexedDBContextStore(`peers-${crypto.randomUUID()}`);
  const inserts = listOf(length).map((data, i): StoreOp => {
    return { op: 'insert', id: data.id, parentId: i === 0 ? null : `m${i - 1}`, data, status: 'complete' };
  });
  const head = { op: 'head', branchId: 'main', expected: null, messageId: `m${length - 1}` } as const;
  const options = { userId: 'u', epoch: 0, mainBranchId: 'main' };
  await store.append('c', [...inserts, { ...head, forkId: 'fork' }], options);
  const engine = new ContextEngine({ store, chatId: 'c', userId: 'u' });
  await engine.loadMore(length);
  return engine;
}

/** A chat in which an answer has begun, and how it goes on and ends. */
async function ours(length: number): Promise<{ take: Take; end: () => Promise<void>; own: () => number }> {
  const engine = await engineWith(length);
  let controller!: ReadableStreamDefaultController<UIMessageChunk>;
  let ask = (): void => {};
  const asked = new Promise<void>((resolve) => (ask = resolve));
  const transport: ChatTransport<UIMessage> = {
    sendMessages: async () => {
      ask();
      return new ReadableStream<UIMessageChunk>({ start: (opened) => void (controller = opened) });
    },
    reconnectToStream: async () => null,
  };
  const chat = createContextChats({ engine, transport }).active;
  const sent = chat.sendMessage({ text: 'And then?' });
  await asked;
  controller.enqueue({ type: 'text-start', id: 't' });
  const take = async (delta: string): Promise<void> => {
    const before = chat.messages;
    controller.enqueue({ type: 'text-delta', id: 't', delta });
    while (chat.messages === before) await new Promise((resolve) => setImmediate(resolve));
  };
  const end = async (): Promise<void> => {
    controller.enqueue({ type: 'text-end', id: 't' });
    controller.enqueue({ type: 'finish' });
    controller.close();
    await sent;
  };
  return { take, end, own: () => JSON.stringify(chat.messages.at(-1)).length };
}

// --- Others ---------------------------------------------------------------------------------------------------------

const SET_ADAPTER = '__internal_setAdapter';

/** assistant-ui: its store is given all messages with each word. */
async function assistantUi(length: number): Promise<Take> {
  // Named by a variable: the compiler need not know what is not always installed.
  const entry = '@assistant-ui/core/internal';
  const { ExternalStoreThreadRuntimeCore } = (await import(entry)) as {
    ExternalStoreThreadRuntimeCore: new (
      context: object,
      adapter: object,
    ) => { [SET_ADAPTER](adapter: object): void };
  };
  const convertMessage = ({ id, role, parts }: UIMessage): object => ({ id, role, content: parts });
  const adapterOf = (messages: readonly UIMessage[]): object => {
    return { messages, convertMessage, isRunning: true, onNew: async () => {} };
  };
  const messages = listOf(length);
  const core = new ExternalStoreThreadRuntimeCore({ getModelContext: () => ({}) }, adapterOf(messages));
  let text = '';
  return (word) => {
    text += word;
    const last: UIMessage = { id: 'answer', role: 'assistant', parts: [{ type: 'text', text }] };
    core[SET_ADAPTER](adapterOf([...messages, last]));
  };
}

/** The chat as one JSON text, written with each word: how apps without a library do it. */
async function oneText(length: number): Promise<Take> {
  const kept = new Map<string, string>();
  const messages = listOf(length);
  let text = '';
  return (word) => {
    text += word;
    const last: UIMessage = { id: 'answer', role: 'assistant', parts: [{ type: 'text', text }] };
    kept.set('chat', JSON.stringify([...messages, last]));
  };
}

/** TanStack AI's chat with an adapter that keeps the chat in the browser: the bytes that it is handed. */
async function tanstack(words: number): Promise<{ readonly written: number; readonly own: number }> {
  const entry = '@tanstack/ai-client';
  const { ChatClient, stream } = (await import(entry)) as {
    ChatClient: new (options: object) => {
      sendMessage(text: string): Promise<void>;
      getMessages(): object[];
    };
    stream: (open: () => AsyncIterable<object>) => object;
  };
  let written = 0;
  const setItem = (_id: string, state: unknown): void => void (written += JSON.stringify(state).length);
  const client = new ChatClient({
    threadId: 'c',
    initialMessages: listOf(SHORT).map(({ id, role }, i) => {
      return { id, role, parts: [{ type: 'text', content: `${i} ${TEXT}` }] };
    }),
    persistence: { getItem: () => null, setItem, removeItem: () => {} },
    connection: stream(async function* answer() {
      const about = { messageId: 'a', timestamp: 1 };
      yield { type: 'RUN_STARTED', runId: 'r', threadId: 'c', timestamp: 1 };
      yield { type: 'TEXT_MESSAGE_START', role: 'assistant', ...about };
      for (let word = 0; word < words; word += 1) {
        yield { type: 'TEXT_MESSAGE_CONTENT', delta: `word-${word} `, ...about };
        await new Promise((resolve) => setImmediate(resolve));
      }
      yield { type: 'TEXT_MESSAGE_END', ...about };
      yield { type: 'RUN_FINISHED', runId: 'r', threadId: 'c', finishReason: 'stop', timestamp: 1 };
    }),
  });
  await client.sendMessage('And then?');
  return { written, own: JSON.stringify(client.getMessages().at(-1)).length };
}

/** The bytes that ours puts into its database. */
async function oursWritten(words: number): Promise<{ readonly written: number; readonly own: number }> {
  const { take, end, own } = await ours(SHORT);
  let written = 0;
  const prototype: { put: (this: IDBObjectStore, value: unknown, key?: IDBValidKey) => IDBRequest } =
    IDBObjectStore.prototype;
  const original = prototype.put;
  prototype.put = function put(this: IDBObjectStore, value, key) {
    written += JSON.stringify(value).length;
    return original.call(this, value, key);
  };
  for (let word = 0; word < words; word += 1) await take(`word-${word} `);
  await end();
  prototype.put = original;
  return { written, own: own() };
}

// --- The report -----------------------------------------------------------------------------------------------------

const here = fileURLToPath(new URL('.', import.meta.url));
if (!existsSync(`${here}node_modules/@tanstack/ai-client`))
  spawnSync('npm', ['ci', '--ignore-scripts', '--omit=peer', '--silent'], { cwd: here, stdio: 'inherit' });

const timed = [
  ['contextree', async (length: number) => (await ours(length)).take],
  ['assistant-ui 0.3.20, external store', assistantUi],
  ['the chat as one JSON text', oneText],
] as const;
const times: string[] = [];
for (const [name, open] of timed) {
  const [short, long] = [await microsPerWord(open, SHORT), await microsPerWord(open, LONG)];
  times.push(`| ${name} | ${(long / short).toFixed(1)}x | ${short.toFixed(0)} µs / ${long.toFixed(0)} µs |`);
}
const sizes: string[] = [];
for (const [name, write] of [
  ['contextree', oursWritten],
  ['TanStack AI 0.33.2, a chat kept in the browser', tanstack],
] as const) {
  const { written, own } = await write(1000);
  const [total, answer] = [written, own].map((bytes) => (bytes / 1000).toFixed(0));
  sizes.push(`| ${name} | ${(written / own).toFixed(1)}x | ${total} kB of ${answer} kB |`);
}

const HEADING = '# Streaming beside peers';
const section = `${HEADING}

\`node test/bench/peers/stream.ts\` wrote this on ${new Date().toISOString().slice(0, 10)}, with Node ${process.version}: time of the process for one streamed word.

| a word at ${LONG} messages against at ${SHORT} | ratio | at ${SHORT} / at ${LONG} |
| --- | --: | --: |
${times.join('\n')}

All messages are in the list, and the AI SDK copies the list with each word, in a plain \`useChat\` too: \`npm run bench\`
compares with that.

| bytes handed to a store for an answer of 1,000 words, in a chat of 100 messages of 1 kB | of the answer's own | |
| --- | --: | --: |
${sizes.join('\n')}

The words come as fast as they are taken. The slower they come, the more drafts there are, twice a second at most: see
\`npm run bench\`.
`;
console.log(section);
const [before = ''] = readFileSync(`${here}RESULTS.md`, 'utf8').split(HEADING);
writeFileSync(`${here}RESULTS.md`, `${before.trimEnd()}\n\n${section}`);
process.exit(0);
