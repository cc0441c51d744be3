import type { ChatTransport, UIMessage, UIMessageChunk } from 'ai';
import { reasonOf, refuseToLoad } from '../errors.ts';
import type { ContextFragment } from '../fragment/fragment.ts';
import { createId } from '../fragment/id.ts';
import type { ContextRenderer } from '../render/renderer.ts';
import { measuredUsage } from '../tokens/usage.ts';
import type { Mask } from './masked.ts';
import type { RecordedRequest, RecordOptions, TimedChunk, Told } from './record.ts';
import { sectionsOf } from './sections.ts';

/**
 * Records requests and answers between the chat and its transport, only while somebody records. Messages and fragments are kept
 * by reference. The oldest are dropped when there are too many, or too many bytes; one that is too large is cut at its end.
 */

/** The recording of one request. */
export interface Take {
  /** Hands the request to its transport. Recording never keeps an answer from passing. */
  send<S extends Sent>(sent: S, ask: (sent: S) => PromiseLike<Answer>): Promise<Answer>;
  /** What the note of the request has while it is recorded: takes a report of its transport. */
  tell(told: Told): void;
}

/** Begins the record of a request. */
export function takeRequest(desk: RecordDesk, of: Subject): Take {
  const { answerId, answerKey, branchId, attempt, parentKey, call, mask } = of;
  const subject = { answerId, answerKey, branchId, attempt, parentKey };
  const chunks: TimedChunk[] = [];
  let record: RecordedRequest | undefined;
  let start = 0;

  const put = (facts: Facts, phase?: RequestEvent['phase']): void => {
    const [before, now] = [record, recordOf(facts, mask)];
    record = now;
    const { requests } = desk;
    // The record was dropped for newer ones.
    if (before && !requests.includes(before)) return;
    const next = before ? requests.map((one) => (one === before ? now : one)) : [...requests, now];
    desk.requests = next.slice(-limitOf(desk, 'last', LAST));
    const { id, status, ms = 0 } = now;
    const event = { type: 'request', id, answerId, branchId, status } as const;
    if (phase) desk.emit({ ...event, phase }, performance.now() - ms);
  };
  const change = (patch: Partial<Facts>, phase?: RequestEvent['phase']): void => {
    if (record) put({ ...record, ...patch }, phase);
  };
  const end = (how: Pick<RecordedRequest, 'status'> & { readonly error?: string }): void => {
    if (record?.status === 'open') change({ ...how, ms: performance.now() - start }, 'end');
  };
  /** A transport's report counts before the answer's metadata. */
  const learn = ({ told }: RecordedRequest, metadata: unknown): void => {
    const { modelId, model = modelId } = metadata as { model?: unknown; modelId?: unknown };
    const usage = told.usage ? undefined : measuredUsage({ metadata });
    const isTold = told.model !== undefined || typeof model !== 'string';
    if (usage || !isTold) change({ ...(usage && { usage }), ...(!isTold && { model }) }, 'told');
  };
  const keep = (chunk: UIMessageChunk): void => {
    if (!record) return;
    const ms = performance.now() - start;
    if (!record.truncated) {
      if (grows(desk, chunks, sizeOf(chunk))) chunks.push({ ms, chunk });
      else change({ truncated: true });
    }
    if (record.firstMs === undefined && WORDS.test(chunk.type)) change({ firstMs: ms });
    if (chunk.type === 'start-step') change({ steps: record.steps + 1 });
    if (chunk.type === 'error') end({ status: 'failed', error: chunk.errorText });
    if (chunk.type === 'abort') end({ status: 'stopped' });
    if ('messageMetadata' in chunk && chunk.messageMetadata) learn(record, chunk.messageMetadata);
  };
  /** The same stream, pulled as it is read: nothing is requested ahead. */
  const heard = (answer: Answer, fail: (error: unknown) => never): Answer => {
    const reader = answer.getReader();
    const pull = async (controller: ReadableStreamDefaultController<UIMessageChunk>): Promise<void> => {
      const { done, value } = await reader.read().catch(fail);
      if (done) {
        end({ status: 'done' });
        return controller.close();
      }
      keep(value);
      return controller.enqueue(value);
    };
    const cancel = (reason: unknown): Promise<void> => {
      end({ status: 'stopped' });
      return reader.cancel(reason);
    };
    return new ReadableStream({ pull, cancel }, { highWaterMark: 0 });
  };
  return {
    async send(sent, ask) {
      const facts = await factsOf(sent, of);
      start = performance.now();
      const { trigger, messages } = sent;
      const first = { id: createId(), at: Date.now(), told: {}, chunks, status: 'open', steps: 0 } as const;
      put({ ...facts, ...subject, ...first, trigger, messages }, 'start');
      const bytes = facts.system.length + sizeOf(facts.body) + 8 * messages.length;
      if (!grows(desk, chunks, bytes)) change({ truncated: true });
      const fail = (error: unknown): never => {
        end(sent.abortSignal?.aborted ? { status: 'stopped' } : { status: 'failed', error: reasonOf(error) });
        throw error;
      };
      const answer = await (async () => ask(sent))().catch(fail);
      const isStream = typeof (answer as Partial<Answer> | null)?.getReader === 'function';
      return isStream ? heard(answer, fail) : answer;
    },
    tell(told) {
      const usage = measuredUsage({ metadata: { usage: told.usage } });
      const model = told.model === undefined ? {} : { model: told.model };
      if (record && call) Object.assign(call, model);
      change({ told: { ...record?.told, ...told }, ...(usage && { usage }), ...model }, 'told');
    },
  };
}

/** Sections are computed on demand, when the tools are known, too. They are no part of the record's JSON. */
function recordOf(facts: Facts, mask: Mask): RecordedRequest {
  const record = { ...facts } as RecordedRequest;
  const masked = async (): Promise<RecordedRequest> => {
    const { maskedRequest } = await import('./masked.ts').catch(refuseToLoad);
    return maskedRequest(record, mask);
  };
  return Object.defineProperties(record, {
    sections: { get: () => sectionsOf(record) },
    masked: { value: masked },
  });
}

const WORDS = /^(?:text|reasoning|tool-input)-(?:delta|start|available)|^file$/;

type Facts = Omit<RecordedRequest, 'sections' | 'masked'>;

interface Subject extends Source, Pick<RecordedRequest, 'answerId' | 'answerKey' | 'branchId' | 'attempt'> {
  /** The key of the message that the answer follows; null for a first one. */
  readonly parentKey: string | null;
  /** Other facts about it; gets the reported model. */
  readonly call: { model?: string } | undefined;
  /** Masks secrets, where somebody wants to show the record. */
  readonly mask: Mask;
}

/** Whether a record may grow by so many bytes; drops older ones for it. */
function grows(desk: RecordDesk, chunks: readonly TimedChunk[], bytes: number): boolean {
  const most = limitOf(desk, 'bytes', BYTES);
  const own = (sizes.get(chunks) ?? 0) + bytes;
  if (own > most) return false;
  sizes.set(chunks, own);
  let sum = 0;
  const first = desk.requests.findLastIndex((one) => (sum += sizes.get(one.chunks) ?? 0) > most);
  if (first >= 0) desk.requests = desk.requests.slice(first + 1);
  return true;
}

/** The greatest limit of all recorders. The answer of one that has just stopped may still grow: its limits stay. */
function limitOf({ recorders }: RecordDesk, name: 'last' | 'bytes', usual: number): number {
  const all = [...recorders].map((one) => one[name] ?? usual);
  return all.length > 0 ? Math.max(1, ...all) : usual;
}

const LAST = 50;
const BYTES = 8e6;

/** About how many bytes each record has, by its list of chunks, which stays the same. */
const sizes = new WeakMap<readonly TimedChunk[], number>();

/** Where records are shown and announced. */
export interface RecordDesk {
  /** Who records. */
  readonly recorders: ReadonlySet<RecordOptions>;
  requests: readonly RecordedRequest[];
  emit(event: RequestEvent, start?: number): void;
}

/** An event of a recorded request. */
export interface RequestEvent {
  readonly type: 'request';
  /** `told`: its transport reported something. */
  readonly phase: 'start' | 'told' | 'end';
  readonly id: string;
  readonly answerId: string;
  readonly branchId: string;
  readonly status: RecordedRequest['status'];
}

/** What a request was made from. */
export interface Source {
  readonly systemPrompt: string;
  readonly made?: Made | undefined;
}

/** How a prompt was rendered. */
export interface Made {
  readonly renderer: ContextRenderer;
  /** The fragments as they are in the prompt, and each with its lazy values loaded. */
  readonly fragments: readonly ContextFragment[];
  readonly loaded: readonly ContextFragment[];
}

type Sent = Parameters<ChatTransport<UIMessage>['sendMessages']>[0];

type Answer = ReadableStream<UIMessageChunk>;

async function factsOf({ body, headers }: Sent, { systemPrompt, made }: Source) {
  const own = { ...body } as Record<string, unknown>;
  const system = typeof own['system'] === 'string' ? own['system'] : systemPrompt;
  const at = system.indexOf(systemPrompt);
  const spans = made && at >= 0 && systemPrompt !== '' ? await spansOf(made, systemPrompt) : [];
  return {
    system,
    spans: spans.map(({ fragment, start, end }) => ({ fragment, start: start + at, end: end + at })),
    renderer: made?.renderer.name ?? '',
    body: own,
    headerNames: [...new Headers(headers).keys()],
  };
}

/** The ranges of the fragments in the prompt; none where the renderer can't tell, or returns another text now. */
async function spansOf({ renderer, fragments, loaded }: Made, systemPrompt: string) {
  try {
    const rendered = await renderer.renderWithSpans?.(loaded);
    if (rendered?.text !== systemPrompt) return [];
    const ownOf = (fragment: ContextFragment) => fragments[loaded.indexOf(fragment)] ?? fragment;
    return rendered.spans.map((span) => ({ ...span, fragment: ownOf(span.fragment) }));
  } catch {
    return [];
  }
}

/** About how many bytes a value has as JSON; 0 if it can't be serialised. */
function sizeOf(value: object): number {
  if ('delta' in value && typeof value.delta === 'string') return value.delta.length + 64;
  try {
    return JSON.stringify(value).length;
  } catch {
    return 0;
  }
}
