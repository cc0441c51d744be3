import type { UIMessage } from 'ai';
import { ContextError, reasonOf } from '../errors.ts';
import type { ContextFragment } from '../fragment/fragment.ts';
import { countMessage, countText } from '../tokens/count.ts';
import { familyOf } from '../tokens/modelName.ts';
import { findModel } from '../tokens/models.ts';
import { dollars, pricesAt } from '../tokens/spending.ts';
import { estimateTokenizer } from '../tokens/tokenizer.ts';
import { changeBetween, headsOf, type CacheCause, type Change } from './change.ts';
import { wordsFor } from './mends.ts';
import type { RecordedRequest } from './record.ts';
import { jsonOf, type Section } from './sections.ts';

/**
 * Why a provider's cache served a request, or did not.
 *
 * A provider bills a prompt again from the first section on that differs from what it has read before. So the request is
 * compared section by section with the latest one of the same model on its chain. The state is `broke` only where a count of
 * cached tokens is reported and falls short; without it a change `may break` the cache. What a server adds can't be seen, and
 * is never guessed.
 */
export interface CacheVerdict {
  readonly requestId: string;
  /** The request that it was compared with; absent for `first`. */
  readonly comparedWith?: string;
  /**
   * `first`: there is no request to compare with. `unchanged`: nothing visible changed, and no count of cached tokens was
   * reported. `kept`: the provider served what it could. `too short`: less than providers keep.
   */
  readonly state: 'first' | 'unchanged' | 'kept' | 'broke' | 'may break' | 'too short';
  /** The kind of the first change; absent without one. */
  readonly cause?: CacheCause;
  /** Whether the cause is inferred and not seen: `expired`, `provider miss`, `not visible`. */
  readonly isLikely: boolean;
  /** The first changed section: of this request, or, if it is gone, of the one before. */
  readonly section?: Pick<Section, 'kind' | 'id' | 'fragment'>;
  /** The text of the section before and now; absent where there was, or is, none. */
  readonly before?: string;
  readonly after?: string;
  /** The component that set the fragment, and the place in its source; in development only. */
  readonly component?: string;
  readonly source?: string;
  /** About how many tokens the common beginning has. */
  readonly sharedTokens: number;
  /** Tokens that were read before and are billed again; measured where usage was reported, otherwise estimated. */
  readonly billedAgain: number;
  /** Their price in US dollars; null where the model or its price is unknown. */
  readonly cost: number | null;
  /** Whether the transport reported its tools: over HTTP they are not visible from the browser. */
  readonly seesTools: boolean;
  /** Names of the call's options that differ, such as `toolChoice`: some of them change what a provider can serve. */
  readonly settings: readonly string[];
  /** What happened, as a sentence. */
  readonly why: string;
  /** What to do about it, as a sentence; absent where there is nothing to do. */
  readonly mend?: string;
}

interface Asked {
  requests(): readonly RecordedRequest[];
  node(key: string): { readonly parentKey: string | null; readonly depth: number } | undefined;
  origin(fragment: ContextFragment): { readonly component?: string; readonly source?: string } | undefined;
}

/** The shortest prompt that providers keep, in tokens. */
const LEAST = 1024;
/** How long a provider keeps an unused prompt, in ms. */
const LIFE = 5 * 60_000;

/** @throws invalid-options for a request that is not recorded, or not any more */
export async function explainCache(engine: Asked, requestId: string): Promise<CacheVerdict> {
  const now = engine.requests().find(({ id }) => id === requestId);
  if (!now) {
    const message = `There is no recorded request "${reasonOf(requestId)}". Take the id of one of requests().`;
    throw new ContextError('invalid-options', message, { details: { requestId } });
  }
  const before = earlier(engine, now);
  const seesTools = now.told.tools !== undefined;
  if (!before) {
    const nothing = { sharedTokens: 0, billedAgain: 0, cost: null, settings: [], isLikely: false };
    const why = 'The first recorded request of its chain: there is nothing that could have been cached.';
    return { requestId, state: 'first', ...nothing, seesTools, why };
  }
  const change = changeBetween(before, now);
  const weight = weigh(before, now, change);
  const found = judge(before, now, change, weight);
  const price = (await findModel(now.model ?? ''))?.prices;
  const section = change?.after ?? change?.before;
  const place = section?.fragment && engine.origin(section.fragment);
  const verdict = {
    requestId,
    comparedWith: before.id,
    ...found,
    ...(change && section && found.cause === change.cause && pieceOf(section, change)),
    ...(place?.component !== undefined && { component: place.component }),
    ...(place?.source !== undefined && { source: place.source }),
    sharedTokens: weight.shared,
    cost: price ? dollars(found.billedAgain, pricesAt(price, weight.expected).input) : null,
    seesTools,
    settings: changedSettings(before, now),
  };
  return { ...verdict, ...wordsFor(verdict) };
}

/** The latest request of the same model on the chain of this request's answer; else the latest of another model. */
function earlier(engine: Asked, now: RecordedRequest): RecordedRequest | undefined {
  const all = engine.requests();
  const isOnChain = chainOf(engine, now.parentKey);
  // A request that failed before its first word left nothing in a cache.
  const candidates = all
    .slice(0, all.indexOf(now))
    .filter((one) => (one.firstMs !== undefined || one.status === 'done') && isOnChain(one.parentKey));
  return candidates.findLast((one) => isSameModel(one, now)) ?? candidates.at(-1);
}

/** Tests whether a message is on the chain of another; the chain is walked up only as far as asked. */
function chainOf(engine: Asked, end: string | null): (key: string | null) => boolean {
  const chain = new Set<string | null>([null]);
  let top = end;
  return (key) => {
    const depth = key === null ? Infinity : (engine.node(key)?.depth ?? Infinity);
    while (top !== null && !chain.has(key)) {
      const place = engine.node(top);
      if (!place || place.depth < depth) break;
      chain.add(top);
      top = place.parentKey;
    }
    return chain.has(key);
  };
}

/** An unreported model may be any. */
function isSameModel({ model: a }: RecordedRequest, { model: b }: RecordedRequest): boolean {
  return a === undefined || b === undefined || familyOf(a) === familyOf(b);
}

/** Tokens that could have been served: all that was read before, and the common beginning. */
function weigh(before: RecordedRequest, now: RecordedRequest, change: Change | undefined) {
  const [head] = headsOf(before, now);
  const estimated = tokensOf(head, before.messages);
  const { input } = before.usage ?? {};
  // A sum over several steps counts the history several times.
  const expected = input !== undefined && before.steps < 2 ? input : estimated;
  if (!isSameModel(before, now)) return { expected, shared: 0 };
  if (!change) return { expected, shared: expected };
  const { alike } = change;
  const shared = tokensOf(head.slice(0, alike.head), before.messages.slice(0, alike.messages));
  return { expected, shared: Math.round(shared * (expected / (estimated || 1))) };
}

/** Above this number, a sample of the messages gives the ratio of tokens to length. */
const SAMPLES = 100;

function tokensOf(head: readonly Section[], messages: Messages): number {
  const tokens = head.reduce((sum, { text }) => sum + countText(estimateTokenizer, text), 0);
  const every = Math.ceil(messages.length / SAMPLES);
  const sample = messages.filter((_, i) => i % every === 0);
  const counted = sample.reduce((sum, message) => sum + countMessage(estimateTokenizer, message), 0);
  const lengthOfAll = (all: Messages): number => all.reduce((sum, one) => sum + lengthOf(one), 0);
  const times = every > 1 ? lengthOfAll(messages) / (lengthOfAll(sample) || 1) : 1;
  return tokens + Math.round(counted * times);
}

type Messages = readonly UIMessage[];

function lengthOf({ parts }: UIMessage): number {
  let length = 0;
  for (const part of parts) length += 'text' in part ? part.text.length : jsonOf(part).length;
  return length;
}

type Found = Pick<CacheVerdict, 'state' | 'isLikely' | 'billedAgain'> & { readonly cause?: CacheCause };

function judge(
  before: RecordedRequest,
  now: RecordedRequest,
  change: Change | undefined,
  { expected, shared }: ReturnType<typeof weigh>,
): Found {
  const served = now.usage?.cacheRead;
  const cause = isSameModel(before, now) ? change?.cause : 'model switch';
  const found = { ...(cause && { cause }), isLikely: false };
  if (expected < LEAST) return { ...found, state: 'too short', billedAgain: 0 };
  if (served === undefined && cause) return { ...found, state: 'may break', billedAgain: expected - shared };
  if (served === undefined) return { ...found, state: 'unchanged', billedAgain: 0 };
  // Providers keep prompts in blocks, and the last one is seldom full.
  if (served >= expected * 0.9 - 128) return { ...found, state: 'kept', billedAgain: 0 };
  const billedAgain = Math.round(expected - served);
  if (cause) return { ...found, state: 'broke', billedAgain };
  const isExpired = now.at - before.at - (before.ms ?? 0) > LIFE;
  const unseen = isExpired ? 'expired' : now.told.tools ? 'provider miss' : 'not visible';
  return { state: 'broke', cause: unseen, isLikely: true, billedAgain };
}

function pieceOf({ kind, id, fragment }: Section, { before, after }: Change): Partial<CacheVerdict> {
  return {
    section: { kind, id, ...(fragment && { fragment }) },
    ...(before && { before: before.text }),
    ...(after && { after: after.text }),
  };
}

function changedSettings({ told: a }: RecordedRequest, { told: b }: RecordedRequest): readonly string[] {
  const [old, own] = [a.settings ?? {}, b.settings ?? {}];
  const names = new Set([...Object.keys(old), ...Object.keys(own)]);
  return [...names].filter((name) => JSON.stringify(old[name]) !== JSON.stringify(own[name]));
}
