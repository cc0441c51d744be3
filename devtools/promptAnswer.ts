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

/** What would be sent, and how large that is. */
export interface PromptAnswer extends Awaited<ReturnType<ContextEngine['resolve']>> {
  readonly estimate: EstimateResult;
  /** Tokens of the system prompt in each format. */
  readonly formats: Readonly<Record<Format, number>>;
}

/** A format to render in; `App` is the renderer of the app. */
export type Format = 'App' | 'XML' | 'Markdown' | 'TOML' | 'TOON';

/** All formats, in the order of the switch. */
export const FORMATS: readonly Format[] = ['App', 'XML', 'Markdown', 'TOML', 'TOON'];

const renderers = { XML: XmlRenderer, Markdown: MarkdownRenderer, TOML: TomlRenderer, TOON: ToonRenderer };

/** What the answer depends on. */
export interface PromptQuestion {
  readonly engine: ContextEngine;
  readonly format: Format;
  readonly modelId: string;
  readonly tokenizer: InspectOptions['tokenizer'];
}

/**
 * Resolves once, so that what is lazy is loaded once, and estimates that: a renderer is handed the loaded fragments,
 * and this one keeps them.
 */
export async function answerPrompt(
  { engine, format, modelId, tokenizer }: PromptQuestion,
  signal: AbortSignal,
): Promise<PromptAnswer> {
  const renderer = rendererOf(engine, format);
  let fragments: readonly ContextFragment[] = [];
  const keeping: ContextRenderer = {
    name: renderer.name,
    render: (loaded) => {
      fragments = loaded;
      return renderer.render(loaded);
    },
  };
  const resolved = await engine.resolve({ renderer: keeping, signal });
  const { messages } = resolved;
  const weigh = (exactly: PromptQuestion['tokenizer']): Promise<EstimateResult> =>
    engine.estimate({ modelId, renderer, fragments, messages, tokenizer: exactly, signal });
  // A tokenizer that can't be had must not take the prompt along.
  const estimate = await weigh(tokenizer).catch(() => weigh(undefined));
  const sizes = FORMATS.map(async (name) => {
    const counter = estimate.exact ? tokenizer : undefined;
    const alone = { renderer: rendererOf(engine, name), fragments, messages: [], tokenizer: counter, signal };
    const { tokens } = (await engine.estimate(alone)).systemPrompt;
    return [name, Math.round(tokens * (estimate.calibration ?? 1))] as const;
  });
  return {
    ...resolved,
    estimate,
    formats: Object.fromEntries(await Promise.all(sizes)) as PromptAnswer['formats'],
  };
}

function rendererOf(engine: ContextEngine, format: Format): ContextRenderer {
  return format === 'App' ? engine.renderer : new renderers[format]();
}

/** The model that the chat names: in its own metadata, or in those of its last answer. '' where neither does. */
export function modelIn({ chat, messages }: Pick<EngineState, 'chat' | 'messages'>): string {
  const answer = messages.findLast(({ role }) => role === 'assistant');
  return modelNamed(chat?.metadata) ?? modelNamed(answer?.metadata) ?? '';
}

function modelNamed(metadata: unknown): string | undefined {
  const { modelId, model } = Object(metadata) as { modelId?: unknown; model?: unknown };
  return [modelId, model].find((name) => typeof name === 'string');
}
