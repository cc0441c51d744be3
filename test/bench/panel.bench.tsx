import type { UIMessage } from 'ai';
import { ContextEngine, InMemoryContextStore } from 'contextree';
import { ContextDevtoolsPanel } from 'contextree/devtools';
import { Profiler } from 'react';
import { createRoot } from 'react-dom/client';
import { expect, test } from 'vitest';
import { VIEWS } from '../../devtools/view.ts';
import { writeLine } from './line.ts';

/**
 * What the panel costs while an answer grows: a hundred words a second stream into a chat of 10,000 messages, with each of its
 * views open. It commits at most once a frame, and no task takes more than 50 ms.
 *
 *     npx vitest bench --run --project='browser*' panel
 */
const LONG = 10_000;
const SECONDS = 3;

const said = (id: string, text: string, role: UIMessage['role'] = 'assistant'): UIMessage => ({
  id,
  role,
  parts: [{ type: 'text', text }],
});

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Until something is found, for ten seconds at most. */
async function found<T>(look: () => T | undefined | null): Promise<T> {
  for (let tries = 0; tries < 500; tries += 1) {
    const one = look();
    if (one) return one;
    await pause(20);
  }
  throw new Error(`not found: ${String(look)}`);
}

test('words that stream into 10,000 messages', { timeout: 300_000 }, async () => {
  const store = new InMemoryContextStore();
  const words = 'What is said in one message, of which there are many. '.repeat(18);
  const messages = Array.from({ length: LONG }, (_, i) =>
    said(`m${i}`, `${i}: ${words}`, i % 2 === 0 ? 'user' : 'assistant'),
  );
  await writeLine(store, messages);
  const engine = new ContextEngine({ store, chatId: 'c', userId: 'u' });
  await engine.ready();

  const host = document.body.appendChild(document.createElement('div'));
  host.style.height = '700px';
  let commits = 0;
  createRoot(host).render(
    <Profiler id="panel" onRender={() => (commits += 1)}>
      <ContextDevtoolsPanel engine={engine} />
    </Profiler>,
  );
  const root = await found(() => [...host.querySelectorAll('*')].find((one) => one.shadowRoot)?.shadowRoot);
  const tabOf = (view: string): HTMLElement | undefined =>
    [...root.querySelectorAll<HTMLElement>('[role=tab]')].find((one) => one.textContent === view);

  let frames = 0;
  const count = (): void => {
    frames += 1;
    requestAnimationFrame(count);
  };
  requestAnimationFrame(count);
  const tasks: number[] = [];
  new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration))).observe(
    {
      type: 'longtask',
    },
  );

  const broken: string[] = [];
  for (const view of VIEWS) {
    (await found(() => tabOf(view))).click();
    await pause(2500);
    const id = await engine.ask(said(`q-${view}`, 'And?', 'user'));
    await pause(500);
    [commits, frames, tasks.length] = [0, 0, 0];
    let text = '';
    for (let word = 0; word < SECONDS * 100; word += 1) {
      text += `word${word} `;
      void engine.updateMessage(id, said(id, text), 'streaming');
      await pause(10);
    }
    await pause(100);
    const longest = Math.max(0, ...tasks);
    console.log(
      `| ${view} | ${commits} commits in ${frames} frames | longest task ${longest.toFixed(0)} ms |`,
    );
    if (commits > frames || longest > 50) broken.push(view);
    await engine.updateMessage(id, said(id, text), 'complete');
  }
  engine.dispose();
  expect(broken).toEqual([]);
});
