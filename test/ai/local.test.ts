import * as ai from 'ai';
import { stepCountIs, tool, type ChatTransport, type UIMessage } from 'ai';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createLocalTransport, type LocalRequest, type LocalTransportOptions } from '../../src/ai/local.ts';
import { hint } from '../../src/fragment/builders.ts';
import { openPage, SDK, words, type Page } from './story.ts';

type Model = Extract<LocalTransportOptions['model'], { specificationVersion: 'v4' }>;
type Call = Parameters<Model['doStream']>[0];
type Part = Awaited<ReturnType<Model['doStream']>>['stream'] extends ReadableStream<infer P> ? P : never;

const tokens = { total: 3, noCache: 3, cacheRead: 0, cacheWrite: 0 };
const finish = (reason: 'stop' | 'tool-calls' = 'stop'): Part => ({
  type: 'finish',
  finishReason: { unified: reason, raw: reason },
  usage: { inputTokens: tokens, outputTokens: { total: 4, text: 4, reasoning: 0 } },
});

/** A part in the form of an AI SDK's models: those of version 5 count tokens, and name the finish reason, in a simpler form. */
function asSpoken(part: Part): Part {
  if (SDK > 5 || part.type !== 'finish') return part;
  const { inputTokens, outputTokens } = part.usage;
  const usage = { inputTokens: inputTokens.total, outputTokens: outputTokens.total, totalTokens: 7 };
  return { ...part, finishReason: part.finishReason.unified, usage } as unknown as Part;
}

const text = (...deltas: string[]): Part[] => [
  { type: 'text-start', id: 't' },
  ...deltas.map((delta): Part => ({ type: 'text-delta', id: 't', delta })),
  { type: 'text-end', id: 't' },
];

/** The version of the model specification that each AI SDK speaks. */
const VERSIONS: Readonly<Record<number, string>> = { 5: 'v2', 6: 'v3', 7: 'v4' };

/** A language model with scripted answers, call by call, which remembers its calls. */
function modelOf(...answers: (readonly Part[] | Error)[]): { model: Model; calls: Call[] } {
  const calls: Call[] = [];
  const model: Model = {
    specificationVersion: VERSIONS[SDK] as 'v4',
    provider: 'test',
    modelId: 'told',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('not here')),
    doStream: async (call) => {
      calls.push(call);
      const answer = answers[calls.length - 1] ?? [...text('Nothing more.'), finish()];
      if (answer instanceof Error) throw answer;
      return { stream: streamOf([{ type: 'stream-start', warnings: [] }, ...answer]) };
    },
  };
  return { model, calls };
}

function streamOf(parts: readonly Part[]): ReadableStream<Part> {
  return new ReadableStream({
    start: (controller) => {
      for (const part of parts) controller.enqueue(asSpoken(part));
      controller.close();
    },
  });
}

/** A message of the system that says this among other things. */
const systemWith = (words: string): object => ({
  role: 'system',
  content: expect.stringContaining(words) as string,
});

async function pageWith(options: LocalTransportOptions): Promise<Page> {
  return openPage(undefined, {
    transport: createLocalTransport({ maxRetries: 0, ...options }),
    sendAutomaticallyWhen: ai.lastAssistantMessageIsCompleteWithApprovalResponses,
  });
}

describe('a model in the browser', () => {
  it('gets the prompt and the conversation of each request', async () => {
    const { model, calls } = modelOf([...text('Fir', 'st.'), finish()], [...text('Second.'), finish()]);
    const page = await pageWith({ model });
    page.engine.set(hint('Be brief.'));
    await page.chats.active.sendMessage({ text: 'One?' });
    page.engine.clear().set(hint('Be long.'));
    await page.chats.active.sendMessage({ text: 'Two?' });
    for (const [i, content] of ['Be brief.', 'Be long.'].entries())
      expect(calls[i]!.prompt[0]).toMatchObject(systemWith(content));
    expect(calls[1]!.prompt.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user']);
    expect(await page.stored()).toBe('q: One? | a: First. | q: Two? | a: Second.');
  });

  it('tells the tokens used, and the chat adds them up', async () => {
    const { model } = modelOf([...text('First.'), finish()], [...text('Second.'), finish()]);
    const page = await pageWith({
      model,
      messageMetadata: ({ part }) => (part.type === 'start' ? { by: 'us' } : undefined),
    });
    await page.chats.active.sendMessage({ text: 'One?' });
    await page.chats.active.sendMessage({ text: 'Two?' });
    await page.chats.whenSettled();
    expect(page.chats.active.messages[1]!.metadata).toMatchObject({
      by: 'us',
      usage: { inputTokens: 3, outputTokens: 4 },
    });
    expect(page.engine.chat?.metadata?.usage).toMatchObject({ inputTokens: 6, outputTokens: 8 });
  });

  it('is told how many versions there are, and may be chosen for each request', async () => {
    const { model, calls } = modelOf();
    const seen: LocalRequest[] = [];
    const page = await pageWith({
      model: (request) => {
        seen.push(request);
        return model;
      },
      providerOptions: ({ attempt }) => ({ demo: { attempt } }),
    });
    await page.chats.active.sendMessage({ text: 'One?' });
    await page.chats.active.regenerate();
    await page.chats.active.regenerate();
    const attempts = calls.map(({ providerOptions }) => providerOptions);
    expect(attempts).toEqual([0, 1, 2].map((attempt) => ({ demo: { attempt } })));
    const again = 'regenerate-message';
    expect(seen.map(({ trigger }) => trigger)).toEqual(['submit-message', again, again]);
  });

  it('uses tools until it is done, all on one node', async () => {
    const call: Part = { type: 'tool-call', toolCallId: '1', toolName: 'dice', input: '{"sides":6}' };
    const { model, calls } = modelOf([call, finish('tool-calls')], [...text('Six.'), finish()]);
    const dice = tool({ inputSchema: z.object({ sides: z.number() }), execute: ({ sides }) => sides });
    const page = await pageWith({ model, tools: { dice }, stopWhen: stepCountIs(3) });
    await page.chats.active.sendMessage({ text: 'Roll?' });
    expect(calls).toHaveLength(2);
    expect(await page.stored()).toBe('q: Roll? | a: [dice output-available]/Six.');
  });

  it.runIf(SDK > 5)('waits for a person’s word on a tool, and goes on by itself when it comes', async () => {
    const call: Part = { type: 'tool-call', toolCallId: '1', toolName: 'dice', input: '{"sides":6}' };
    const { model } = modelOf([call, finish('tool-calls')], [...text('Six.'), finish()]);
    const dice = tool({
      inputSchema: z.object({ sides: z.number() }),
      needsApproval: true,
      execute: ({ sides }) => sides,
    });
    const page = await pageWith({ model, tools: { dice } });
    await page.chats.active.sendMessage({ text: 'Roll?' });
    expect(page.shown()).toBe('q: Roll? | a: [dice approval-requested]');
    const part = page.chats.active.messages[1]!.parts.at(-1) as { approval: { id: string } };
    await page.chats.active.addToolApprovalResponse({ id: part.approval.id, approved: true });
    await expect.poll(() => page.stored()).toBe('q: Roll? | a: [dice output-available]/Six.');
    await page.chats.whenSettled();
    expect(page.engine.state.getState().branches).toHaveLength(1);
  });

  it('fails in its own words, with the status before them, and can be asked again', async () => {
    const refused = Object.assign(new Error('Invalid API key'), { statusCode: 401 });
    const { model } = modelOf(refused, [...text('First.'), finish()]);
    const page = await pageWith({ model });
    await page.chats.active.sendMessage({ text: 'One?' });
    expect(page.chats.active.status).toBe('error');
    expect(page.chats.active.error?.message).toBe('401: Invalid API key');
    await page.chats.whenSettled();
    expect(await page.stored()).toBe('q: One?');
    await page.chats.active.regenerate();
    expect(await page.stored()).toBe('q: One? | a: First.');
  });

  it.each<[string, Part[], string | undefined]>([
    ['fails in mid-answer', [{ type: 'error', error: new Error('overloaded') }], 'overloaded'],
    ['ends without a finish', [], undefined],
  ])('that %s leaves its words, and was cut off', async (_, end, error) => {
    const { model } = modelOf([...text('Fir').slice(0, 2), ...end]);
    const page = await pageWith({ model });
    await page.chats.active.sendMessage({ text: 'One?' });
    await page.chats.whenSettled();
    expect(page.chats.active.error?.message).toBe(error);
    expect(await page.stored()).toBe('q: One? | a: Fir');
    expect(page.engine.status(page.chats.active.messages[1]!.id)).toBe('interrupted');
  });

  it('stops when it is told to', async () => {
    let aborted = false;
    const { model } = modelOf();
    const endless: Model = {
      ...model,
      doStream: async ({ abortSignal }) => ({
        stream: new ReadableStream({
          start: (controller) => {
            for (const part of text('Fir').slice(0, 2)) controller.enqueue(part);
            abortSignal?.addEventListener('abort', () => {
              aborted = true;
              controller.error(abortSignal.reason);
            });
          },
        }),
      }),
    };
    const page = await pageWith({ model: endless });
    void page.chats.active.sendMessage({ text: 'One?' });
    await expect.poll(() => page.shown()).toBe('q: One? | a: Fir');
    await page.chats.active.stop();
    expect(aborted).toBe(true);
    expect(await page.stored()).toBe('q: One? | a: Fir');
  });
});

it.runIf(SDK > 5)('may be an agent of the AI SDK, behind its own transport', async () => {
  const { model, calls } = modelOf([...text('First.'), finish()], [...text('Second.'), finish()]);
  const agent = new ai.ToolLoopAgent({ model, instructions: 'Be brief.' });
  const page = await openPage(undefined, {
    transport: new ai.DirectChatTransport({ agent }) as ChatTransport<UIMessage>,
  });
  await page.chats.active.sendMessage({ text: 'One?' });
  await page.chats.active.sendMessage({ text: 'Two?' });
  expect(page.shown()).toBe('q: One? | a: First. | q: Two? | a: Second.');
  expect(words((await page.engine.resolve()).messages)).toBe(page.shown());
  expect(calls[1]!.prompt.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user']);
});

it.runIf(SDK > 5)(
  'takes the prompt of the engine where an agent asks for it: its transport knows of no body',
  async () => {
    const { model, calls } = modelOf([...text('First.'), finish()]);
    const { chats, engine } = await openPage();
    engine.set(hint('Be brief.'));
    const agent = new ai.ToolLoopAgent({
      model,
      prepareCall: async (call) => ({ ...call, instructions: (await engine.resolve()).systemPrompt }),
    });
    chats.configure({ transport: new ai.DirectChatTransport({ agent }) as ChatTransport<UIMessage> });
    await chats.active.sendMessage({ text: 'One?' });
    expect(calls[0]!.prompt[0]).toMatchObject(systemWith('Be brief.'));
  },
);

it('answers a plain list of messages as well, without an engine', async () => {
  const { model, calls } = modelOf([...text('First.'), finish()]);
  const stream = await createLocalTransport({ model }).sendMessages({
    chatId: 'c',
    trigger: 'submit-message',
    messageId: undefined,
    messages: [{ id: 'q', role: 'user', parts: [{ type: 'text', text: 'One?' }] }],
    abortSignal: undefined,
  });
  const types = [];
  for await (const { type } of stream as never as AsyncIterable<{ type: string }>) types.push(type);
  expect(types).toContain('text-delta');
  expect(types.at(-1)).toBe('finish');
  expect(words([])).toBe('');
  expect(calls[0]!.prompt.map(({ role }) => role)).toEqual(['user']);
});
