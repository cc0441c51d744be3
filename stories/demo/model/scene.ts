import type { LanguageModel } from 'ai';
import { fingerprint } from './chance.ts';

/** The model interface of AI SDK 7, read off `ai` so that the demo needs no package beside it. */
export type DemoModel = Extract<LanguageModel, { readonly specificationVersion: 'v4' }>;
/** What one request brings. */
export type CallOptions = Parameters<DemoModel['doStream']>[0];
/** The messages of one request, system prompt included. */
export type Prompt = CallOptions['prompt'];
type Message = Prompt[number];
/** What came back from a tool that the answer had asked for. */
export type ToolResult = Extract<
  Extract<Message, { role: 'tool' }>['content'][number],
  { type: 'tool-result' }
>;

/**
 * A request as the demo model sees it: the few things that it talks about.
 *
 * Nothing else can change the answer. The system prompt is not included: one that holds the time must not turn the second half
 * of an interrupted answer into the second half of another one.
 */
export interface Scene {
  /** The text of the last message of the person; empty when it holds none. */
  readonly question: string;
  /** What the person attached to the question, in order. */
  readonly files: readonly SceneFile[];
  /** Results of tools that this very answer has called, oldest first. */
  readonly toolResults: readonly ToolResult[];
  /** What stands of the answer already; both empty when it has yet to begin. */
  readonly begun: { readonly reasoning: string; readonly text: string };
  /** How much the model had to read: the characters of the prompt and of all messages. */
  readonly characters: number;
  /** Stands for the conversation up to the answer: the same one has the same key. */
  readonly key: string;
}

/** A file as the model is given it. */
export interface SceneFile {
  readonly name: string;
  readonly mediaType: string;
  /** Undefined for a file that lies elsewhere. */
  readonly bytes: number | undefined;
}

/** Reads a request. Never throws: a prompt without a question is a scene with an empty one. */
export function readScene(prompt: Prompt): Scene {
  const system = prompt.filter((message) => message.role === 'system').map(({ content }) => content);
  const messages = prompt.filter((message) => message.role !== 'system');
  const end = messages.findLastIndex((message) => message.role !== 'assistant') + 1;
  const heard = messages.slice(0, end);
  const asked = heard.findLastIndex((message) => message.role === 'user');
  const scene = {
    question: textOf(heard[asked]).trim(),
    toolResults: heard.slice(asked + 1).flatMap(toolResultsOf),
  };
  const files = filesOf(heard[asked]);
  return {
    ...scene,
    files,
    begun: begunIn(messages.slice(end)),
    characters: [...system, ...messages.map(textOf)].reduce((sum, text) => sum + text.length, 0),
    key: fingerprint(
      JSON.stringify([
        { ...scene, ...(files.length > 0 && { files }) },
        heard.map((message) => [message.role, textOf(message)]),
      ]),
    ),
  };
}

function textOf(message: Message | undefined): string {
  return joined(message, 'text', '\n');
}

function joined(message: Message | undefined, type: 'text' | 'reasoning', between: string): string {
  if (message === undefined || message.role === 'system') return '';
  return message.content.flatMap((part) => (part.type === type ? part.text : [])).join(between);
}

function filesOf(message: Message | undefined): SceneFile[] {
  if (message?.role !== 'user') return [];
  return message.content
    .filter((part) => part.type === 'file')
    .map(({ filename, mediaType, data }) => ({
      name: filename ?? 'a file without a name',
      mediaType,
      bytes: sizeOf(data),
    }));
}

/** Data arrives as bytes, or as Base64, of which four characters hold three bytes. */
function sizeOf(data: { readonly type: string; readonly data?: unknown }): number | undefined {
  if (data.data instanceof Uint8Array) return data.data.length;
  if (typeof data.data !== 'string') return undefined;
  return Math.floor((data.data.replace(/=+$/, '').length * 3) / 4);
}

function toolResultsOf(message: Message): ToolResult[] {
  return message.role === 'tool' ? message.content.filter((part) => part.type === 'tool-result') : [];
}

/** A continued answer has one part per attempt to finish it; together they are its beginning. */
function begunIn(messages: readonly Message[]): Scene['begun'] {
  return {
    reasoning: messages.map((message) => joined(message, 'reasoning', '')).join(''),
    text: messages.map((message) => joined(message, 'text', '')).join(''),
  };
}
