import type { UIMessage } from 'ai';
import type { CallFacts, ContextEngine, EngineState, NodeInfo, Versions } from 'contextree';
import type { ReactNode } from 'react';
import { span } from '../amounts.ts';
import { count, counted } from '../figures.ts';
import { dashed, type Fact, factList, NOT_TOLD } from '../kit.tsx';
import { modelNamed } from '../promptAnswer.ts';
import { branchLabel } from '../branchLabel.ts';
import { escaped } from '../plainLine.ts';
import { estimateOf } from '../tokens.ts';
import { toldIn, type Usage, usageIn } from '../turnCosts.ts';

/**
 * The facts of a message. One line tells the most wanted ones; the rest is open where it leaves the message's words in sight.
 * A fact that was not reported is shown as "not told", where one would look for it.
 */
export function nodeFacts(
  { node, calls, versions }: KnownNode,
  message: UIMessage | null | undefined,
  holders: Holders,
  isOpen: boolean,
): ReactNode {
  const isTold = node.name === 'assistant' && node.status !== 'streaming';
  const { model, usage } = toldBy(calls, message);
  const last = calls.at(-1);
  const status = statusOf(node, last);
  /** A fact of answers, told when they end. */
  const told = (value: string | undefined): string | undefined => value ?? (isTold ? NOT_TOLD : undefined);
  const facts: readonly Fact[] = [
    ['When', new Date(node.createdAt).toLocaleString()],
    ['Model', told(model)],
    ['Usage', told(usage && usageIn(usage))],
    ['Estimated', message ? `~${count(estimateOf(message))} tokens` : undefined],
    ['First word', told(last?.firstMs === undefined ? undefined : `after ${span(last.firstMs)}`)],
    ['Took', told(last && `${span(last.ms)}${last.steps > 1 ? ` in ${last.steps} steps` : ''}`)],
    ['Finish', told(last?.finishReason)],
    ['Branches', holders.branches.join(', ') || 'none'],
    ['Checkpoints', holders.checkpoints.join(', ') || undefined],
    ['Version', `${versions.index + 1} of ${versions.keys.length}`],
    ['Depth', String(node.depth)],
    ['Revision', String(node.rev)],
    ['Id', node.id],
    ['Key', node.key],
  ];
  return (
    <>
      <details className="turn" open={isOpen}>
        <summary>
          {dashed(status, model, usage && `${count(usage.output ?? 0)} out`, last && span(last.ms))}
        </summary>
        {factList(facts)}
      </details>
      {calls.length > 1 && requestsOf(calls)}
    </>
  );
}

/** What the engine knows of a message. */
export interface KnownNode {
  readonly node: NodeInfo;
  readonly calls: readonly CallFacts[];
  readonly versions: Versions;
}

/** The requests of an answer: a continued one has several. */
function requestsOf(calls: readonly CallFacts[]): ReactNode {
  return (
    <details className="turn">
      <summary>{counted(calls.length, 'request')}</summary>
      <ol>
        {calls.map(({ startedAt, status, ms, firstMs, finishReason, usage }) => (
          <li key={startedAt}>
            {dashed(
              new Date(startedAt).toLocaleTimeString(),
              status,
              span(ms),
              firstMs !== undefined && `first word after ${span(firstMs)}`,
              finishReason,
              usage && usageIn(usage),
            )}
          </li>
        ))}
      </ol>
    </details>
  );
}

/** The facts of the requests or, for an answer made without requests, of its metadata. */
function toldBy(
  calls: readonly CallFacts[],
  message: UIMessage | null | undefined,
): { readonly model: string | undefined; readonly usage: Usage | undefined } {
  const { usage } = Object(message?.metadata) as Readonly<Record<string, unknown>>;
  const { inputTokens: input, outputTokens: output } = Object(usage) as Readonly<Record<string, unknown>>;
  const isTold = typeof input === 'number' || typeof output === 'number';
  return {
    model: calls.findLast((call) => call.model)?.model ?? modelNamed(message?.metadata),
    usage: toldIn(calls) ?? (isTold ? ({ input, output } as Usage) : undefined),
  };
}

function statusOf({ status }: NodeInfo, call: CallFacts | undefined): string {
  if (status === 'streaming') return 'growing';
  return status === 'interrupted' && call ? `${status} - ${call.status}` : status;
}

/** What holds a message: branches, by their labels, and checkpoints at it or behind it. */
export interface Holders {
  readonly branches: readonly string[];
  readonly checkpoints: readonly string[];
}

/** Visits each message of the chat once, however many branches there are. */
export function holdersOf(
  engine: ContextEngine,
  branches: EngineState['branches'],
  checkpoints: EngineState['checkpoints'],
  messageKey: string,
): Holders {
  const known = new Map([
    [messageKey, true],
    ['', false],
  ]);
  const holds = (end: string | null): boolean => {
    const passed: string[] = [];
    let at = end ?? '';
    for (; !known.has(at); at = engine.node(at)?.parentKey ?? '') passed.push(at);
    const isHeld = known.get(at) === true;
    for (const key of passed) known.set(key, isHeld);
    return isHeld;
  };
  return {
    branches: branches.filter(({ headKey }) => holds(headKey)).map(branchLabel),
    checkpoints: checkpoints
      .filter((checkpoint) => holds(checkpoint.messageKey))
      .map(({ name, messageKey: at }) => escaped(at === messageKey ? `${name} (here)` : name)),
  };
}
