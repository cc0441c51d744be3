import { fireEvent } from '@testing-library/dom';
import { useContextEngine, type ContextEngine, type ContextStore } from 'contextree';
import { InMemoryContextStore } from 'contextree';
import { StrictMode, type ReactNode } from 'react';
import { createRoot } from 'react-dom/client';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { chatsOf } from '../../src/ai/contextChats.ts';
import { textOf } from '../../src/graph/graph.ts';
import { mortal, Run, type Manner, type MortalPage } from '../ai/person.ts';
import { allOf } from '../ai/witness.ts';
import { Clock } from '../support/clock.ts';
import { scriptedTransport } from '../support/transport.ts';
import { App } from './ContextApp.tsx';

// The same person as in test/ai, at the app that is plain `useChat` but for one line: who types into its box, presses its
// buttons where it has them, and looks at its screen.

/** `FUZZ_SEEDS=2000` runs so many sequences, `FUZZ_FIRST=17 FUZZ_SEEDS=1` one of them again. */
const SEEDS = Number(process.env['FUZZ_SEEDS'] ?? (process.env['AI_SDK'] === '7' ? 100 : 10));
const FIRST = Number(process.env['FUZZ_FIRST'] ?? 0);
const ACTS = 40;
const ME = { chatId: 'c', userId: 'me' } as const;

function Spy({
  store,
  found,
}: {
  readonly store: ContextStore;
  found: (engine: ContextEngine) => void;
}): ReactNode {
  const { engine, status } = useContextEngine({ ...ME, store });
  if (status === 'ready') found(engine);
  return null;
}

async function openApp(store: ContextStore, { pause }: Manner): Promise<MortalPage> {
  const own = mortal(store, pause);
  const script = scriptedTransport();
  const container = document.body.appendChild(document.createElement('div'));
  const root = createRoot(container);
  const engine = await new Promise<ContextEngine>((found) => {
    root.render(
      <StrictMode>
        <App transport={script.transport} log={() => {}} chatId="c" store={own.store} />
        <Spy store={own.store} found={found} />
      </StrictMode>,
    );
  });
  const chats = chatsOf(engine, {});
  const button = (name: string): Element | undefined =>
    [...container.querySelectorAll('button')].findLast(({ textContent }) => textContent === name);
  const isAsked = (text: string): boolean =>
    script.requests.some(({ sent }) => sent.messages.some((message) => textOf(message) === text));
  /** A stop may come before the question goes out. */
  const isStored = async (text: string): Promise<boolean> =>
    (await allOf(store)).some(({ data }) => textOf(data) === text);
  // One after the other: nobody types two questions into one box at once.
  let typing = Promise.resolve();
  const typed = async (text: string): Promise<void> => {
    const box = container.querySelector('input');
    const send = button('Send');
    if (!box || !send) return;
    fireEvent.change(box, { target: { value: text } });
    await wait(1);
    fireEvent.click(send);
    for (let ms = 0; ms < 50 && box.value === text; ms += 1) await wait(1);
  };
  return {
    engine,
    chats,
    script,
    store,
    press: (name) => {
      const found = button(name);
      if (found) fireEvent.click(found);
      return found !== undefined;
    },
    type: async (text) => {
      typing = typing.then(() => typed(text));
      await typing;
      while (!isAsked(text) && !(await isStored(text))) await wait(20);
    },
    seen: () => [...container.querySelectorAll('li')].map(messageSeen).join(' | '),
    kill: () => {
      own.kill();
      root.unmount();
      container.remove();
    },
  };
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** A message on the screen, as `words()` has it. */
function messageSeen(item: Element): string {
  const parts = [...item.querySelectorAll('span, section')].map(({ tagName, textContent }) => {
    const [type = '', state = ''] = (textContent ?? '').split(' ');
    return tagName === 'SPAN' ? textContent : `[${type.replace('tool-', '')} ${state}]`;
  });
  return `${item.getAttribute('data-role') === 'user' ? 'q' : 'a'}: ${parts.join('/')}`;
}

async function problemsOf(seed: number): Promise<string[]> {
  const time = new Clock(4);
  const store = new InMemoryContextStore();
  time.install();
  try {
    const run = await Run.begin(seed, { store: () => store, time, open: openApp });
    for (let act = 0; act < ACTS; act += 1) await run.act();
    await run.comeToRest();
    const problems = await run.problems();
    run.close();
    return problems;
  } finally {
    await time.pass(100);
    time.remove();
  }
}

describe('a person who presses every button of an app', () => {
  beforeAll(async () => {
    vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', false);
    await Promise.all([import('../../src/ai/turns.ts'), import('../../src/engine/session.ts')]);
    await import('../../src/store/open.ts');
  });

  const groups = Array.from({ length: Math.ceil(SEEDS / 10) }, (_, i) => FIRST + i * 10);
  it.each(groups)('loses no word (from %i on)', { timeout: 60_000 }, async (first) => {
    for (let seed = first; seed < Math.min(first + 10, FIRST + SEEDS); seed += 1)
      expect(await problemsOf(seed), `FUZZ_FIRST=${seed} FUZZ_SEEDS=1`).toEqual([]);
  });
});
