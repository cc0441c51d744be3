import type { CallFacts, ContextEngine, EstimateResult, NodeInfo } from 'contextree';
import { costOf, estimateTokens } from 'contextree/tokens';
import { branchLabel } from './branchLabel.ts';
import { chainOf } from './chain.ts';
import { exactly } from './figures.ts';
import { modelIn } from './promptAnswer.ts';
import { requestAt } from './promptAt.ts';
import type { RecordedRequest } from './requests.ts';

/**
 * How much of the model's window each turn of a branch used, and its cost.
 *
 * A provider reports one number for all that it read. The shares of prompt, history and tools are counted here, and marked as
 * estimates; the rest of the reported number is what the browser can't see: tools and framing.
 */
export interface TurnCost {
  /** The key of the answer. */
  readonly key: string;
  /** The first words of the question. */
  readonly question: string;
  /** The model that answered, or the one chosen instead; undefined where it is unknown. */
  readonly model: string | undefined;
  /** The size of the model's window in tokens; null where it is unknown. */
  readonly window: number | null;
  /** In tokens. `tools` is everything else that was read; undefined where it is unknown. */
  readonly system: number;
  readonly history: number;
  readonly tools: number | undefined;
  /** Tokens reserved for the answer, if reported; else those of the answer. */
  readonly reserve: number;
  /** The counts that the provider reported, for all calls of the turn together. Undefined without a report. */
  readonly told: Usage | undefined;
  /** US dollars; null where usage, model or price is unknown. */
  readonly cost: number | null;
  readonly request: RecordedRequest | undefined;
}

/** A cost in US dollars, and how many answers of unknown cost it leaves out. */
export interface Spent {
  readonly cost: number;
  readonly tokens: number;
  readonly answers: number;
  readonly untold: number;
}

export interface CostAnswer {
  /** Newest first. */
  readonly turns: readonly TurnCost[];
  /** How many earlier turns there are. */
  readonly earlier: number;
  /** The cost of all turns up to the last shown one, and of the whole chat. */
  readonly branch: Spent;
  readonly chat: Spent;
  /** The cost of each branch since it forked. */
  readonly branches: readonly (Spent & { readonly label: string; readonly isActive: boolean })[];
  /** The models of this chat, by name. */
  readonly models: readonly string[];
}

/** The inputs of the answer. */
export interface CostQuestion {
  readonly engine: ContextEngine;
  readonly node: string | undefined;
  /** The model whose prices and window to use, in place of the one that answered. */
  readonly whatIf: string;
  readonly modelId: string | undefined;
  /** How many turns to show. */
  readonly shown: number;
}

export async function turnCosts(question: CostQuestion, signal: AbortSignal): Promise<CostAnswer> {
  const { engine, node, shown, whatIf } = question;
  const state = engine.state.getState();
  const end = node ?? state.headKey;
  const answers = chainOf(engine, end).filter(({ name, parts }) => name === 'assistant' && parts > 0);
  const estimate = await engine.estimate({ ...(end !== undefined && { at: end }), signal });
  const before = tokensBefore(estimate);
  const turns = answers.slice(0, shown).map((info) => turnOf(question, info, estimate, before));
  // Each answer counts for the branch on which it was first said.
  const branches = state.branches.map((branch) => ({
    label: branchLabel(branch),
    isActive: branch.isActive,
    keys: chainOf(engine, branch.headKey, branch.ownCount).flatMap(({ name, key }) =>
      name === 'assistant' ? key : [],
    ),
  }));
  const all = branches.flatMap(({ keys }) => keys);
  const spentBy = await spendings(engine, all, whatIf, signal);
  const spentOnAll = (keys: readonly string[]): Spent => sumOf(keys.flatMap((key) => spentBy.get(key) ?? []));
  return {
    turns: await Promise.all(turns),
    earlier: Math.max(0, answers.length - shown),
    branch: spentOnAll(answers.map(({ key }) => key)),
    chat: spentOnAll(all),
    branches: branches.map(({ keys, ...branch }) => ({ ...branch, ...spentOnAll(keys) })),
    models: [...new Set(all.flatMap((key) => engine.calls(key).flatMap(({ model }) => model ?? [])))],
  };
}

/** The tokens of all messages before each one, by its id. */
function tokensBefore({ messages }: EstimateResult): ReadonlyMap<string, number> {
  const before = new Map<string, number>();
  let sum = 0;
  for (const { id, tokens } of messages) {
    before.set(id, sum);
    sum += tokens;
  }
  return before;
}

async function turnOf(
  { engine, whatIf, modelId }: CostQuestion,
  info: NodeInfo,
  estimate: EstimateResult,
  before: ReadonlyMap<string, number>,
): Promise<TurnCost> {
  const { key, id } = info;
  const calls = engine.calls(key);
  const request = requestAt({ engine, node: key });
  const last = calls.at(-1);
  const told = toldIn(calls);
  const answered = last?.model ?? request?.model;
  const model = whatIf || (answered ?? (modelId || modelIn(engine.state.getState()) || undefined));
  const system = request ? estimateTokens(request.system) : estimate.systemPrompt.tokens;
  const history = before.get(id) ?? 0;
  const tools = toolsOf(last, request, system + history);
  const limit = request?.told.settings?.['maxOutputTokens'];
  const own = estimate.messages.find((message) => message.id === id)?.tokens ?? 0;
  const parent = engine.node(info.parentKey ?? '');
  return {
    key,
    question: parent?.preview ?? '',
    model,
    window: model === undefined ? null : await windowOf(engine, model),
    system,
    history,
    tools,
    reserve: typeof limit === 'number' ? limit : (told?.output ?? own),
    told,
    cost: (await spentOn(calls, whatIf)).cost,
    request,
  };
}

/** The counts that a provider reported, by kind; a kind that it did not report is absent. */
export type Usage = NonNullable<CallFacts['usage']>;

/** The counts of all these calls together; undefined without a report. */
export function toldIn(calls: readonly CallFacts[]): Usage | undefined {
  const told = calls.flatMap(({ usage }) => usage ?? []);
  if (told.length === 0) return undefined;
  const sum: Record<string, number> = {};
  for (const one of told)
    for (const [kind, tokens = 0] of Object.entries(one)) sum[kind] = (sum[kind] ?? 0) + (tokens as number);
  return sum;
}

/** Token counts of a provider, for people. */
export function usageIn({ input = 0, output = 0, cacheRead, cacheWrite, reasoning }: Usage): string {
  return [
    `${exactly(input)} in`,
    cacheRead && `${exactly(cacheRead)} of them cached`,
    cacheWrite && `${exactly(cacheWrite)} to the cache`,
    `${exactly(output)} out`,
    reasoning && `${exactly(reasoning)} of them reasoning`,
  ]
    .filter(Boolean)
    .join(', ');
}

/** Tokens read beside prompt and history: the provider's count beyond them, else those of the reported tools. */
function toolsOf(
  call: CallFacts | undefined,
  request: RecordedRequest | undefined,
  seen: number,
): number | undefined {
  const { input } = call?.usage ?? {};
  // A sum over several steps counts the history several times.
  if (input !== undefined && (call?.steps ?? 2) < 2 && input > seen) return input - seen;
  if (!request?.told.tools) return undefined;
  const tools = request.sections.filter(({ kind }) => kind === 'tool');
  return tools.reduce((sum, { text }) => sum + estimateTokens(text), 0);
}

async function windowOf(engine: ContextEngine, modelId: string): Promise<number | null> {
  return (await engine.estimate({ modelId, messages: [], fragments: [] })).limits.context;
}

// ------------------------------------------------------------------ costs

/** How many answers are priced before the page gets a turn. */
const AT_ONCE = 200;

async function spendings(
  engine: ContextEngine,
  keys: readonly string[],
  whatIf: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Awaited<Price>>> {
  const spent = new Map<string, Awaited<Price>>();
  for (const [i, key] of keys.entries()) {
    if (i % AT_ONCE === AT_ONCE - 1) await new Promise((resolve) => setTimeout(resolve));
    signal.throwIfAborted();
    spent.set(key, await spentOn(engine.calls(key), whatIf));
  }
  return spent;
}

type Price = Promise<{ readonly cost: number | null; readonly tokens: number }>;

/** The costs of answers, by their calls, which stay the same list until they change, and by the chosen model. */
const known = new WeakMap<readonly CallFacts[], Map<string, Price>>();

export function spentOn(calls: readonly CallFacts[], whatIf = ''): Price {
  const prices = known.get(calls) ?? new Map<string, Price>();
  const price = prices.get(whatIf) ?? priceOf(calls, whatIf);
  known.set(calls, prices.set(whatIf, price));
  return price;
}

async function priceOf(calls: readonly CallFacts[], whatIf: string): Price {
  let [cost, tokens]: [number | null, number] = [calls.length > 0 ? 0 : null, 0];
  for (const call of calls) {
    const price = await costOf(whatIf ? { ...call, model: whatIf } : call);
    cost = cost === null || price === null ? null : cost + price;
    tokens += (call.usage?.input ?? 0) + (call.usage?.output ?? 0);
  }
  return { cost, tokens };
}

function sumOf(all: readonly Awaited<Price>[]): Spent {
  let [cost, tokens, untold] = [0, 0, 0];
  for (const one of all) {
    cost += one.cost ?? 0;
    tokens += one.tokens;
    if (one.cost === null) untold += 1;
  }
  return { cost, tokens, answers: all.length, untold };
}
