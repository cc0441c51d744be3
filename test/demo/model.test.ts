import { APICallError, generateText, isStepCount, type ModelMessage, streamText } from 'ai';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  createDemoModel,
  createDemoTools,
  type DemoModel,
  type DemoModelOptions,
} from '../../stories/demo/model.ts';

/** What a request may bring beside the question. */
interface Setting extends DemoModelOptions {
  instructions?: string;
  history?: ModelMessage[];
  /** What stands of the answer already. */
  begun?: string | string[];
  attempt?: number;
  withTools?: boolean;
  abortSignal?: AbortSignal;
}

/** Asks through `streamText`, as the demo does. */
function ask(question: string, setting: Setting = {}) {
  const { instructions, history = [], begun = [], attempt, withTools, abortSignal, ...options } = setting;
  return streamText({
    model: createDemoModel({ speed: 0, ...options }),
    ...(instructions !== undefined && { instructions }),
    ...(attempt !== undefined && { providerOptions: { demo: { attempt } } }),
    ...(withTools && { tools: createDemoTools(), stopWhen: isStepCount(3) }),
    ...(abortSignal && { abortSignal }),
    messages: [
      ...history,
      user(question),
      ...[begun].flat().map((content) => ({ role: 'assistant' as const, content })),
    ],
    onError: () => undefined,
  });
}

function user(content: string): ModelMessage {
  return { role: 'user', content };
}

function assistant(content: string): ModelMessage {
  return { role: 'assistant', content };
}

/** Everything that an answer leads to, in order. */
async function heard(answer: ReturnType<typeof ask>) {
  const parts = [];
  for await (const part of answer.stream) parts.push(part);
  const text = parts.map((part) => (part.type === 'text-delta' ? part.text : '')).join('');
  const error = parts.find((part) => part.type === 'error')?.error;
  return { parts, text, error, types: parts.map(({ type }) => type) };
}

function countWords(text: string): number {
  return text.split(/\s+/).filter(Boolean).length;
}

const tutor = '<role>You are a tutor.</role>\n<hint>Be brief.</hint>';
const aboutTrees = [
  user('My name is Ada.'),
  assistant('Hello Ada.'),
  user('I like trees.'),
  assistant('So do I.'),
];
const seeds = Array.from({ length: 25 }, (_, seed) => seed);

describe('an ordinary answer', () => {
  it('has 40 to 80 words, whatever the seed, the question and the prompt', async () => {
    const more = 'abcdefgh'
      .split('')
      .map((name) => `<${name}>x</${name}>`)
      .join('');
    const tale = [user('a line that goes on and on '.repeat(9)), assistant('I see.')];
    for (const seed of seeds) {
      const short = await ask('Hi', { seed }).text;
      const full = await ask('why is that so '.repeat(9), { seed, history: tale, instructions: tutor + more })
        .text;
      expect(countWords(short)).toBeGreaterThanOrEqual(40);
      expect(countWords(full)).toBeLessThanOrEqual(80);
    }
  });

  it('keeps the Markdown and HTML of a question from breaking out of the quotation', async () => {
    const text = await ask('is `a <b> *c* [d](e)\n\n# f').text;
    expect(text).toContain('“is \\`a \\<b\\> \\*c\\* \\[d\\](e) # f”');
  });

  it('quotes no mark that would turn the direction of its own sentence', async () => {
    for (const seed of seeds.slice(0, 8))
      expect(await ask('a\u202Eb \u2067c\u2069', { seed }).text).toContain('“ab c”');
  });

  it('cuts a long quotation between characters, never within one', async () => {
    const text = await ask('👩‍👩‍👧'.repeat(200)).text;
    expect(text).toContain('👩‍👩‍👧…”');
    expect(text).not.toMatch(/\p{Surrogate}/u);
  });

  it('takes up the word that the question turns on', async () => {
    for (const seed of seeds.slice(0, 8))
      expect(await ask('Why do rivers bend?', { seed }).text).toContain('*rivers*');
  });

  it('keeps what the prompt is made of to the devtools', async () => {
    const text = await ask('Hi', { instructions: tutor, history: aboutTrees }).text;
    expect(text).not.toMatch(/fragment|message|role|Ada/);
  });

  it('was written by somebody for the questions that the app offers, three times each', async () => {
    const question = 'How is a conversation like a tree?';
    const texts = await Promise.all([0, 1, 2, 3].map((attempt) => ask(question, { attempt }).text));
    expect(new Set(texts).size).toBe(4);
    for (const text of texts.slice(0, 3)) {
      expect(countWords(text)).toBeGreaterThan(60);
      expect(text).not.toContain('demo model');
    }
    expect(texts[3]).toContain('“How is a conversation like a tree?”');
    expect(await ask('  how is a conversation like a TREE').text).toBe(texts[0]);
  });

  it('follows from prompt, messages, seed and attempt, and from nothing else', async () => {
    const setting = { history: aboutTrees, instructions: tutor };
    const text = await ask('Why?', setting).text;
    expect(await ask('Why?', setting).text).toBe(text);
    const others = await Promise.all([
      ask('How?', setting).text,
      ask('Why?', { ...setting, history: [] }).text,
      ask('Why?', { ...setting, seed: 2 }).text,
      ...[1, 2, 3, 4, 5, 6, 7].map((attempt) => ask('Why?', { ...setting, attempt }).text),
    ]);
    expect(new Set([text, ...others]).size).toBe(11);
  });

  it('answers a message without words, and a prompt without a question', async () => {
    expect(await ask('').text).toContain('a message without words');
    const text = await streamText({ model: createDemoModel({ speed: 0 }), messages: [assistant('Hello.')] })
      .text;
    expect(text).not.toBe('');
  });

  it('tells its usage at the finish', async () => {
    const { parts, text } = await heard(ask('x'.repeat(400)));
    const finish = parts.find((part) => part.type === 'finish');
    expect(finish?.totalUsage).toMatchObject({ inputTokens: 100, outputTokens: Math.ceil(text.length / 4) });
    // It keeps no prompts, so no cache of it can break.
    expect(finish?.totalUsage.inputTokenDetails).toEqual({});
  });
});

describe('the clock', () => {
  it('brings the first word within 100 ms and then one per 20 ms', async () => {
    const { sleep, woken } = ownClock((ms) => ms);
    const { parts } = await heard(ask('Why?', { speed: 1, sleep }));
    const words = parts.filter((part) => part.type === 'text-delta');
    expect(words.every((word) => countWords(word.text) === 1)).toBe(true);
    expect(woken).toEqual(words.map((_, i) => 40 + 20 * i));
  });

  it('brings one word per 150 ms when the question says slow', async () => {
    const { sleep, waits } = recordedSleep();
    const { text } = await heard(ask('Tell me, slow please', { speed: 1, sleep }));
    expect(waits).toEqual([40, ...Array.from({ length: countWords(text) - 1 }, () => 150)]);
  });

  it('catches up where timers are late, as in a hidden tab', async () => {
    const { sleep, woken } = ownClock((ms) => (ms > 0 ? 500 : 0));
    const { text } = await heard(ask('Why?', { speed: 1, sleep }));
    const due = Array.from({ length: countWords(text) }, (_, i) => 40 + 20 * i);
    expect(woken.map((at, i) => at - due[i]!).every((late) => late >= 0 && late <= 500)).toBe(true);
  });

  it('stops at once even while a wait would go on for ever', async () => {
    const stop = new AbortController();
    const { sleep, asleep } = endlessSleep();
    const { stream } = await createDemoModel({ sleep }).doStream(call('Why?', stop.signal));
    const reading = drain(stream);
    await asleep;
    stop.abort(new Error('enough'));
    await expect(reading).rejects.toThrow('enough');
  });
});

/** One request as the SDK hands it to a model. */
function call(question: string, abortSignal?: AbortSignal): Parameters<DemoModel['doStream']>[0] {
  const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: question }] }];
  return { prompt, ...(abortSignal && { abortSignal }) };
}

/** A clock that stands still but for sleeps, which last as long as is said; `woken` tells when they were over, in ms. */
function ownClock(lasting: (ms: number) => number) {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const begun = performance.now();
  const woken: number[] = [];
  const sleep = async (ms: number): Promise<void> => {
    vi.advanceTimersByTime(lasting(ms));
    woken.push(performance.now() - begun);
  };
  return { sleep, woken };
}

/** A sleep from which nobody wakes; `asleep` resolves when it has begun. */
function endlessSleep() {
  let fallAsleep = (): void => undefined;
  const asleep = new Promise<void>((resolve) => (fallAsleep = resolve));
  const sleep = (): Promise<void> => {
    fallAsleep();
    return new Promise(() => undefined);
  };
  return { sleep, asleep };
}

/** A sleep that takes no time, on a clock that stands still. */
function recordedSleep() {
  const clock = vi.spyOn(performance, 'now').mockReturnValue(0);
  onTestFinished(() => clock.mockRestore());
  const waits: number[] = [];
  const sleep = async (ms: number): Promise<void> => {
    waits.push(Math.round(ms));
  };
  return { sleep, waits };
}

async function drain(stream: ReadableStream<unknown>): Promise<void> {
  const reader = stream.getReader();
  while (!(await reader.read()).done);
}

describe('a partial answer', () => {
  it.each(['Why is the sky blue?', '/markdown', '/help', '/think aloud'])(
    'is continued at its exact word: %s',
    async (question) => {
      const setting = { history: aboutTrees, instructions: tutor };
      const whole = await ask(question, setting).text;
      const words = whole.match(/\s*\S+/g)!;
      for (let said = 1; said <= words.length; said += 4) {
        const begun = words.slice(0, said).join('');
        expect(begun + (await ask(question, { ...setting, begun }).text)).toBe(whole);
      }
    },
    20_000, // each fourth word of the answer is a place to be cut off at
  );

  it('is continued as the attempt that it belongs to', async () => {
    const whole = await ask('Why?', { attempt: 2 }).text;
    const begun = whole.slice(0, 60);
    expect(begun + (await ask('Why?', { begun }).text)).toBe(whole);
    expect(begun + (await ask('Why?', { begun, attempt: 2 }).text)).toBe(whole);
  });

  it('is continued although a fragment says something else by now', async () => {
    const whole = await ask('Why?', { instructions: '<time>12:00</time>' }).text;
    const begun = whole.slice(0, 60);
    expect(begun + (await ask('Why?', { begun, instructions: '<time>12:01</time>' }).text)).toBe(whole);
  });

  it('gets a bridge when its first half is not ours, and the bridge is continued too', async () => {
    const begun = 'Words that somebody edited';
    const bridge = await ask('Why?', { begun }).text;
    expect(bridge).toMatch(/^\n\nHere I pick up the thread\./);
    const rest = await ask('Why?', { begun: begun + bridge.slice(0, 40) }).text;
    expect(rest).toBe(bridge.slice(40));
  });

  it('keeps its thoughts: they go on where they stopped, and are not thought twice', async () => {
    const { parts } = await heard(ask('/think'));
    const thoughts = parts.map((part) => (part.type === 'reasoning-delta' ? part.text : '')).join('');
    const model = createDemoModel({ speed: 0 });
    const resumed = await generateText({
      model,
      messages: [
        user('/think'),
        { role: 'assistant', content: [{ type: 'reasoning', text: thoughts.slice(0, 50) }] },
      ],
    });
    expect(thoughts.slice(0, 50) + resumed.reasoningText).toBe(thoughts);
    expect(await ask('/think', { begun: resumed.text.slice(0, 20) }).reasoningText).toBeUndefined();
  });
});

describe('words anywhere in the question', () => {
  it('answers with at least 600 words when it says long', async () => {
    for (const seed of seeds.slice(0, 10))
      expect(countWords(await ask('Tell me a long story', { seed }).text)).toBeGreaterThanOrEqual(600);
  });

  it.each(['/markdown', '/help', '/tool', '/approve', '/think', '/fail after 700'])(
    'says as much after %s',
    async (command) => {
      const text = await ask(`${command} long`, { withTools: false }).text;
      expect(countWords(text)).toBeGreaterThanOrEqual(600);
    },
  );

  it('says as much when a tool has answered', async () => {
    const { steps } = ask('/tool a long story of the dice', { withTools: true });
    expect(countWords((await steps).map(({ text }) => text).join(' '))).toBeGreaterThanOrEqual(600);
  });

  it('takes no part of a word for a word', async () => {
    const { sleep, waits } = recordedSleep();
    const text = await ask('Do slowly things belong along the way?', { speed: 1, sleep }).text;
    expect(countWords(text)).toBeLessThanOrEqual(80);
    expect(waits[1]).toBe(20);
  });
});

describe('commands', () => {
  it('/markdown shows headings, a list, a table, a code block and a link', async () => {
    const text = await ask('/markdown').text;
    for (const form of [
      /^# /m,
      /^## /m,
      /^- /m,
      /^ {2}- /m,
      /^1\. /m,
      /^\| --- \|/m,
      /^```ts$/m,
      /\]\(https:\/\//,
    ])
      expect(text).toMatch(form);
  });

  it('/tool says what is missing where the tool is not offered', async () => {
    const { types, text } = await heard(ask('/tool'));
    expect(text).toContain('`rollDice`');
    expect(types).not.toContain('tool-call');
  });

  it('/tool calls under another id each time', async () => {
    const history = [user('/tool'), ...(await ask('/tool', { withTools: true }).responseMessages)];
    const ids = (
      await Promise.all([{}, { attempt: 1 }, { history }].map((setting) => callId(setting)))
    ).flat();
    expect(new Set(ids).size).toBe(3);
  });

  const callId = async (setting: Setting) =>
    (await ask('/tool', { withTools: true, ...setting }).steps).flatMap(({ toolCalls }) =>
      toolCalls.map(({ toolCallId }) => toolCallId),
    );

  it('says so when a tool fails', async () => {
    const tools = createDemoTools();
    const tool = { ...tools.rollDice, execute: () => Promise.reject(new Error('the dice are lost')) };
    const { text } = streamText({
      model: createDemoModel({ speed: 0 }),
      tools: { rollDice: tool },
      prompt: '/tool',
      stopWhen: isStepCount(3),
    });
    expect(await text).toContain('the dice are lost');
  });

  it.each([0, 1, 5, 12, 900])('/fail after %i says so many words first', async (words) => {
    const { parts, text, error } = await heard(ask(`/fail after ${words}`));
    expect(countWords(text)).toBe(words);
    expect((error as Error).message).toContain('connection broke');
    expect(parts.find((part) => part.type === 'finish')?.finishReason).toBe('error');
  });

  it.each(['/fail after 5', '/drop'])('what %s left can be continued to the end', async (question) => {
    const begun = (await heard(ask(question))).text;
    const { text, error, parts } = await heard(ask(question, { begun }));
    expect(error).toBeUndefined();
    expect(parts.at(-1)).toMatchObject({ type: 'finish', finishReason: 'stop' });
    expect(countWords(begun + text)).toBeGreaterThanOrEqual(40);
  });

  it.each([
    [401, 'API key'],
    [429, 'Too many requests'],
    [500, 'server'],
  ])('/fail %i fails as an endpoint does, in words', async (status, words) => {
    const { error, text } = await heard(ask(`/fail ${status}`));
    expect(APICallError.isInstance(error) && error.statusCode).toBe(status);
    expect((error as Error).message).toContain(words);
    expect(text).toBe('');
  });

  it('/help lists every command', async () => {
    const text = await ask('/help').text;
    const all = [
      '/markdown',
      '/think',
      '/tool',
      '/approve',
      '/fail',
      '/fail after',
      '/fail 401',
      '/fail 429',
    ];
    for (const command of [...all, '/fail 500', '/drop', '/hang', '/help', 'long', 'slow'])
      expect(text).toContain(`\`${command}`);
  });

  it.each([
    'why does this fail?',
    'please /fail',
    '/failing is human',
    'fail after 5',
    'What does /help do?',
    'drop it, hang it, think',
    '/unknown',
    '//fail',
  ])('nothing else triggers: %s', async (question) => {
    const { error, types, text } = await heard(ask(question, { withTools: true }));
    expect(error).toBeUndefined();
    expect(types.at(-1)).toBe('finish');
    expect(types).not.toContain('reasoning-start');
    expect(text).toContain(`“${question}”`);
    expect(countWords(text)).toBeGreaterThanOrEqual(40);
  });
});
