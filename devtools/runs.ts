import { errorOf } from './reason.ts';
import type { UIMessage } from 'ai';
import type { BranchInfo, ContextEngine } from 'contextree';
import { costOf, usageOf } from 'contextree/tokens';
import { useSyncExternalStore } from 'react';
import { outcomeOf } from './Copy.tsx';
import { Followed, perEngine } from './followed.ts';
import { allOf } from './messageText.ts';
import { modelNamed } from './promptAnswer.ts';
import { readMessage } from './readMessage.ts';

type RunOptions = Parameters<NonNullable<NonNullable<ContextEngine['attached']>['run']>>[0];

/** What to run. */
export interface Plan extends Omit<RunOptions, 'signal' | 'message'> {
  /** Other words of the question. */
  readonly message: string | undefined;
  /** The model to call; '' for the app's own. */
  readonly model: string;
  /** The key of the question, and of the existing answer; undefined where there is none. */
  readonly question: string;
  readonly answer: string | undefined;
}

/** What the form of a question changes. */
export interface Changes {
  /** The fragments left out, by their ids. */
  readonly without: ReadonlySet<string>;
  /** The whole system prompt; undefined for that of the fragments. */
  readonly system?: string | undefined;
  /** Other words of the question; undefined for its own. */
  readonly words?: string;
  readonly models: ReadonlySet<string>;
  readonly times: number;
}

/** An answer of a run, of which nothing is saved. */
export interface Result {
  readonly number: number;
  readonly plan: Plan;
  readonly status: 'waiting' | 'running' | 'done' | 'stopped' | 'failed';
  /** The answer so far. */
  readonly message?: UIMessage;
  readonly error?: string;
  /** From the request to the last word, in ms. */
  readonly ms?: number;
  /** Tokens read and written; absent where they were not reported. */
  readonly tokens?: number;
  /** US dollars; null where usage, model or price is unknown. */
  readonly cost?: number | null;
  /** The branch that it was kept as; while that is made, or where it can't be, a word on that. */
  readonly kept?: BranchInfo;
  readonly saving?: string;
}

/** A second click on Keep would save an answer twice. */
export const SAVING = '…';

/** The most runs that may wait and run, and that run in parallel. */
export const MOST = 5;
const TOGETHER = 3;

/** The runs of the panel, as long as the page lives, newest last. Nothing of them is saved before it is kept. */
export class Runs extends Followed<Result> {
  readonly #engine: ContextEngine;
  /** The ends of what runs one after the other. */
  readonly #lanes: Promise<void>[] = Array.from({ length: TOGETHER }, () => Promise.resolve());
  #stop = new AbortController();
  #count = 0;
  /** What was typed and chosen in the form, by the key of its question: it stays while other views are shown. */
  readonly changes: Map<string, Changes> = new Map();

  constructor(engine: ContextEngine) {
    super();
    this.#engine = engine;
  }

  /** How many more runs may be started now. */
  get room(): number {
    return MOST - this.list().filter(({ status }) => status === 'waiting' || status === 'running').length;
  }

  /** Starts runs, as far as there is room. */
  start(plans: readonly Plan[]): void {
    const { signal } = this.#stop;
    for (const plan of plans.slice(0, this.room)) {
      const number = this.#count++;
      const lane = number % TOGETHER;
      this.set([...this.list(), { number, plan, status: 'waiting' }]);
      this.#lanes[lane] = (this.#lanes[lane] as Promise<void>).then(() => this.#run(number, plan, signal));
    }
  }

  stopAll(): void {
    this.#stop.abort();
    this.#stop = new AbortController();
  }

  clear(): void {
    this.stopAll();
    this.set([]);
  }

  /** Saves an answer as a branch: behind its question, or behind the changed question. Never rejects. */
  async keep(result: Result): Promise<void> {
    this.#change(result.number, { saving: SAVING });
    this.#change(result.number, { saving: await outcomeOf('Kept', this.#keep(result)) });
  }

  async #keep({ number, plan, message }: Result): Promise<void> {
    if (!message) return;
    const engine = this.#engine;
    const { question, answer, message: text } = plan;
    const asked =
      text === undefined ? [] : [await questionOf(engine, question, `${message.id}-question`, text)];
    const kept = await engine.add([...asked, message], {
      parentId: asked.length === 0 ? question : (engine.node(question)?.parentKey ?? null),
      ...(answer !== undefined && { sources: [answer] }),
    });
    this.#change(number, { kept });
  }

  async #run(number: number, plan: Plan, signal: AbortSignal): Promise<void> {
    const start = performance.now();
    const change = (patch: Partial<Result>): void =>
      this.#change(number, { ms: performance.now() - start, ...patch });
    try {
      signal.throwIfAborted();
      change({ status: 'running' });
      const chat = this.#engine.attached;
      if (!chat?.run) throw new Error('No chat is attached.');
      let message: UIMessage | undefined;
      for await (const grown of await chat.run({ ...plan, signal })) change({ message: (message = grown) });
      const used = await usedBy(message, plan.model);
      this.#change(number, { status: signal.aborted ? 'stopped' : 'done', ...used });
    } catch (error) {
      change(signal.aborted ? { status: 'stopped' } : { status: 'failed', error: errorOf(error).message });
    }
  }

  #change(number: number, patch: Partial<Result>): void {
    this.set(this.list().map((one) => (one.number === number ? { ...one, ...patch } : one)));
  }
}

async function usedBy(
  message: UIMessage | undefined,
  asked: string,
): Promise<Pick<Result, 'tokens' | 'cost'>> {
  const usage = message && (await usageOf(message));
  if (!usage) return { cost: null };
  const steps = message.parts.filter(({ type }) => type === 'step-start').length;
  return {
    tokens: (usage.input ?? 0) + (usage.output ?? 0),
    cost: await costOf({ model: modelNamed(message.metadata) ?? asked, usage, steps }),
  };
}

/** A question with other words: its files stay, as they did in the request. */
async function questionOf(engine: ContextEngine, key: string, id: string, text: string): Promise<UIMessage> {
  const files =
    (await readMessage({ engine, messageKey: key }))?.parts.filter(({ type }) => type !== 'text') ?? [];
  return { id, role: 'user', parts: [...files, { type: 'text', text }] };
}

/** The text of a result; '' until there is some. */
export function wordsOf({ message }: Result): string {
  return message ? allOf(message) : '';
}

/** The runs of an engine: they stay while other views are shown. */
export const runsOf: (engine: ContextEngine) => Runs = /* @__PURE__ */ perEngine(Runs);

export function useRuns(engine: ContextEngine): readonly Result[] {
  const { subscribe, list } = runsOf(engine);
  return useSyncExternalStore(subscribe, list);
}
