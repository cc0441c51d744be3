import type { UIMessage } from 'ai';
import { stripReminders } from '../reminded.ts';
import { align, ancestorOf, type Aligned } from '../graph/compare.ts';
import { chainOf, type MessageRecord } from '../graph/graph.ts';
import type { NodeInfo } from '../graph/messages.ts';
import { countMessage } from '../tokens/count.ts';
import { costOf } from '../tokens/models.ts';
import { estimateTokenizer } from '../tokens/tokenizer.ts';
import type { CallFacts } from './calls.ts';
import type { Questions } from './questions.ts';
import type { View } from './view.ts';
import type { Writer } from './writer.ts';

// Comparing two messages, or two branches. Loaded on first use.

/** Two chains, compared from their last common message on. */
export interface Comparison {
  /** The id of that message; null where they share none. */
  readonly ancestorId: string | null;
  readonly ancestorKey: string | null;
  /** The messages after it, oldest first: side by side, or one alone. */
  readonly turns: readonly ComparedTurn[];
  readonly totals: { readonly a: ComparedTotals; readonly b: ComparedTotals };
}

/** A message beside its counterpart, or alone. `isSame`: both have equal content; ids and keys are ignored. */
export type ComparedTurn = Aligned<ComparedMessage>;

/** A message of one side. */
export interface ComparedMessage extends Pick<NodeInfo, 'id' | 'key' | 'name' | 'status'> {
  /** The message; absent where its body is lost. */
  readonly message?: UIMessage;
  readonly tokens: number;
  readonly calls: readonly CallFacts[];
}

/** The totals of one side, behind the common message. */
export interface ComparedTotals {
  readonly messages: number;
  /** Estimated tokens of the messages: what a later request reads of them. */
  readonly tokens: number;
  /** Tokens that the requests read and wrote, as providers counted them; null where no provider reported any. */
  readonly input: number | null;
  readonly output: number | null;
  /** US dollars; null where no request reported its usage, or one used a model of unknown price. */
  readonly cost: number | null;
  /** Duration of the requests, in ms; null where none is known. */
  readonly ms: number | null;
}

/** Compares two messages, or branches by name or id: a branch stands for its last message. */
export async function compareIn(
  { view, replica }: Pick<Writer, 'view' | 'replica'>,
  questions: Questions,
  a: string,
  b: string,
): Promise<Comparison> {
  const ends = [endOf(view, a), endOf(view, b)] as const;
  const { chat } = replica;
  const ancestor = ancestorOf(chat, ...ends);
  const chains = ends.map((end) =>
    chainOf(chat, end, ancestor).filter((key) => replica.isVisible(replica.record(key) as MessageRecord)),
  );
  await view.loadBodies(chains.flat());
  const [left = [], right = []] = chains.map((keys) => keys.map((key) => compared(questions, key)));
  return {
    ancestorId: replica.idOf(ancestor),
    ancestorKey: ancestor,
    turns: align(left, right, said, ({ name }) => name),
    totals: { a: await totalsOf(left), b: await totalsOf(right) },
  };
}

function endOf(view: View, named: string): string | null {
  const branch = view.live.find(({ id, way }) => id === named || way?.name === named);
  return branch ? view.headOf(branch) : view.message(named).key;
}

function compared(questions: Questions, of: string): ComparedMessage {
  const { id, key, name, status } = questions.node(of) as NodeInfo;
  const message = questions.message(of);
  const tokens = message ? countMessage(estimateTokenizer, message) : 0;
  return { id, key, name, status, ...(message ? { message } : {}), tokens, calls: questions.calls(of) };
}

/** The content of a message as text, without ids of providers and pages, and without reminders. A lost body equals none. */
function said({ key, name, message }: ComparedMessage): string {
  if (!message) return key;
  const parts = stripReminders(message).parts.filter(({ type }) => type !== 'step-start');
  const text = JSON.stringify(parts, (field, value: unknown) => {
    const isProgress = field === 'state' && (value === 'done' || value === 'streaming');
    return isProgress || NUMBERING.has(field) ? undefined : value;
  });
  return `${name} ${text}`;
}

const NUMBERING: ReadonlySet<string> = new Set(['providerMetadata', 'callProviderMetadata', 'toolCallId']);

async function totalsOf(side: readonly ComparedMessage[]): Promise<ComparedTotals> {
  const calls = side.flatMap((one) => one.calls);
  const usages = calls.flatMap(({ usage }) => usage ?? []);
  const costs = await Promise.all(calls.filter(({ usage }) => usage).map(costOf));
  return {
    messages: side.length,
    tokens: side.reduce((sum, { tokens }) => sum + tokens, 0),
    input: sumOf(usages.map(({ input = 0 }) => input)),
    output: sumOf(usages.map(({ output = 0 }) => output)),
    cost: costs.includes(null) ? null : sumOf(costs as number[]),
    ms: sumOf(calls.map(({ ms }) => ms)),
  };
}

/** The sum; null for an empty list. */
function sumOf(numbers: readonly number[]): number | null {
  return numbers.length === 0 ? null : numbers.reduce((sum, one) => sum + one, 0);
}
