import type { EstimateResult } from 'contextree';
import type { ReactNode } from 'react';
import { dollars } from '../amounts.ts';
import { exactly } from '../figures.ts';
import { usageIn } from '../turnCosts.ts';
import { meter } from './Meter.tsx';

/** The size of a prompt: tokens, cost, and how much of the model's window it fills. */
export function sizeOf(estimate: EstimateResult): ReactNode {
  const { limits, cost, asOf, spent } = estimate;
  return (
    <section className="inset" aria-label="Size">
      <p>
        <strong>{tokensOf(estimate, estimate)} tokens</strong>
        {cost !== null && ` - ${costIn(estimate, cost)}`}
        <span className="muted"> - {asOf === null ? unpriced(estimate) : `prices of ${asOf}`}</span>
      </p>
      {limits.context !== null && windowOf(estimate, limits.context)}
      {spent?.cost && (
        <p className="muted">
          Spent so far {dollars(spent.cost.total)}: {usageIn(spent.tokens)}
        </p>
      )}
    </section>
  );
}

/** The window as a bar: system prompt, messages, and the free part. */
function windowOf(estimate: EstimateResult, context: number): ReactNode {
  const { tokens, systemPrompt, limits } = estimate;
  const left = exactly(limits.left ?? 0);
  const words = `${percent(tokens / context)} of a context of ${exactly(context)}, ${left} left`;
  const parts = { system: systemPrompt.tokens, history: tokens - systemPrompt.tokens };
  return meter(words, parts, Math.max(tokens, context), limits.exceedsContext);
}

/** The share of a piece: `~12 (40 %)`, and its cost if known. */
export function shareOf(of: EstimateResult['systemPrompt'], estimate: EstimateResult): ReactNode {
  return (
    <span className="share">
      {tokensOf(of, estimate)} ({percent(of.share)}){of.cost !== null && ` - ${costIn(estimate, of.cost)}`}
    </span>
  );
}

type Exactness = Pick<EstimateResult, 'exact'>;

/** A number of tokens, with `~` where it is an estimate. */
export function tokensOf({ tokens }: { readonly tokens: number }, exactness: Exactness): string {
  return tilde(exactness) + exactly(tokens);
}

function tilde({ exact }: Exactness): string {
  return exact ? '' : '~';
}

function costIn(exactness: Exactness, cost: number): string {
  const words = dollars(cost);
  return words.startsWith('<') ? words : tilde(exactness) + words;
}

/** A share for people: `40 %`. */
export function percent(share: number): string {
  return share > 0 && share < 0.005 ? '<1 %' : `${Math.round(100 * share)} %`;
}

function unpriced({ model }: EstimateResult): string {
  return model === '' ? 'choose a model for its price' : `no price known for ${model}`;
}
