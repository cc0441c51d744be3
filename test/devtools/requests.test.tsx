import { act, fireEvent, render, screen } from '@testing-library/react';
import type { UIMessage, UIMessageChunk } from 'ai';
import {
  ContextEngineProvider,
  fragment,
  hint,
  role,
  useFragments,
  type ContextEngine,
  type ContextFragment,
} from 'contextree';
import { createContextChats, type ContextChats } from 'contextree/ai';
import { ContextDevtoolsPanel } from 'contextree/devtools';
import { registerModel } from 'contextree/tokens';
import type { ReactNode } from 'react';
import { describe, expect, it, vi } from 'vitest';
import { partsAfter } from '../../devtools/replayed.ts';
import type { RecordedRequest } from '../../devtools/requests.ts';
import { Replay } from '../../devtools/views/Replay.tsx';
import { recordedChats, ask, HOUSE_RULES } from '../../stories/support/recordedChat.ts';
import { chat, copied, eventually, findPanel, open, opener, panel, press, row, show } from './room.tsx';

type Tab = NonNullable<Parameters<typeof open>[1]>;

const words = (): string => findPanel()?.textContent ?? '';

/** Two questions with their answers; the prompt holds a count that grows with each. */
async function talk(): Promise<{ engine: ContextEngine; chats: ContextChats }> {
  const engine = await chat();
  let count = 0;
  engine.set({ ...fragment('count', () => `Request ${(count += 1)}`), id: 'counter' }, hint('Be brief.'));
  const chats = recordedChats(engine, { answers: ['First.', 'Second.'] });
  await act(() => ask(chats, 'One?'));
  await act(() => ask(chats, 'Two?'));
  return { engine, chats };
}

/** Selects a message in the graph, and then a view. */
async function look(engine: ContextEngine, message: string, tab: Tab): Promise<void> {
  await open(engine);
  await press(row(message));
  await press(panel().getByRole('tab', { name: tab }));
}

interface ClockProps {
  readonly time: string;
  readonly before?: readonly ContextFragment[];
}

/** A component that puts the time before what stays. */
function Clock({ time, before = [] }: ClockProps): ReactNode {
  useFragments(...before, fragment('now', `It is ${time}.`), fragment('rules', HOUSE_RULES));
  return null;
}

/** A page on which the clock shows a time, behind these fragments, and the panel stands. */
function pageWithClock(engine: ContextEngine): (time: string, ...before: ContextFragment[]) => ReactNode {
  return (time, ...before) => (
    <ContextEngineProvider engine={engine}>
      <Clock time={time} before={before} />
      <ContextDevtoolsPanel />
    </ContextEngineProvider>
  );
}

describe('the prompt of a message', () => {
  it('sizes a recorded prompt for the model that answered it', async () => {
    const { engine } = await talk();
    await act(() => engine.updateChat({ metadata: { modelId: 'room:later' } }));
    await look(engine, 'First.', 'Prompt');
    await eventually(() => expect(words()).toContain('As recorded for this answer'));
    const { options } = panel().getByRole<HTMLSelectElement>('combobox', { name: 'Model' });
    expect(options[0]?.textContent).toBe('openai:gpt-4o');
    await press(panel().getByRole('checkbox', { name: 'with today’s fragments' }));
    await eventually(() => expect(words()).toContain('For this answer, with today’s fragments'));
  });

  it('shows all of a long message that is new, when it is asked to', async () => {
    await look(await chat('q1', 'a1', `q2${'x'.repeat(2_998)}`, 'a2'), 'a2', 'Prompt');
    await press(await eventually(() => panel().getByRole('button', { name: 'Difference' })));
    await press(await eventually(() => panel().getByRole('button', { name: 'Show 1000 more characters' })));
    expect(words()).toContain('x'.repeat(2_998));
  });

  it('is copied: the prompt, the messages, or both, without secrets', async () => {
    const engine = await chat();
    const key = `sk-ant-api03-${'aB3dE5gH7jK9mN1p'.repeat(5)}-AA`;
    engine.set(role(`Your key is ${key}.`));
    const chats = recordedChats(engine, { answers: ['First.'] });
    await act(() => ask(chats, `Is it ${key}?`));
    await look(engine, 'First.', 'Prompt');
    await eventually(() => expect(words()).toContain('As recorded'));
    expect(words()).not.toContain(key);
    expect(await copied('Copy prompt')).toMatch(/^<role>Your key is \[.+\]\.<\/role>$/);
    expect(await copied('Copy messages')).not.toContain(key);
    expect(JSON.parse(await copied('Copy both'))).toMatchObject({
      system: expect.stringContaining('<role>') as string,
      messages: [{ role: 'user' }],
    });
  });

  it('says when a renderer can not tell which text is which fragment', async () => {
    const { engine } = await talk();
    const plain = { name: 'plain', render: () => 'All in one.' };
    vi.spyOn(engine, 'renderer', 'get').mockReturnValue(plain);
    await open(engine, 'Prompt');
    await eventually(() =>
      expect(words()).toContain('The renderer “plain” does not tell where each fragment stands.'),
    );
  });
});

describe('recording', () => {
  it('is what an open panel does, and a closed one where a person asked for that', async () => {
    const engine = await chat();
    const chats = recordedChats(engine, { answers: ['First.', 'Second.', 'Third.'], records: false });
    const recorded = async (question: string): Promise<boolean> => {
      await act(() => ask(chats, question));
      return engine.requests().some(({ messages }) => JSON.stringify(messages.at(-1)).includes(question));
    };
    const close = (): Promise<void> =>
      press(panel().getByRole('button', { name: 'Close contextree devtools' }));
    show(engine);
    expect(await recorded('Before?')).toBe(false);
    await press(opener());
    await eventually(panel);
    expect(await recorded('Open?')).toBe(true);
    await close();
    expect(await recorded('Closed?')).toBe(false);
    await press(opener());
    await press(panel().getByRole('tab', { name: 'Run' }));
    await press(await eventually(() => panel().getByRole('button', { name: 'Recorded' })));
    await press(await eventually(() => panel().getByRole('checkbox', { name: 'Record while closed, too' })));
    await close();
    expect(await recorded('Closed again?')).toBe(true);
    // Its events are in the log, too.
    await press(opener());
    await press(panel().getByRole('tab', { name: 'Log' }));
    const lines = await eventually(() => panel().getAllByRole('option'));
    expect(lines.filter(({ textContent }) => textContent.includes('requestdone, end'))).toHaveLength(2);
  });
});

describe('the cost of turns', () => {
  it('is summed for the branch, for each branch since it parted, and for the chat, each answer once', async () => {
    await registerModel({ id: 'cost:sum', prices: { input: 0, output: 1_000_000 } });
    const engine = await chat();
    const chats = recordedChats(engine, { model: 'cost:sum', answers: ['12345678', '1234', '12341234'] });
    await act(() => ask(chats, 'One?'));
    await act(() => ask(chats, 'Two?'));
    await act(() => chats.active.regenerate());
    await act(() => chats.whenSettled());
    await open(engine, 'Cost');
    await eventually(() => expect(words()).toContain('$4.00 on this branch, $5.00 in this chat'));
    const rows = [...(findPanel()?.querySelectorAll('table tbody tr') ?? [])].map((one) =>
      [...one.querySelectorAll('td')].map((cell) => cell.textContent).join(' '),
    );
    expect(rows.map((one) => one.replace(/ [\d,]+ /, ' - '))).toEqual(['2 - $3.00', '1 - $2.00']);
  });

  it('names the component that set what broke the cache', async () => {
    const engine = await chat();
    const chats = recordedChats(engine, { answers: ['First.', 'Second.'] });
    const page = pageWithClock(engine);
    localStorage.setItem('contextree:devtools', '{"tab":"Cost"}');
    const { rerender } = render(page('10:01'));
    await act(() => ask(chats, 'One?'));
    rerender(page('10:02'));
    await act(() => ask(chats, 'Two?'));
    await eventually(() => expect(words()).toContain('Cache: broke - clock value'));
    expect(words()).toMatch(/Set by <Clock> .*requests\.test\.tsx/);
  });
});

describe('a run', () => {
  it('keeps what was typed and left out, whatever renders and is looked at since', async () => {
    const engine = await chat();
    const chats = recordedChats(engine, { runsDry: true, answers: ['First.', 'Another.'] });
    const page = pageWithClock(engine);
    localStorage.setItem('contextree:devtools', '{"tab":"Run"}');
    const { rerender } = render(page('10:01'));
    await act(() => ask(chats, 'One?'));
    const now = (): HTMLInputElement => panel().getByRole('checkbox', { name: /^now/ });
    await press(await eventually(now));
    const box = (): HTMLTextAreaElement => panel().getByRole('textbox', { name: 'Question' });
    await act(async () => void fireEvent.change(box(), { target: { value: 'Other?' } }));
    rerender(page('10:02'));
    await eventually(() => expect(now().closest('label')?.textContent).toContain('10:02'));
    expect(now().checked).toBe(false);
    // Another view was looked at, and another fragment stands before it.
    await press(panel().getByRole('tab', { name: 'Graph' }));
    rerender(page('10:03', fragment('tone', 'Be kind.')));
    await press(panel().getByRole('tab', { name: 'Run' }));
    await eventually(() => expect(panel().getByRole('checkbox', { name: /^tone/ })).toBeTruthy());
    expect([now().checked, box().value]).toEqual([false, 'Other?']);
    await press(panel().getByRole('button', { name: 'Run' }));
    await eventually(() => expect(panel().getByText('done')).toBeTruthy());
    expect(engine.requests().at(-1)?.system).not.toContain('10:0');
  });

  it('keeps an answer once, and the files of a question whose words were changed', async () => {
    const engine = await chat();
    const chats = recordedChats(engine, { runsDry: true, answers: ['First.', 'Another.'] });
    const files = [{ type: 'file' as const, mediaType: 'text/plain', url: 'data:text/plain,tea' }];
    await act(() => chats.active.sendMessage({ text: 'One?', files }));
    await act(() => chats.whenSettled());
    await open(engine, 'Run');
    const box = await eventually(() => panel().getByRole('textbox', { name: 'Question' }));
    await act(async () => void fireEvent.change(box, { target: { value: 'Other?' } }));
    await press(panel().getByRole('button', { name: 'Run' }));
    await eventually(() => expect(panel().getByText('done')).toBeTruthy());
    const keep = panel().getByRole('button', { name: 'Keep' });
    act(() => keep.click());
    act(() => keep.click());
    await eventually(() => expect(words()).toContain('Kept as main-v2'));
    expect(engine.state.getState().branches).toHaveLength(2);
    const kept = engine.graph().nodes.find(({ content }) => content.includes('Other?'))!;
    const body = (await engine.store.bodies(engine.chatId, [kept.key])).get(kept.key);
    expect(body?.message.parts.map(({ type }) => type)).toEqual(['file', 'text']);
  });

  it('asks a question again as it is that is too long for a browser to lay out in a field', async () => {
    const engine = await chat();
    const chats = recordedChats(engine, { runsDry: true, answers: ['First.', 'Another.'] });
    const question = 'Why? '.repeat(30_000);
    await act(() => ask(chats, question));
    await open(engine, 'Run');
    const box = await eventually(() =>
      panel().getByRole<HTMLTextAreaElement>('textbox', { name: 'Question' }),
    );
    expect([box.value, box.disabled]).toEqual(['Too long to be changed here.', true]);
    await press(panel().getByRole('button', { name: 'Run' }));
    await eventually(() => expect(panel().getByText('done')).toBeTruthy());
    expect(engine.requests().at(-1)?.messages.at(-1)?.parts).toEqual([{ type: 'text', text: question }]);
  });

  it('is five at a time, three of them together, and all of them can be stopped', async () => {
    const engine = await chat('q1');
    const asked: AbortSignal[] = [];
    createContextChats({
      engine,
      transport: {
        runsDry: true,
        sendMessages: async ({ abortSignal }: { abortSignal: AbortSignal | undefined }) => {
          asked.push(abortSignal!);
          return new ReadableStream<UIMessageChunk>({
            start: (controller) =>
              abortSignal!.addEventListener('abort', () => controller.error(abortSignal!.reason)),
          });
        },
        reconnectToStream: () => Promise.resolve(null),
      } as never,
    });
    await open(engine, 'Run');
    const times = await eventually(() => panel().getByRole('combobox', { name: 'Times' }));
    await act(async () => void fireEvent.change(times, { target: { value: '5' } }));
    const run = panel().getByRole('button', { name: 'Run' }) as HTMLButtonElement;
    await press(run);
    await eventually(() => expect(panel().getAllByText('running')).toHaveLength(3));
    expect(panel().getAllByText('waiting')).toHaveLength(2);
    expect(panel().queryByText('not told')).toBeNull();
    expect(run.disabled).toBe(true);
    await press(panel().getByRole('button', { name: 'Stop all' }));
    await eventually(() => expect(panel().getAllByText('stopped')).toHaveLength(5));
    expect(asked).toHaveLength(3);
  });
});

describe('a replay', () => {
  /** A recorded answer of three words, one each tenth of a second. */
  function recorded(): RecordedRequest {
    const chunks = ['start', 'delta', 'delta'].map(chunkAt);
    const record = { id: 'r', status: 'done', chunks, messages: [] };
    return { ...record, masked: () => Promise.resolve(record) } as unknown as RecordedRequest;
  }

  function chunkAt(kind: string, i: number): RecordedRequest['chunks'][number] {
    return { ms: i * 100, chunk: { type: `text-${kind}`, id: 't', delta: `word${i} ` } as UIMessageChunk };
  }

  const at = (): string => screen.getByText(/of 3 chunks/).textContent;

  it('in recorded time goes on while something else is asked, and the panel renders again', async () => {
    const request = recorded();
    const { rerender } = render(<Replay request={request} />);
    await act(async () => {});
    fireEvent.change(screen.getByRole('combobox', { name: 'Pace' }), {
      target: { value: 'in recorded time' },
    });
    vi.useFakeTimers();
    fireEvent.click(screen.getByRole('button', { name: 'Replay' }));
    for (let i = 0; i < 8; i += 1) {
      act(() => void vi.advanceTimersByTime(50));
      rerender(<Replay request={{ ...request }} />);
    }
    vi.useRealTimers();
    expect(at()).toContain('3 of 3');
    expect(screen.getByRole('button', { name: 'Replay' })).toBeTruthy();
  });

  it('fails at a whole number of chunks, whatever is typed', async () => {
    render(<Replay request={recorded()} />);
    await act(async () => {});
    const field = screen.getByRole('spinbutton');
    for (const [typed, shown] of [
      ['-2', '0 of 3'],
      ['1.5', '1 of 3'],
      ['9', '3 of 3'],
      ['0', '0 of 3'],
    ] as const) {
      fireEvent.change(field, { target: { value: typed } });
      expect(at()).toContain(shown);
    }
    fireEvent.change(screen.getByRole('combobox', { name: 'Pace' }), {
      target: { value: 'in recorded time' },
    });
    fireEvent.click(screen.getByRole('button', { name: 'Replay' }));
    expect(screen.queryByRole('button', { name: 'Pause' })).toBeNull();
  });
});

describe('the parts of a recorded answer', () => {
  /** The parts after so many of these chunks, or after all. */
  const after = (
    chunks: readonly UIMessageChunk[],
    length = chunks.length,
    messages: readonly UIMessage[] = [],
  ) => partsAfter({ chunks: chunks.map((chunk, i) => ({ ms: i, chunk })), messages }, length);

  it('grow chunk by chunk, as they came', () => {
    const dice = { type: 'tool-dice', toolCallId: 'c', input: { sides: 6 } };
    const chunks: UIMessageChunk[] = [
      { type: 'start' },
      { type: 'reasoning-start', id: 'r' },
      { type: 'reasoning-delta', id: 'r', delta: 'Hm' },
      { type: 'text-start', id: 't' },
      { type: 'text-delta', id: 't', delta: 'Yes' },
      { type: 'text-delta', id: 't', delta: '.' },
      { type: 'tool-input-available', toolCallId: 'c', toolName: 'dice', input: { sides: 6 } },
      { type: 'tool-output-available', toolCallId: 'c', output: 4 },
      { type: 'data-roll', id: 'd', data: 'rolling' },
      { type: 'data-roll', id: 'd', data: 'rolled' },
      { type: 'error', errorText: 'lost' },
    ];
    expect(after(chunks, 5)).toEqual([
      { type: 'reasoning', text: 'Hm' },
      { type: 'text', text: 'Yes' },
    ]);
    expect(after(chunks, 7).at(-1)).toEqual({ ...dice, state: 'input-available' });
    expect(after(chunks, 9).at(-1)).toMatchObject({ data: 'rolling' });
    // Why it failed is told behind its parts.
    expect(after(chunks).slice(2)).toEqual([
      { ...dice, state: 'output-available', output: 4 },
      { type: 'data-roll', id: 'd', data: 'rolled' },
    ]);
  });

  it('ask for approval, and are denied or refused, as calls of their tool', () => {
    const call = { type: 'tool-delete', toolCallId: 'c', input: 'draft.md' };
    const chunks = [
      { type: 'tool-input-start', toolCallId: 'c', toolName: 'delete' },
      { type: 'tool-input-available', toolCallId: 'c', toolName: 'delete', input: 'draft.md' },
      { type: 'tool-approval-request', toolCallId: 'c', approvalId: 'a' },
      { type: 'tool-approval-response', approvalId: 'a', approved: false, reason: 'no' },
      { type: 'tool-output-denied', toolCallId: 'c' },
      { type: 'tool-input-error', toolCallId: 'd', toolName: 'print', input: 1, errorText: 'no number' },
    ] as UIMessageChunk[];
    expect(after(chunks, 1)).toMatchObject([{ state: 'input-start' }]);
    expect(after(chunks, 4)).toMatchObject([{ ...call, state: 'approval-request' }]);
    expect(after(chunks)).toMatchObject([
      { ...call, state: 'output-denied' },
      { type: 'tool-print', toolCallId: 'd', state: 'input-error', input: 1, errorText: 'no number' },
    ]);
  });

  it('of an answer that went on begin with what it had said, and end its calls', () => {
    const call = { type: 'tool-delete', toolCallId: 'c', state: 'approval-responded', input: 'draft.md' };
    const words = { type: 'text', text: 'May I?' };
    const asked = { id: 'a', role: 'assistant', parts: [words, call] } as UIMessage;
    const chunks: UIMessageChunk[] = [
      { type: 'start' },
      { type: 'tool-output-available', toolCallId: 'c', output: 'gone' },
    ];
    expect(after(chunks, 1, [asked])).toEqual([words, call]);
    expect(after(chunks, 2, [asked])).toEqual([
      words,
      { ...call, state: 'output-available', output: 'gone' },
    ]);
    expect(asked.parts[1]).toBe(call);
    expect(after(chunks, 1, [{ ...asked, role: 'user' }])).toEqual([]);
  });
});
