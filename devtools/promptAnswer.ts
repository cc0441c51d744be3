import {
  type ContextEngine,
  type ContextFragment,
  type ContextRenderer,
  type EngineState,
  type EstimateResult,
  type InspectOptions,
  MarkdownRenderer,
  TomlRenderer,
  ToonRenderer,
  XmlRenderer,
} from 'contextree';
import { hiding } from './follow.ts';
import { promptAt, type PromptAt, systemOf } from './promptAt.ts';

/** A prompt, and its size. */
export interface PromptAnswer extends PromptAt {
  readonly estimate: EstimateResult;
  /** The system prompt in each format; undefined for a recorded one, which had one. */
  readonly formats: Readonly<Record<Format, Rendered>> | undefined;
}

/** A system prompt in one format, and its tokens. */
interface Rendered {
  readonly text: string;
  readonly tokens: number;
}

/** A format to render in; `App` is the renderer of the app. */
export type Format = 'App' | 'XML' | 'Markdown' | 'TOML' | 'TOON';

/** All formats, in the order of the switch. */
export const FORMATS: readonly Format[] = ['App', 'XML', 'Markdown', 'TOML', 'TOON'];

const renderers = { XML: XmlRenderer, Markdown: MarkdownRenderer, TOML: TomlRenderer, TOON: ToonRenderer };

/** The inputs of a {@link PromptAnswer}. */
export interface PromptQuestion {
  readonly engine: ContextEngine;
  /** The key of a message; undefined for the next request. */
  readonly node: string | undefined;
  /** Whether recorded requests are ignored. */
  readonly isToday: boolean;
  readonly format: Format;
  readonly modelId: string;
  readonly tokenizer: InspectOptions['tokenizer'];
}

/**
 * Resolves the prompt once, so that lazy values are loaded once, and estimates the result: a renderer gets the loaded
 * fragments, and this one keeps them.
 */
export async function answerPrompt(question: PromptQuestion, signal: AbortSignal): Promise<PromptAnswer> {
  const { engine, format, modelId, tokenizer } = question;
  const renderer = rendererOf(engine, format);
  const { loaded, ...prompt } = await promptAt({ ...question, renderer }, signal);
  const { messages, kind } = prompt;
  const subject = kind === 'recorded' ? recordedSubject(prompt) : { renderer, fragments: loaded };
  const weigh = (exactly: PromptQuestion['tokenizer']): Promise<EstimateResult> =>
    engine.estimate({ modelId, ...subject, messages, tokenizer: exactly, signal });
  // Without the tokenizer, the prompt is still shown.
  const estimate = await weigh(tokenizer).catch(() => weigh(undefined));
  const counter = estimate.exact ? tokenizer : undefined;
  const rendered = async (name: Format): Promise<readonly [Format, Rendered]> => {
    const renderer = rendererOf(engine, name);
    const alone = { renderer, fragments: loaded, messages: [], tokenizer: counter, signal };
    const { tokens } = (await engine.estimate(alone)).systemPrompt;
    return [
      name,
      { text: renderer.render(loaded), tokens: Math.round(tokens * (estimate.calibration ?? 1)) },
    ];
  };
  const formats = kind === 'recorded' ? undefined : await Promise.all(FORMATS.map(rendered));
  const named = formats && (Object.fromEntries(formats) as Record<Format, Rendered>);
  return hiding({ ...prompt, estimate: hiding(estimate, 'messages'), formats: named }, 'messages');
}

/** The fragments of a recorded prompt, for an estimate: each piece as it was sent. */
function recordedSubject(prompt: PromptAt): {
  readonly renderer: ContextRenderer;
  readonly fragments: readonly ContextFragment[];
} {
  const named = prompt.pieces.filter(({ fragment }) => fragment);
  const fragments = named.map(({ fragment, text }) => ({
    name: fragment?.id ?? fragment?.name ?? '',
    data: text,
  }));
  const textOf = (list: readonly ContextFragment[]): string => {
    const alone = list.length === 1 && fragments.length > 1 ? list[0]?.data : undefined;
    return typeof alone === 'string' ? alone : systemOf(prompt);
  };
  return { fragments, renderer: { name: prompt.renderer, render: textOf } };
}

function rendererOf(engine: ContextEngine, format: Format): ContextRenderer {
  return format === 'App' ? engine.renderer : new renderers[format]();
}

/** The model of a chat: in its own metadata, or in those of its last answer; '' where neither names one. */
export function modelIn({ chat, messages }: Pick<EngineState, 'chat' | 'messages'>): string {
  const answer = messages.findLast(({ role }) => role === 'assistant');
  return modelNamed(chat?.metadata) ?? modelNamed(answer?.metadata) ?? '';
}

/** The model that metadata name. */
export function modelNamed(metadata: unknown): string | undefined {
  const { modelId, model } = Object(metadata) as { modelId?: unknown; model?: unknown };
  return [modelId, model].find((name) => typeof name === 'string');
}
