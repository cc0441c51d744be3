import type { UIMessage } from 'ai';
import { describe, expect, it } from 'vitest';
import { toPrompt, toSimpleMessages } from '../../src/ai/index.ts';
import { toSendable } from '../../src/ai/modelPrompt.ts';

const question: UIMessage = { id: 'q', role: 'user', parts: [{ type: 'text', text: 'Roll?' }] };
const answer = (...parts: UIMessage['parts']): UIMessage => ({ id: 'a', role: 'assistant', parts });

describe('a prompt', () => {
  it('carries the system prompt under both of its names, and the messages', async () => {
    expect(await toPrompt({ systemPrompt: 'Be brief.', messages: [question] })).toEqual({
      instructions: 'Be brief.',
      system: 'Be brief.',
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Roll?' }] }],
    });
  });

  it('has no system prompt where there is none', async () => {
    for (const systemPrompt of ['', undefined])
      expect(Object.keys(await toPrompt({ systemPrompt, messages: [question] }))).toEqual(['messages']);
  });

  it('takes messages of the system into the system prompt', async () => {
    const system: UIMessage = {
      id: 's',
      role: 'system',
      parts: [{ type: 'text', text: 'Today is Monday.' }],
    };
    const prompt = await toPrompt({ systemPrompt: 'Be brief.', messages: [system, question] });
    expect(prompt.system).toBe('Be brief.\n\nToday is Monday.');
    expect(prompt.messages).toHaveLength(1);
  });

  it('of a request that holds no messages is refused', async () => {
    const bodies = [undefined, {}, { messages: 'Hi' }, { messages: [null] }, { messages: [{ parts: [5] }] }];
    for (const body of bodies)
      await expect(toPrompt(body as never)).rejects.toMatchObject({ code: 'invalid-messages' });
  });

  it('of an answer that was cut off holds nothing that a provider refuses', async () => {
    const cut = answer(
      { type: 'step-start' },
      { type: 'reasoning', text: 'Let me', state: 'streaming' },
      { type: 'text', text: '', state: 'streaming' },
      { type: 'text', text: 'Rolling', state: 'streaming' },
      { type: 'tool-dice', toolCallId: '1', state: 'input-available', input: {} },
    );
    const { messages } = await toPrompt({ systemPrompt: '', messages: [question, cut] });
    expect(messages[1]).toEqual({ role: 'assistant', content: [{ type: 'text', text: 'Rolling' }] });
    expect(cut.parts).toHaveLength(5);
  });

  it('drops reasoning without a text or tool call behind it, and keeps the rest', async () => {
    const thought = (text: string): UIMessage['parts'][number] => ({
      type: 'reasoning',
      text,
      state: 'done',
    });
    const call = { type: 'tool-dice', toolCallId: '1', input: {} } as const;
    const rolled = { ...call, state: 'output-available', output: 4 } as const;
    const cut = answer(
      { type: 'step-start' },
      thought('Roll first.'),
      rolled,
      { type: 'step-start' },
      thought('Now again.'),
      { ...call, toolCallId: '2', state: 'input-streaming' },
    );
    const [, sent] = await toSendable([question, cut]);
    expect(sent?.parts).toEqual([...cut.parts.slice(0, 3), { type: 'step-start' }]);
    const only = answer(thought('Hm.'), { ...call, state: 'input-streaming' });
    expect(await toSendable([question, only])).toEqual([question]);
  });

  it('leaves out answers of which nothing remains', async () => {
    const empty = answer({ type: 'step-start' }, { type: 'reasoning', text: 'Hm', state: 'streaming' });
    const { messages } = await toPrompt({ systemPrompt: '', messages: [question, empty, question] });
    expect(messages.map(({ role }) => role)).toEqual(['user', 'user']);
  });

  it('keeps whole tool calls with their results', async () => {
    const rolled = answer({
      type: 'tool-dice',
      toolCallId: '1',
      state: 'output-available',
      input: {},
      output: 4,
    });
    const { messages } = await toPrompt({ systemPrompt: '', messages: [question, rolled] });
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
  });
});

it('gives messages that need no cleaning as they are', async () => {
  const whole = [question, answer({ type: 'text', text: 'Four.', state: 'done' })];
  const sent = await toSendable(whole);
  expect(sent[0]).toBe(whole[0]);
  expect(sent[1]).toBe(whole[1]);
});

it('puts messages as role and text', () => {
  const two = answer(
    { type: 'text', text: 'You rolled ' },
    { type: 'step-start' },
    { type: 'text', text: 'a four.' },
  );
  expect(toSimpleMessages([question, two, answer()])).toEqual([
    { role: 'user', content: 'Roll?' },
    { role: 'assistant', content: 'You rolled a four.' },
    { role: 'assistant', content: '' },
  ]);
});
