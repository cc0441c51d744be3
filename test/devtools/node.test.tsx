import { act, type BoundFunctions, fireEvent, type queries, render, within } from '@testing-library/react';
import type { UIMessage } from 'ai';
import { role, user, type ContextEngine } from 'contextree';
import { ContextDevtools } from 'contextree/devtools';
import { Profiler } from 'react';
import { describe, expect, it, vi } from 'vitest';
import { asCall, asMarkdown, chainAsJson } from '../../devtools/exports.ts';
import { said } from '../support/engine.ts';
import { App, chat, eventually, open, panel, press, row, stopFrames } from './room.tsx';

type Eyes = BoundFunctions<typeof queries>;

/** Selects a message, and gives what is shown of it. */
async function read(words: string): Promise<Eyes> {
  await press(row(words));
  return within(await eventually(() => panel().getByRole('region', { name: 'Selected message' })));
}

async function pick(line: string): Promise<void> {
  await press(panel().getByRole('button', { name: 'Actions' }));
  await press(await eventually(() => within(panel().getByRole('menu')).getByText(line)));
}

/** q1 and an answer whose request told everything. */
async function told(parts: UIMessage['parts'] = said('a1').parts): Promise<ContextEngine> {
  const engine = await chat();
  const id = await act(() => engine.ask(said('q1'), { id: 'a1' }));
  const metadata = { modelId: 'openai:gpt-4o', usage: { inputTokens: 5_200, outputTokens: 240 } };
  const times = { startedAt: 0, firstMs: 480, ms: 3_900, toolMs: [320] };
  const call = { ...times, status: 'complete', steps: 2, finishReason: 'stop' } as const;
  await act(() => engine.updateMessage(id, { ...said('a1'), parts, metadata }, 'complete', call));
  return engine;
}

describe('the selected message', () => {
  it('grows word by word, at most once a frame', async () => {
    const engine = await told();
    const id = await act(() => engine.ask(said('q2'), { id: 'a2' }));
    const grow = (text: string): Promise<void> => act(() => engine.updateMessage(id, said('a2', text)));
    await grow('a2 begins');
    let commits = 0;
    render(
      <Profiler id="app" onRender={() => (commits += 1)}>
        <App engine={engine}>
          <ContextDevtools initialIsOpen />
        </App>
      </Profiler>,
    );
    await eventually(() => expect(row('a2 begins')).toBeTruthy());
    const node = await read('a2 begins');
    await eventually(() => expect(node.getAllByText('growing')).toBeTruthy());
    expect(node.queryByText('not told')).toBeNull();
    const frames = stopFrames();
    commits = 0;
    for (const words of ['a2 goes', 'a2 goes on', 'a2 goes on and on']) await grow(words);
    expect(commits).toBe(0);
    await frames.go();
    expect(node.getByText('a2 goes on and on')).toBeTruthy();
    expect(commits).toBe(1);
  });

  it('has marks in place of characters that nobody sees, in each of its parts', async () => {
    await open(
      await told([
        { type: 'step-start' },
        { type: 'reasoning', text: 'thi\u2060nk' },
        { type: 'text', text: 'a1\u200bx' },
        { type: 'tool-dice', toolCallId: 't1', state: 'input-available', input: { sides: '\u202e6' } },
      ]),
    );
    const node = await read('a1');
    const chips = await eventually(() => node.getAllByText(/^U\+/));
    expect(chips.map(({ title }) => title)).toEqual([
      'word joiner',
      'zero width space',
      'right-to-left override',
    ]);
    expect(chips[1]?.closest('.turn')?.textContent).toBe('a1U+200Bx');
  });

  it('shows what would turn the name of a file or a source around', async () => {
    const file = { type: 'file' as const, mediaType: 'text/plain', url: 'data:text/plain,hi' };
    await open(
      await told([
        { type: 'text', text: 'a1' },
        { ...file, filename: '\u202Egnp.exe' },
        { type: 'source-url', sourceId: 's1', title: 'a \u2067b', url: 'https://example.com' },
        { type: 'source-document', sourceId: 's2', mediaType: 'text/plain', title: '\u202Dc' },
      ]),
    );
    const node = await read('a1');
    expect(node.getAllByText(/^(file|source) - /).map(({ textContent }) => textContent)).toEqual([
      String.raw`file - text/plain - 14 bytes - \u{202e}gnp.exe`,
      String.raw`source - a \u{2067}b`,
      String.raw`source - text/plain - \u{202d}c`,
    ]);
  });

  it('is edited as a new branch, without a model, and what is no text stays', async () => {
    const file = { type: 'file' as const, mediaType: 'text/plain', url: 'data:text/plain,hi' };
    const engine = await told([{ type: 'text', text: 'a1' }, file]);
    await open(engine);
    const node = await read('a1');
    await pick('Edit as a new branch');
    const words = await eventually(() => node.getByRole('textbox', { name: 'Words 1 of 1' }));
    expect(node.getByRole('button', { name: 'Save as a new branch' }).hasAttribute('disabled')).toBe(true);
    fireEvent.change(words, { target: { value: 'better' } });
    await press(node.getByRole('button', { name: 'Save as a new branch' }));
    await eventually(() => expect(engine.state.getState().branches).toHaveLength(2));
    const { parts } = engine.state.getState().messages.at(-1) ?? {};
    expect(parts).toEqual([{ type: 'text', text: 'better' }, file]);
  });

  it('says why it can’t be branched from while messages wait', async () => {
    const engine = await told();
    engine.set(user('later'));
    await open(engine);
    await read('a1');
    const branch = vi.spyOn(engine, 'rewind');
    await pick('Branch from here');
    expect(panel().getByRole('menu').textContent).toContain('a message waits for save()');
    expect(branch).not.toHaveBeenCalled();
  });
});

describe('copied', () => {
  it('as a call it asks for this answer, and for nothing of contextree', async () => {
    const engine = await told();
    engine.set(role('Be `brief`, ${please}.'));
    const call = await asCall(engine, engine.node('a1')?.key ?? '');
    expect(call).toContain('model: "openai:gpt-4o"');
    expect(call).toContain('Be \\`brief\\`, \\${please}.');
    expect(call).toContain('"q1"');
    expect(call).not.toContain('"a1"');
    expect(call).not.toContain('contextree');
    expect(await asCall(engine, engine.node('q1')?.key ?? '')).toContain('model: "provider/model"');
  });

  it('as a chain it is what a chat may begin with', async () => {
    const engine = await told();
    const messages = JSON.parse(await chainAsJson(engine, engine.node('a1')?.key ?? '')) as UIMessage[];
    expect(messages.map(({ id }) => id)).toEqual(['q1', 'a1']);
  });

  it('as Markdown it names sources and files, without the bytes of these', () => {
    const parts: UIMessage['parts'] = [
      { type: 'source-url', sourceId: 's', url: 'https://a.example/', title: 'A' },
      { type: 'file', mediaType: 'image/png', filename: 'b.png', url: 'data:image/png;base64,AAAA' },
    ];
    expect(asMarkdown({ id: 'a', role: 'user', parts })).toBe(
      '**user**\n\n[A](https://a.example/)\n\nFile: b.png',
    );
  });

  it('as Markdown it keeps what could break out of a fence in it', () => {
    const output = '```\nnot the end\n```';
    const parts = [
      { type: 'text', text: 'Look:' },
      { type: 'data-x', data: output },
    ] as UIMessage['parts'];
    const markdown = asMarkdown({ id: 'a', role: 'assistant', parts });
    expect(markdown).toMatch(/^\*\*assistant\*\*\n\nLook:\n\n````json\n/);
    expect(markdown.endsWith('\n````')).toBe(true);
  });
});
