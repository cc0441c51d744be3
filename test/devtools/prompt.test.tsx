import { act, fireEvent } from '@testing-library/react';
import { hint, message, role } from 'contextree';
import { registerModel, type BatchTokenizer } from 'contextree/tokens';
import { describe, expect, it, vi } from 'vitest';
import { chat, eventually, findPanel, open, panel, press, say, settle, show } from './room.tsx';

const view = (): HTMLElement => panel().getByRole('group', { name: 'Content' });
/** The messages as they are read, without the share beside the role. */
const turns = (): string[] =>
  [...view().querySelectorAll('.turn')].map((turn) => {
    const share = turn.querySelector('.share')?.textContent ?? '';
    return turn.textContent.replace(share, '');
  });

/** Counts words, somewhere else. */
const ofWords: BatchTokenizer = {
  name: 'words',
  exact: true,
  count: async (texts) => texts.map((text) => text.split(/\s+/).length),
  dispose: () => {},
};

describe('the prompt', () => {
  it('follows the engine: fragments, new turns, another branch', async () => {
    const engine = await chat('q1', 'a1 👩‍🚀');
    await open(engine, 'Prompt');
    expect(panel().getByText(/no system prompt/)).toBeTruthy();
    await act(async () => engine.set(hint('Be brief.')));
    await eventually(() => expect(view().textContent).toContain('Be brief.'));
    await say(engine, 'q2');
    await eventually(() => expect(turns()).toHaveLength(3));
    // The astronaut's joiner is no hidden character.
    expect(panel().queryByRole('note')).toBeNull();
    await act(() => engine.rewind('q1'));
    await eventually(() => expect(turns()).toEqual(['userq1']));
  });

  it('counts with the tokenizer that the app brings, in every format', async () => {
    const engine = await chat('q1');
    engine.set(role('A tutor'));
    await open(engine, 'Prompt', { tokenizer: ofWords });
    expect(view().querySelector('strong')?.textContent).toBe('3 tokens');
    const format = panel().getByRole('combobox', { name: 'Format' });
    expect([...format.children].map(({ textContent }) => textContent)).toEqual([
      'the app’s (2)',
      'XML (2)',
      'Markdown (4)',
      'TOML (4)',
      'TOON (3)',
    ]);
  });

  it('falls back on the estimate when the tokenizer can not be had', async () => {
    const engine = await chat('q1');
    engine.set(role('A tutor'));
    const count = (): Promise<never> => Promise.reject(new Error('offline'));
    await open(engine, 'Prompt', { tokenizer: { ...ofWords, count } });
    expect(view().querySelector('strong')?.textContent).toMatch(/^~\d+ tokens$/);
    expect(view().textContent).toContain('A tutor');
  });

  it('copies the system prompt, and says when it can’t', async () => {
    const engine = await chat('q1');
    engine.set(role('A tutor'));
    await open(engine, 'Prompt');
    const write = vi.spyOn(navigator.clipboard, 'writeText').mockResolvedValue();
    await press(panel().getByRole('button', { name: 'Copy prompt' }));
    await eventually(() => expect(panel().getAllByRole('status')[0]!.textContent).toBe('Copied'));
    expect(write).toHaveBeenCalledExactlyOnceWith('<role>A tutor</role>');
    write.mockRejectedValue(new DOMException('no', 'NotAllowedError'));
    await press(panel().getByRole('button', { name: 'Copy prompt' }));
    await eventually(() => expect(panel().getAllByRole('status')[0]!.textContent).toContain('Not copied'));
    vi.restoreAllMocks();
  });

  it('puts parts that are no text into words', async () => {
    const engine = await chat();
    engine.set(
      message({
        id: 'a1',
        role: 'assistant',
        parts: [
          { type: 'step-start' },
          { type: 'reasoning', text: 'thinking aloud' },
          { type: 'tool-dice', toolCallId: 't1', state: 'output-available', input: { sides: 6 }, output: 4 },
          {
            type: 'file',
            mediaType: 'image/png',
            filename: 'cat.png',
            url: `data:image/png;base64,${'A'.repeat(500)}`,
          },
          { type: 'text', text: 'x'.repeat(3_000) },
        ],
      }),
    );
    await act(() => engine.save());
    await open(engine, 'Prompt');
    const words = view().textContent ?? '';
    expect(words).toContain('reasoningthinking aloud');
    expect(words).toContain('tool dice - output available');
    // A name that is written from right to left turns nothing around but itself.
    expect(view().querySelector('.part strong[dir=auto]')?.textContent).toBe('dice');
    expect(words).toContain('"sides": 6');
    expect(words).toContain('file - image/png - 392 bytes - cat.png');
    expect(words).not.toContain('A'.repeat(300));
    expect(words).not.toContain('x'.repeat(2_001));
    await press(panel().getByRole('button', { name: 'Show 1000 more characters' }));
    expect(view().textContent).toContain('x'.repeat(3_000));
  });

  it('shows the end of a long conversation, and earlier messages on request', async () => {
    await open(await chat(...Array.from({ length: 120 }, (_, i) => `q${i}`)), 'Prompt');
    expect(turns()).toHaveLength(50);
    expect(turns().at(-1)).toBe('userq119');
    await press(panel().getByRole('button', { name: 'Show 50 of 70 earlier' }));
    expect(turns()).toHaveLength(100);
  });

  it('tells how large it is for the model of the chat, and what that costs', async () => {
    const engine = await chat('q1', 'a1');
    engine.set(role('You are a tutor.'), { ...hint('Be brief.'), id: 'brief' }, hint('One.'), hint('Two.'));
    await engine.updateChat({ metadata: { modelId: 'room:model' } });
    await engine.trackUsage({ inputTokens: 1_000_000, outputTokens: 0 });
    await registerModel({
      id: 'room:model',
      context: 1_000,
      prices: { input: 1_000, output: 2_000 },
      asOf: '2026-01-02',
    });
    await open(engine, 'Prompt');
    const { tokens, cost, fragments } = await engine.estimate('room:model');
    const words = view().textContent;
    expect(words).toContain(`~${tokens} tokens - ~$${cost?.toFixed(4)} - prices of 2026-01-02`);
    expect(words).toContain('Spent so far $1000.00');
    expect(words).toContain(`of a context of 1,000, ${1_000 - tokens} left`);
    const bar = view().querySelectorAll<HTMLElement>('.meter span');
    expect(parseFloat(bar[0]?.style.width ?? '') + parseFloat(bar[1]?.style.width ?? '')).toBeCloseTo(
      tokens / 10,
    );
    const rows = [...panel().getByRole('list', { name: 'Fragments' }).children].map((row) => row.textContent);
    expect(rows).toEqual([
      expect.stringMatching(new RegExp(`^roleset .*~${fragments[0]?.tokens} \\(`)),
      expect.stringMatching(new RegExp(`^briefset .*~${fragments[1]?.tokens} \\(`)),
      expect.stringMatching(/^hintset /),
      expect.stringMatching(/^hint 2set /),
    ]);
    expect([...view().querySelectorAll('.turn .share')].map((share) => share.textContent)).toEqual([
      expect.stringMatching(/^~\d+ \(\d+ %\) - ~\$\d/),
      expect.stringMatching(/^~\d+ \(\d+ %\) - ~\$\d/),
    ]);
  });

  it('shows the prices of another model that one chooses, and remembers it', async () => {
    await registerModel({ id: 'room:dear', context: 9_000, prices: { input: 9, output: 9 } });
    const { unmount } = await open(await chat('q1', 'a1'), 'Prompt');
    expect(view().textContent).toContain('choose a model for its price');
    const picker = panel().getByRole<HTMLSelectElement>('combobox', { name: 'Model' });
    await eventually(() => expect([...picker.options].map(({ value }) => value)).toContain('room:dear'));
    await act(async () => void fireEvent.change(picker, { target: { value: 'room:dear' } }));
    await eventually(() => expect(view().textContent).toContain('of a context of 9,000'));
    unmount();
    expect(findPanel()).toBeNull();
    show(await chat('q1'));
    await eventually(() => expect(view().textContent).toContain('of a context of 9,000'));
  });

  it('shows marks in place of characters that nobody sees, and says so', async () => {
    const engine = await chat('q1\u200bx', 'a1');
    engine.set(role('cod\u202exe\u{e0041}!'));
    await open(engine, 'Prompt');
    const prompt = view().querySelector('pre');
    expect(prompt?.textContent).toBe('<role>codU+202ExeU+E0041!</role>');
    expect([...(prompt?.querySelectorAll('.chip') ?? [])].map((chip) => chip.getAttribute('title'))).toEqual([
      'right-to-left override',
      'tag "A"',
    ]);
    expect(turns()).toEqual(['userq1U+200Bx', 'assistanta1']);
    expect(panel().getByRole('note').textContent).toContain(
      'The model reads 3 characters here that nobody sees: right-to-left override, tag "A", zero width space',
    );
    expect((await engine.resolve()).systemPrompt).toContain('\u202e');
  });

  it('says why there is no prompt, and recovers', async () => {
    const engine = await chat('q1');
    let isDown = true;
    engine.set(hint(() => (isDown ? Promise.reject(new Error('weather is down')) : 'sunny')));
    await open(engine, 'Prompt');
    await eventually(() => expect(panel().getByRole('alert').textContent).toContain('weather is down'));
    isDown = false;
    await say(engine, 'q2');
    await eventually(() => expect(view().textContent).toContain('sunny'));
    expect(panel().queryByRole('alert')).toBeNull();
  });

  it('asks one question at a time, and of those that come meanwhile only the last', async () => {
    const engine = await chat('q1');
    const answers: ((words: string) => void)[] = [];
    engine.set(hint(() => new Promise<string>((resolve) => answers.push(resolve))));
    await open(engine);
    await press(panel().getByRole('tab', { name: 'Prompt' }));
    await eventually(() => expect(answers).not.toHaveLength(0));
    await settle();
    const asked = answers.length;
    for (const id of ['q2', 'q3', 'q4']) await say(engine, id);
    expect(answers).toHaveLength(asked);
    await act(async () => answers.forEach((answer) => answer('early')));
    await eventually(() => expect(view().textContent).toContain('early'));
    await eventually(() => expect(answers).toHaveLength(asked + 1));
    await act(async () => answers.at(-1)?.('late'));
    await eventually(() => expect(view().textContent).toContain('late'));
    expect(turns()).toHaveLength(4);
  });
});
