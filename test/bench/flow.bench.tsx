import { Background, ReactFlow, type Edge, type Node } from '@xyflow/react';
import '@xyflow/react/dist/style.css';
import type { UIMessage } from 'ai';
import { ContextEngine, InMemoryContextStore } from 'contextree';
import { ContextDevtoolsPanel } from 'contextree/devtools';
import type { ReactNode } from 'react';
import { createRoot } from 'react-dom/client';
import { expect, test } from 'vitest';
import { indicesByKey, layoutLanes, parentIndices } from '../../devtools/lanes.ts';
import { writeLine } from './line.ts';

/**
 * Until the first rows show: the graph of the panel beside React Flow with the same messages at the same places, in turns, on the
 * same page and build of React. From the call of `render()` to the frame behind the one in which a first row is there.
 */
const LONG = 10_000;
/** Ways that part from the first one. */
const WAYS = 10;
const ROUNDS = 7;

const median = (all: readonly number[]): number => all.toSorted((a, b) => a - b)[all.length >> 1] as number;

const frame = (): Promise<number> => new Promise((resolve) => requestAnimationFrame(resolve));

async function until(holds: () => boolean): Promise<void> {
  const start = performance.now();
  while (!holds()) {
    if (performance.now() - start > 60_000) throw new Error('nothing shows');
    await frame();
  }
  await frame();
}

async function timed(element: ReactNode, isThere: (host: HTMLElement) => boolean): Promise<number> {
  const host = document.body.appendChild(document.createElement('div'));
  host.style.cssText = 'width: 900px; height: 700px; position: relative';
  const root = createRoot(host);
  await frame();
  const start = performance.now();
  root.render(element);
  await until(() => isThere(host));
  const ms = performance.now() - start;
  root.unmount();
  host.remove();
  await new Promise((resolve) => setTimeout(resolve, 300));
  return ms;
}

test('first rows of 10,000 messages', { timeout: 900_000 }, async () => {
  const store = new InMemoryContextStore();
  const messages = Array.from({ length: LONG }, (_, i): UIMessage => ({
    id: `m${i}`,
    role: i % 2 === 0 ? 'user' : 'assistant',
    parts: [{ type: 'text', text: `${i}: what is said in one message.` }],
  }));
  await writeLine(store, messages);
  const engine = new ContextEngine({ store, chatId: 'c', userId: 'u' });
  await engine.ready();
  for (let i = 0; i < WAYS; i += 1) await engine.edit(`m${(i * LONG) / WAYS}`, `another way ${i}`);
  const graph = engine.graph();
  const lanes = layoutLanes(parentIndices(graph.nodes, indicesByKey(graph.nodes)), -1);
  const nodes: Node[] = graph.nodes.map(({ key, content }, i) => ({
    id: key,
    position: { x: (lanes.lane[i] as number) * 220, y: (lanes.row[i] as number) * 60 },
    data: { label: content },
  }));
  const edges: Edge[] = graph.nodes.flatMap(({ key, parentKey }) =>
    parentKey === null ? [] : [{ id: `to ${key}`, source: parentKey, target: key }],
  );
  const [ours, theirs]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    ours.push(await timed(<ContextDevtoolsPanel engine={engine} />, hasRow));
    theirs.push(
      await timed(
        <ReactFlow defaultNodes={nodes} defaultEdges={edges} onlyRenderVisibleElements>
          <Background />
        </ReactFlow>,
        hasNode,
      ),
    );
  }
  engine.dispose();
  const [panel, flow] = [median(ours), median(theirs)];
  const told = `| ${LONG} messages | ${panel.toFixed(0)} ms | ${flow.toFixed(0)} ms | ${(flow / panel).toFixed(1)}x |`;
  console.log(told);
  expect(flow / panel).toBeGreaterThan(20);
});

function hasRow(host: HTMLElement): boolean {
  return [...host.querySelectorAll('*')].some((one) => one.shadowRoot?.querySelector('[role=row]'));
}

/** React Flow hides a node until it has measured it. */
function hasNode(host: HTMLElement): boolean {
  const node = host.querySelector<HTMLElement>('.react-flow__node');
  return node !== null && getComputedStyle(node).visibility === 'visible';
}
