import { type ContextEngine, maskSecrets } from 'contextree';
import { costOf } from 'contextree/tokens';
import { type ReactNode } from 'react';
import { instead, useAnswer } from '../live.tsx';
import type { CacheVerdict, RecordedRequest } from '../requests.ts';
import type { TurnCost } from '../turnCosts.ts';
import type { ViewProps } from '../view.ts';
import { Changes } from './Changes.tsx';
import { dollars } from '../amounts.ts';
import { exactly } from '../figures.ts';

/** Why the provider's cache served a turn, or did not. */
export function Cache({ engine, turn: { request }, requests, whatIf }: CacheProps): ReactNode {
  const answer = useAnswer(() => verdictOn(engine, request, whatIf), [engine, request, requests, whatIf]);
  if (!request) return <p className="figures">Cache: not recorded</p>;
  const { value } = answer;
  if (!value) return answer.error && instead(answer);
  const { state, cause, why } = value;
  if (!cause || state === 'kept')
    return (
      <p className="figures">
        Cache: <strong>{state}</strong>. {why}
      </p>
    );
  return breachOf(value);
}

interface CacheProps extends Pick<ViewProps, 'engine'> {
  readonly turn: TurnCost;
  readonly requests: readonly RecordedRequest[];
  /** The model whose prices count; '' for the one that answered. */
  readonly whatIf: string;
}

async function verdictOn(
  engine: ContextEngine,
  request: RecordedRequest | undefined,
  whatIf: string,
): Promise<CacheVerdict | undefined> {
  if (!request || !engine.requests().some(({ id }) => id === request.id)) return undefined;
  const verdict = await engine.explainCache(request.id);
  const { section: _, ...shown } = verdict;
  const cost = whatIf ? await costOf({ model: whatIf, usage: { input: verdict.billedAgain } }) : verdict.cost;
  return { ...(await maskSecrets(shown)), cost };
}

function breachOf(verdict: CacheVerdict): ReactNode {
  const { state, cause, why, mend, billedAgain, cost, isLikely, component, source, before, after, settings } =
    verdict;
  return (
    <details>
      <summary>
        Cache: <strong className={state === 'broke' ? 'bad' : ''}>{state}</strong> - {cause}
        {isLikely && ' (likely)'}
        {billedAgain > 0 && ` - ${exactly(billedAgain)} tokens billed again${price(cost)}`}
      </summary>
      <p>{why}</p>
      {component !== undefined && (
        <p>
          Set by <code>{`<${component}>`}</code>
          {source !== undefined && <span className="muted"> {source}</span>}
        </p>
      )}
      {settings.length > 0 && <p className="muted">Options of the call that differ: {settings.join(', ')}</p>}
      {(before ?? after) !== undefined && <Changes before={before ?? ''} after={after ?? ''} />}
      {mend !== undefined && (
        <p>
          <strong>Fix:</strong> {mend}
        </p>
      )}
    </details>
  );
}

function price(cost: number | null): string {
  return cost === null ? '' : `, ${dollars(cost)}`;
}
