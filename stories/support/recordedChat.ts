import type { UIMessageChunk } from 'ai';
import { fragment, hint, role, type ContextEngine } from 'contextree';
import { createContextChats, type ContextChats } from 'contextree/ai';

// A chat that asks a model which is told what to say, while its requests are recorded: for stories of what was sent, what
// it cost, and why a cache broke. The model keeps what it has read, as providers do.

/** How a model of a story is. */
export interface StoryModel {
  /** `provider:model`; '' where nobody tells. */
  readonly model?: string;
  /** Whether it tells its tokens. Default true. */
  readonly tellsUsage?: boolean;
  /** Fails before its first word. */
  readonly fails?: boolean;
  /** Whether it runs in the browser, where no tool runs by itself. */
  readonly runsDry?: boolean;
  /** Whether its requests are recorded by more than the panel. Default true. */
  readonly records?: boolean;
  /** What it answers, in turn; then it says that it has nothing to add. */
  readonly answers?: readonly string[];
}

/** Chats of an engine over such a model, recorded from now on. */
export function recordedChats(engine: ContextEngine, story: StoryModel = {}): ContextChats {
  if (story.records !== false) engine.record();
  return createContextChats({ engine, transport: transportOf(story), onError: () => {} });
}

type Transport = NonNullable<Parameters<typeof createContextChats>[0]['transport']>;
type Told = { readonly model?: string; readonly tools: object };

function transportOf({
  model = 'openai:gpt-4o',
  tellsUsage = true,
  fails = false,
  runsDry = false,
  answers = [],
}: StoryModel): Transport {
  const read: string[] = [];
  const left = [...answers];
  return {
    runsDry,
    sendMessages: async ({ messages, body, metadata }) => {
      const { tell } = Object((metadata as { contextree?: unknown } | undefined)?.contextree) as {
        readonly tell?: (told: Told) => void;
      };
      if (model) tell?.({ model, tools: {} });
      if (fails) throw new Error('503: the model is overloaded. Try again in a minute.');
      const text = JSON.stringify([body, messages]).slice(0, -2);
      const shared = Math.max(0, ...read.map((one) => alike(one, text)));
      read.push(text);
      const words = left.shift() ?? 'There is nothing to add to that.';
      const cacheReadTokens = Math.floor(shared / 4 / 128) * 128;
      return streamOf(words, {
        ...(model && { modelId: model }),
        ...(tellsUsage && {
          usage: {
            inputTokens: Math.round(text.length / 4) + 60,
            outputTokens: Math.round(words.length / 4),
            inputTokenDetails: { cacheReadTokens },
          },
        }),
      });
    },
    reconnectToStream: () => Promise.resolve(null),
  } as Transport & { readonly runsDry: boolean };
}

function alike(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  return at;
}

function streamOf(words: string, messageMetadata: object): ReadableStream<UIMessageChunk> {
  const chunks: UIMessageChunk[] = [
    { type: 'start' },
    { type: 'start-step' },
    { type: 'text-start', id: 't' },
    ...(words.match(/\S+\s*/g) ?? []).map((delta): UIMessageChunk => ({
      type: 'text-delta',
      id: 't',
      delta,
    })),
    { type: 'text-end', id: 't' },
    { type: 'finish-step' },
    { type: 'finish', finishReason: 'stop', messageMetadata },
  ];
  return new ReadableStream({
    start: (controller) => {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
}

/** Asks a question, and waits for the whole answer. */
export async function ask(chats: ContextChats, text: string): Promise<void> {
  await chats.active.sendMessage({ text });
  await chats.whenSettled();
}

/** House rules of about 1,500 tokens: as long as prompts of real apps are. */
export const HOUSE_RULES: string = [
  'Answer in the language of the question.',
  'Say what you do not know.',
  'Name the source of every figure.',
  'Prefer a table where there are more than three numbers.',
  'Never promise a date.',
  'Ask back where a question has two meanings.',
]
  .flatMap((rule) => Array.from({ length: 24 }, (_, i) => `Rule ${i + 1}: ${rule}`))
  .join(' ');

/** A chat of three turns whose prompt holds the time: each turn reads all of it again. */
export async function talkAgainstTheClock(engine: ContextEngine): Promise<void> {
  let minute = 0;
  const clock = (): string =>
    `It is 10:${String((minute += 1)).padStart(2, '0')} on Thursday, 26 November 2026.`;
  engine.set(
    { ...fragment('now', clock), id: 'clock' },
    role('You are the help desk of a tea house.'),
    { ...fragment('rules', HOUSE_RULES), id: 'house-rules' },
    hint('Be brief.'),
  );
  const chats = recordedChats(engine, {
    answers: [
      'Oolong is half oxidised: between green and black tea.',
      'Three to five minutes, with water just under the boil.',
      'Yes, two or three times. Each time it needs a minute more.',
    ],
  });
  for (const question of ['What is oolong?', 'How long does it steep?', 'Can I use the leaves twice?'])
    await ask(chats, question);
}
