import { ContextEngine, InMemoryContextStore } from 'contextree';
import { ContextDevtoolsPanel } from 'contextree/devtools';
import { createRoot } from 'react-dom/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cdp } from 'vitest/browser';
import { graphModel } from '../../devtools/graphRows.ts';
import { Lanes, Places } from '../../devtools/lanes.ts';
import { writeLine } from './line.ts';
import { listOf, median, report } from './measure.ts';

/**
 * What the rows of the panel cost in long chats, whose data is in memory, on React's development build: until the first rows
 * show, while they are scrolled, and to lay them out.
 *
 *     npx vitest bench --run --project='browser*' rows
 */
const SHORT = 1_000;
const LONG = 100_000;
const stores = new Map<number, InMemoryContextStore>();
const engines = new Map<number, ContextEngine>();

beforeAll(async () => {
  for (const length of [SHORT, LONG]) {
    const store = new InMemoryContextStore();
    await writeLine(store, listOf(length));
    stores.set(length, store);
    engines.set(length, await engineOf(length));
  }
}, 300_000);

afterAll(() => {
  for (const engine of engines.values()) engine.dispose();
});

/** An engine that has read a chat of so many messages, and that the app asked for the versions of the last one. */
async function engineOf(length: number): Promise<ContextEngine> {
  const engine = new ContextEngine({
    store: stores.get(length),
    chatId: 'c',
    userId: 'u',
  });
  await engine.ready();
  engine.siblings(engine.state.getState().messages.at(-1)?.id ?? '');
  return engine;
}

const frame = (): Promise<number> => new Promise(requestAnimationFrame);
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Opens the panel on an engine; gives its list of rows, when these are there. */
async function opened(
  engine: ContextEngine,
): Promise<{ readonly rows: HTMLElement; readonly close: () => void }> {
  const host = document.body.appendChild(document.createElement('div'));
  host.style.height = '700px';
  const root = createRoot(host);
  root.render(<ContextDevtoolsPanel engine={engine} />);
  for (;;) {
    const shadow = [...host.querySelectorAll('*')].find((one) => one.shadowRoot)?.shadowRoot;
    const rows = shadow?.querySelector<HTMLElement>('[role=treegrid]');
    if (rows?.querySelector('[role=row]')) {
      const close = (): void => {
        root.unmount();
        host.remove();
      };
      return { rows, close };
    }
    await frame();
  }
}

test('the first rows of 100,000 messages show like those of 1,000', { timeout: 300_000 }, async () => {
  const times = new Map<number, number[]>([
    [SHORT, []],
    [LONG, []],
  ]);
  for (let round = 0; round < 9; round += 1)
    for (const [length, of] of times) {
      const engine = await engineOf(length);
      await pause(300);
      const start = performance.now();
      const { close } = await opened(engine);
      await frame();
      // The first round also loads the panel.
      if (round > 0) of.push(performance.now() - start);
      close();
      engine.dispose();
      await pause(300);
    }
  const [short, long] = [SHORT, LONG].map((length) => median(times.get(length) ?? [])) as [number, number];
  report(
    'first rows of 100,000 messages, against 1,000',
    long / short,
    `${long.toFixed(0)} / ${short.toFixed(0)} ms`,
  );
  expect(long / short).toBeLessThanOrEqual(1.5);
});

test('a frame of scrolling takes at most 8 ms, however long the chat is', { timeout: 300_000 }, async () => {
  const session = cdp();
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  /** What the page has worked so far, ms. */
  const worked = async (): Promise<number> => {
    const { metrics } = await session.send('Performance.getMetrics');
    return 1000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0);
  };
  const scrolled: number[] = [];
  for (const length of [SHORT, LONG]) {
    const { rows, close } = await opened(engines.get(length) as ContextEngine);
    await pause(2000);
    const blocks: number[] = [];
    for (let block = 0; block < 40; block += 1) {
      const before = await worked();
      for (let i = 0; i < 10; i += 1) {
        // Fast: four rows a frame, up from the end, and from there again.
        rows.scrollTop -= 96;
        if (rows.scrollTop < 300) rows.scrollTop = rows.scrollHeight;
        await frame();
      }
      blocks.push((await worked()) - before);
    }
    const p95 = (blocks.toSorted((a, b) => a - b)[Math.ceil(blocks.length * 0.95) - 1] ?? NaN) / 10;
    scrolled.push(p95);
    close();
  }
  const [short, long] = scrolled as [number, number];
  report('a frame of scrolling', long / short, `${long.toFixed(1)} / ${short.toFixed(1)} ms, p95 of tens`);
  expect(long).toBeLessThanOrEqual(8);
  expect(long / short).toBeLessThanOrEqual(1.5);
});

test('a graph of 100,000 messages is laid out in twice the time of its lanes', { timeout: 300_000 }, () => {
  const { nodes, branches } = (engines.get(LONG) as ContextEngine).graph();
  const forked = nodes.map((node, i) => {
    const parentKey = i % 100 === 0 ? (nodes[i >> 1]?.key ?? null) : node.parentKey;
    return { ...node, parentKey: i === 0 ? null : parentKey };
  });
  const { branches: infos } = (engines.get(LONG) as ContextEngine).state.getState();
  const times = { model: [] as number[], lanes: [] as number[] };
  for (let round = 0; round < 15; round += 1) {
    const start = performance.now();
    graphModel(forked, infos, [], [branches[0]?.headKey]);
    const middle = performance.now();
    expect(new Lanes(new Places(forked), forked.length - 1).count).toBe(LONG);
    times.model.push(middle - start);
    times.lanes.push(performance.now() - middle);
  }
  const [model, lanes] = [median(times.model), median(times.lanes)];
  report(
    'the layout of 100,000, against its lanes',
    model / lanes,
    `${model.toFixed(0)} / ${lanes.toFixed(0)} ms`,
  );
  expect(model / lanes).toBeLessThanOrEqual(2);
});
