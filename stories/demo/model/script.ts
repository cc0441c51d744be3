import { chance, fingerprint } from './chance.ts';
import { readRequest, type Request } from './commands.ts';
import type { FailureKind } from './failure.ts';
import * as prose from './prose.ts';
import type { Scene } from './scene.ts';
import { shelfFiles } from './tools.ts';

/** A tool to call when the text is said. `toolCallId` differs between any two calls of a conversation. */
export interface ToolCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** How an answer ends. `refuse` fails before the first chunk; `hang` never says or ends anything. */
export type Ending =
  | { readonly type: 'stop' | 'tool-calls' | 'drop' | 'hang' }
  | { readonly type: 'refuse' | 'fail'; readonly kind: FailureKind };

/** What is to be said, in this order: thoughts, text, a call, the ending. Thoughts and text may be empty. */
export interface Script {
  readonly thoughts: string;
  readonly text: string;
  readonly call?: ToolCall;
  readonly ending: Ending;
  /** Whether the person asked for it slowly. */
  readonly slow: boolean;
  /** Names the response: the same answer has the same id. */
  readonly id: string;
}

/** What an answer follows from, beside the scene. */
export interface Casting {
  readonly seed: number;
  /** How many versions of the answer there are already. */
  readonly attempt: number;
  /** Names of the tools that the request offers. */
  readonly tools: readonly string[];
}

/**
 * What is left to say in a scene.
 *
 * The whole answer is written first, and its part that already exists is removed from its front. The answer depends on the
 * conversation alone, so an interrupted one continues at the exact character, however often it is interrupted. Its first half
 * tells which attempt it belongs to: the requested one is tried first, then the others. A beginning that this model would never
 * have made (it was edited, or the fragments have changed) stays, and is followed by a bridge.
 */
export function writeScript(scene: Scene, casting: Casting): Script {
  for (const attempt of [casting.attempt, ...earliestAttempts]) {
    const rest = remaining(writeWhole(scene, { ...casting, attempt }), scene.begun);
    if (rest) return rest;
  }
  return bridge(scene, casting);
}

const earliestAttempts = Array.from({ length: 16 }, (_, attempt) => attempt);

/** A whole answer. `breaksAfter`: the number of words after which its ending comes, where that is not all of them. */
interface Whole extends Script {
  readonly breaksAfter?: number;
}

/**
 * The answer without its existing beginning; undefined where that is not how it begins. An answer that broke at `/fail after 5`
 * can be continued to the end: a breaking point that has passed does not break it again.
 */
function remaining({ breaksAfter, ...whole }: Whole, begun: Scene['begun']): Script | undefined {
  if (!whole.text.startsWith(begun.text)) return undefined;
  const rest = {
    ...whole,
    thoughts: begun.text === '' ? after(begun.reasoning, whole.thoughts) : '',
    text: whole.text.slice(begun.text.length),
  };
  if (breaksAfter === undefined) return rest;
  const wordsLeft = breaksAfter - prose.wordsOf(begun.text).length;
  return begun.text === '' || wordsLeft > 0
    ? { ...rest, text: prose.wordsOf(rest.text).slice(0, wordsLeft).join('') }
    : { ...rest, ending: { type: 'stop' } };
}

/** Thoughts that began otherwise are over: the answer comes next. */
function after(beginning: string, thoughts: string): string {
  return thoughts.startsWith(beginning) ? thoughts.slice(beginning.length) : '';
}

function writeWhole(scene: Scene, { seed, attempt, tools }: Casting): Whole {
  const request = readRequest(scene.question);
  const key = `${seed}:${attempt}:${scene.key}`;
  const id = `demo-${fingerprint(key)}`;
  const base = chance(`${seed}:${scene.key}`);
  const occasion = { scene, subject: request.subject, attempt, by: chance(key), base };
  const told = { thoughts: '', text: '', ending: { type: 'stop' }, slow: request.slow, id } as const;
  return scene.toolResults.length > 0
    ? { ...told, text: atLength(request, occasion, prose.afterTools(occasion)) }
    : { ...told, ...obey(request, occasion, { id, tools }) };
}

/** A text as it is, or as long as the person asked for. */
function atLength({ long }: Request, occasion: prose.Occasion, text: string): string {
  return long ? prose.lengthened(text, occasion, LONG) : text;
}

/** Words that are called long. */
const LONG = 600;

interface Stage {
  readonly id: string;
  readonly tools: readonly string[];
}

function obey(request: Request, occasion: prose.Occasion, stage: Stage): Partial<Whole> {
  const { command } = request;
  const tell = (text: string): string => atLength(request, occasion, text);
  const reply = (): string => tell(prose.answer(occasion));
  switch (command?.name) {
    case 'markdown':
      return { text: tell(prose.markdown(occasion)) };
    case 'think':
      return { thoughts: prose.thoughts(occasion), text: reply() };
    case 'tool':
      return throwDice(occasion, stage) ?? { text: tell(prose.withoutTool(occasion, 'rollDice')) };
    case 'approve':
      return deleteFile(occasion, stage) ?? { text: tell(prose.withoutTool(occasion, 'deleteFile')) };
    case 'help':
      return { text: tell(prose.help()) };
    case 'hang':
      return { ending: { type: 'hang' } };
    case 'drop':
      return brokenInTheMiddle(reply());
    case 'fail':
      return command.afterWords === undefined
        ? { ending: { type: 'refuse', kind: command.status ?? 'before' } }
        : brokenAfter(command.afterWords, reply(), occasion);
    default:
      return { text: reply() };
  }
}

/** Undefined where the app does not offer the tool. */
function throwDice(occasion: prose.Occasion, { id, tools }: Stage): Partial<Whole> | undefined {
  if (!tools.includes('rollDice')) return undefined;
  const input = { count: occasion.by.between(1, 3), sides: occasion.by.pick([6, 6, 8, 12, 20]) };
  return calling('rollDice', input, id, prose.beforeThrow(occasion));
}

/** Undefined where the app does not offer the tool. */
function deleteFile(occasion: prose.Occasion, { id, tools }: Stage): Partial<Whole> | undefined {
  if (!tools.includes('deleteFile')) return undefined;
  const path = occasion.by.pick(shelfFiles);
  return calling('deleteFile', { path }, id, prose.beforeDelete(occasion, path));
}

function calling(toolName: string, input: ToolCall['input'], id: string, text: string): Partial<Whole> {
  return { text, call: { toolCallId: `call-${id}`, toolName, input }, ending: { type: 'tool-calls' } };
}

function brokenInTheMiddle(text: string): Partial<Whole> {
  return { text, ending: { type: 'drop' }, breaksAfter: Math.ceil(prose.wordsOf(text).length / 2) };
}

/** Whoever wants to see it fail after 900 words gets an answer of more than 900. */
function brokenAfter(words: number, text: string, occasion: prose.Occasion): Partial<Whole> {
  const breaksAfter = Math.min(words, 10_000);
  const enough = prose.wordsOf(text).length > breaksAfter ? text : prose.essay(occasion, breaksAfter + 1);
  return { text: enough, ending: { type: 'fail', kind: 'midway' }, breaksAfter };
}

/** The bridge may have been interrupted as well: it goes on after the longest part of it that stands already. */
function bridge(scene: Scene, casting: Casting): Script {
  const { id, slow } = writeWhole(scene, casting);
  const text = prose.pickedUp(chance(`${casting.seed}:bridge:${scene.key}`));
  return {
    id,
    slow,
    thoughts: '',
    text: text.slice(overlap(scene.begun.text, text)),
    ending: { type: 'stop' },
  };
}

/** How many characters at the end of `before` are also the beginning of `next`, at most. */
function overlap(before: string, next: string): number {
  for (let length = Math.min(before.length, next.length); length > 0; length--)
    if (before.endsWith(next.slice(0, length))) return length;
  return 0;
}
