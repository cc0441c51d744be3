import { failure } from './model/failure.ts';
import { createPace, type Pace, timerSleep } from './model/pace.ts';
import { wordsOf } from './model/prose.ts';
import { type CallOptions, type DemoModel, readScene } from './model/scene.ts';
import { type Ending, type Script, type ToolCall, writeScript } from './model/script.ts';

/**
 * The demo model: a machine in the shape of a language model, so that the demo is honest without a network.
 *
 * A demo that plays back recorded answers proves nothing, and one that needs a key is tried by nobody. This model is
 * neither. It is called as every other model is, through `streamText`; it sees the prompt and the messages that every
 * other model would see; it can be stopped, continued, made to fail and made to hang. Only its wit is borrowed: it talks
 * about what reached it, which is what one wants to know of a context engine.
 *
 * A request becomes a scene (what the model talks about), the scene becomes a script (what is to be said, a pure
 * function), and here the script is performed, word by word and on time. Whatever depends on a clock or on an abort
 * stands in this file and in `pace`; all the rest is text.
 */

export type { DemoModel } from './model/scene.ts';
export { createDemoTools } from './model/tools.ts';

/** How a demo model is made. */
export interface DemoModelOptions {
  /** Another seed, other words; 1 by default. */
  readonly seed?: number;
  /** 1 for the usual pace (the default), 2 for twice as fast, 0 for no delay at all. */
  readonly speed?: number;
  /** Waits so many milliseconds; tests may wait otherwise. Not called at speed 0. */
  readonly sleep?: (ms: number) => Promise<void>;
}

/** Milliseconds before the first word and between two words; `slow` is for questions that say so. */
const firstWordMs = 40;
const nextWordMs = { usual: 20, slow: 150 };

/**
 * A model for `streamText` and `generateText`.
 *
 * Its answer follows from prompt, messages, seed and `providerOptions.demo.attempt` (the number of earlier versions,
 * 0 when absent). A prompt that ends with an assistant message is continued at its exact word. An abort rejects with the
 * signal's reason within one word; failures that the person asked for are `APICallError`s with a message to show.
 */
export function createDemoModel({
  seed = 1,
  speed = 1,
  sleep = timerSleep,
}: DemoModelOptions = {}): DemoModel {
  const prepare = (call: CallOptions, signals: (AbortSignal | undefined)[]): Performance => {
    const scene = readScene(call.prompt);
    const script = writeScript(scene, { seed, attempt: attemptOf(call), tools: toolNames(call) });
    const signal = AbortSignal.any(signals.filter((signal) => signal !== undefined));
    const wordMs = script.slow ? nextWordMs.slow : nextWordMs.usual;
    const pace = createPace({ firstWordMs, nextWordMs: wordMs, speed, sleep, signal });
    return { script, pace, inputTokens: tokens(scene.characters) };
  };

  return {
    specificationVersion: 'v4',
    provider: 'demo',
    modelId: 'demo',
    // Attachments stay where they are: nothing is downloaded for a model that reads only words.
    supportedUrls: { '*/*': [/.*/] },
    async doStream(call) {
      const cancelled = new AbortController();
      const performance = prepare(call, [call.abortSignal, cancelled.signal]);
      await refuseIfAsked(performance);
      return { stream: streamOf(perform(performance), cancelled) };
    },
    async doGenerate(call) {
      const performance = prepare(call, [call.abortSignal]);
      await refuseIfAsked(performance);
      return collect(perform(performance));
    },
  };
}

/** One script on its way to being heard. */
interface Performance {
  readonly script: Script;
  readonly pace: Pace;
  readonly inputTokens: number;
}

type Streamed = Awaited<ReturnType<DemoModel['doStream']>>;
type Generated = Awaited<ReturnType<DemoModel['doGenerate']>>;
type StreamPart = Streamed['stream'] extends ReadableStream<infer Part> ? Part : never;
type Finish = Extract<StreamPart, { type: 'finish' }>;
type Parts = AsyncGenerator<StreamPart, void, undefined>;

function attemptOf({ providerOptions }: CallOptions): number {
  const attempt = providerOptions?.['demo']?.['attempt'];
  return typeof attempt === 'number' && attempt > 0 ? Math.floor(attempt) : 0;
}

function toolNames({ tools = [], toolChoice }: CallOptions): string[] {
  return toolChoice?.type === 'none' ? [] : tools.map(({ name }) => name);
}

/** A refusal comes in place of the stream, when the first word would have come. */
async function refuseIfAsked({ script: { ending }, pace }: Performance): Promise<void> {
  if (ending.type !== 'refuse') return;
  await pace.nextWord();
  throw failure(ending.kind);
}

/** Says the script to its end. A hanging one never gets to its first word; a dropped one ends in mid-air. */
async function* perform({ script, pace, inputTokens }: Performance): Parts {
  const { thoughts, text, call, ending } = script;
  yield { type: 'stream-start', warnings: [] };
  if (ending.type === 'hang') await pace.forever();
  yield { type: 'response-metadata', id: script.id, modelId: 'demo' };
  yield* say('reasoning', thoughts, pace);
  yield* say('text', text, pace, { broken: ending.type === 'fail' || ending.type === 'drop' });
  if (call) yield* callTool(call, pace);
  if (ending.type === 'fail') yield { type: 'error', error: failure(ending.kind) };
  if (ending.type !== 'drop') yield finish(script, inputTokens);
}

async function* say(type: 'reasoning' | 'text', text: string, pace: Pace, { broken = false } = {}): Parts {
  const words = wordsOf(text);
  for (const [i, delta] of words.entries()) {
    await pace.nextWord();
    if (i === 0) yield { type: `${type}-start`, id: type };
    yield { type: `${type}-delta`, id: type, delta };
  }
  if (words.length > 0 && !broken) yield { type: `${type}-end`, id: type };
}

async function* callTool({ toolCallId, toolName, input }: ToolCall, pace: Pace): Parts {
  const json = JSON.stringify(input);
  await pace.nextWord();
  yield { type: 'tool-input-start', id: toolCallId, toolName };
  await pace.nextWord();
  yield { type: 'tool-input-delta', id: toolCallId, delta: json };
  yield { type: 'tool-input-end', id: toolCallId };
  yield { type: 'tool-call', toolCallId, toolName, input: json };
}

function finish({ thoughts, text, call, ending }: Script, inputTokens: number): Finish {
  const reasoning = tokens(thoughts.length);
  const spoken = tokens(text.length + (call ? JSON.stringify(call.input).length : 0));
  return {
    type: 'finish',
    finishReason: { unified: unified(ending), raw: ending.type },
    usage: {
      inputTokens: { total: inputTokens, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: spoken + reasoning, text: spoken, reasoning },
    },
  };
}

function unified({ type }: Ending): Finish['finishReason']['unified'] {
  if (type === 'fail') return 'error';
  return type === 'tool-calls' ? 'tool-calls' : 'stop';
}

/** Four characters make about one token; this model has no better idea of them. */
function tokens(characters: number): number {
  return Math.ceil(characters / 4);
}

/** Pulled word by word: nothing is said before somebody listens, and a listener who leaves stops it at once. */
function streamOf(parts: Parts, cancelled: AbortController): Streamed['stream'] {
  return new ReadableStream<StreamPart>(
    {
      async pull(controller) {
        const next = await parts.next();
        if (next.done) controller.close();
        else controller.enqueue(next.value);
      },
      cancel: (reason) => cancelled.abort(reason),
    },
    { highWaterMark: 0 },
  );
}

/** The same performance, heard to its end before it is passed on. What would break a stream rejects. */
async function collect(parts: Parts): Promise<Generated> {
  const said = { reasoning: '', text: '' };
  const calls: Generated['content'] = [];
  for await (const part of parts) {
    if (part.type === 'reasoning-delta') said.reasoning += part.delta;
    if (part.type === 'text-delta') said.text += part.delta;
    if (part.type === 'tool-call') calls.push(part);
    if (part.type === 'error') throw part.error;
    if (part.type === 'finish') {
      const { finishReason, usage } = part;
      return { content: [...contentOf(said), ...calls], finishReason, usage, warnings: [] };
    }
  }
  throw failure('midway');
}

function contentOf({ reasoning, text }: { reasoning: string; text: string }): Generated['content'] {
  return [
    { type: 'reasoning' as const, text: reasoning },
    { type: 'text' as const, text },
  ].filter((part) => part.text !== '');
}
