// `npm run passes`: how much of src one call passes, and how long src is: what a reader has to hold in mind. With
// `-- --files`, also how many functions of each file.
//
// Passed are the functions of src that V8 has run at least once between a call and the moment when its promise resolves
// (precise coverage, a call count for each function, set to zero before the call; a module's own top level is none), and
// the files that they stand in. It has all been loaded and run before, over fake-indexeddb:
// - a save: `engine.save()` with one message pending, right behind another save;
// - a turn: `sendMessage()` of a mounted `useChat(useContextChat())`, the second of its chat, until it is saved as well.
// Lines are those of all files as they stand, with comments and blank lines.
import 'fake-indexeddb/auto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { argv, exit } from 'node:process';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { useChat } from '@ai-sdk/react';
import { transformSync } from 'esbuild';
import { Window } from 'happy-dom';
import { createElement } from 'react';
import { root } from './entries.mjs';

const SRC = `${pathToFileURL(join(root, 'src')).href}/`;

// Node reads TypeScript by itself, but no JSX.
registerHooks({
  load: (url, context, next) =>
    url.endsWith('.tsx') ? { format: 'module', source: plain(url), shortCircuit: true } : next(url, context),
});

function plain(/** @type {string} */ url) {
  return transformSync(readFileSync(fileURLToPath(url), 'utf8'), { loader: 'tsx', jsx: 'automatic' }).code;
}

const profiler = new Session();
profiler.connect();
await profiler.post('Profiler.enable');
await profiler.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

// Functions that were there before the counting began would not be counted.
const { ContextEngine, IndexedDBContextStore, user } = await import('../src/core.ts');
const { ContextEngineProvider } = await import('../src/react/provider.tsx');
const { useContextChat } = await import('../src/ai/useContextChat.ts');

/** Answers with one piece of text. @type {import('ai').ChatTransport<import('ai').UIMessage>} */
const transport = {
  sendMessages: async () =>
    new ReadableStream({
      start(controller) {
        controller.enqueue({ type: 'start' });
        controller.enqueue({ type: 'text-start', id: 't' });
        controller.enqueue({ type: 'text-delta', id: 't', delta: 'An answer' });
        controller.enqueue({ type: 'text-end', id: 't' });
        controller.enqueue({ type: 'finish' });
        controller.close();
      },
    }),
  reconnectToStream: async () => null,
};

tell('engine.save()', await passedBySave());
tell('a useChat turn', await passedByTurn());
printLines();
exit();

async function passedBySave() {
  const engine = new ContextEngine({ chatId: 'c', userId: 'u', store: new IndexedDBContextStore('saves') });
  for (const text of ['first', 'second']) {
    engine.set(user(text));
    await engine.save();
  }
  engine.set(user('third'));
  return passedBy(() => engine.save());
}

async function passedByTurn() {
  const engine = new ContextEngine({ chatId: 'c', userId: 'u', store: new IndexedDBContextStore('turns') });
  /** @type {import('@ai-sdk/react').UseChatHelpers<import('ai').UIMessage> | undefined} */
  let shown;
  await mount(
    createElement(
      ContextEngineProvider,
      { engine },
      createElement(() => {
        shown = useChat(useContextChat({ transport }));
        return null;
      }),
    ),
  );
  const isSaved = () => engine.state.getState().saveState.state === 'saved';
  const ask = async (/** @type {string} */ text) => {
    await shown?.sendMessage({ text });
    await until(isSaved);
  };
  await until(() => engine.state.getState().status === 'ready');
  await ask('A question');
  await setTimeout(200); // what the first turn leaves for later is no part of the second
  return passedBy(() => ask('Another one'));
}

async function mount(/** @type {import('react').ReactElement} */ element) {
  const window = new Window();
  const { document, HTMLElement, HTMLIFrameElement } = window;
  Object.assign(globalThis, { window, document, HTMLElement, HTMLIFrameElement });
  const { createRoot } = await import('react-dom/client'); // looks for a document when it is loaded
  createRoot(/** @type {any} */ (document.body)).render(element);
}

async function until(/** @type {() => boolean} */ holds) {
  while (!holds()) await setTimeout(5);
}

/** How many functions of each file ran, by its path below src. @returns {Promise<Map<string, number>>} */
async function passedBy(/** @type {() => Promise<unknown>} */ act) {
  await profiler.post('Profiler.takePreciseCoverage');
  await act();
  const { result } = await profiler.post('Profiler.takePreciseCoverage');
  const counts = result
    .filter(({ url }) => url.startsWith(SRC))
    .map(
      ({ url, functions }) => /** @type {const} */ ([url.slice(SRC.length), functions.filter(hasRun).length]),
    );
  return new Map(counts.filter(([, count]) => count > 0));
}

function hasRun(/** @type {import('node:inspector').Profiler.FunctionCoverage} */ { functionName, ranges }) {
  const [whole] = ranges;
  const isModule = functionName === '' && whole?.startOffset === 0;
  return !isModule && whole !== undefined && whole.count > 0;
}

function tell(/** @type {string} */ call, /** @type {Map<string, number>} */ passed) {
  console.log(`${call}: ${sum([...passed.values()])} functions in ${passed.size} files`);
  if (!argv.includes('--files')) return;
  for (const [file, count] of [...passed].toSorted(([, a], [, b]) => b - a))
    console.log(String(count).padStart(5), file);
}

function printLines() {
  const src = linesIn('src');
  const inner = [...src].filter(([file]) => /^(?:engine|store)\b/.test(file));
  const [longest = ['', 0]] = [...src].toSorted(([, a], [, b]) => b - a);
  console.log(`src: ${sum([...src.values()])} lines`);
  console.log(`src/engine and src/store: ${sum(inner.map(([, lines]) => lines))} lines`);
  console.log(`longest file: ${longest[1]} lines, src/${longest[0]}`);
  console.log(`test: ${sum([...linesIn('test').values()])} lines`);
}

/** The lines of each file in a folder, by its path below it. @returns {Map<string, number>} */
function linesIn(/** @type {string} */ folder) {
  const paths = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  const files = paths.filter((path) => statSync(join(root, folder, path)).isFile());
  return new Map(
    files.map((path) => [path, readFileSync(join(root, folder, path), 'utf8').split('\n').length - 1]),
  );
}

function sum(/** @type {number[]} */ numbers) {
  return numbers.reduce((all, each) => all + each, 0);
}
