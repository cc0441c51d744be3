import type { ContextEngine } from 'contextree';
import type { GraphModel } from './graphRows.ts';

/** What is not settled about a message, in the words of its row. */
export type RowState = 'growing' | 'waits for approval' | 'failed' | 'stopped' | 'cut off' | 'unanswered';

/** The moment at which it is asked: another one may have another answer. */
export interface Moment {
  readonly engine: ContextEngine;
  readonly model: GraphModel;
  /** The last message of the active branch, which may be an answer that says nothing yet. */
  readonly headKey: string | undefined;
}

/** The state of a message; undefined for one that is as it should be. What waits for approval is known of loaded messages. */
export function rowState({ engine, model, headKey }: Moment, key: string): RowState | undefined {
  const status = engine.status(key);
  if (status === 'streaming') return 'growing';
  if (status === 'interrupted') {
    const how = engine.calls(key).at(-1)?.status;
    return how === 'failed' || how === 'stopped' ? how : 'cut off';
  }
  if (isWaiting(engine, key)) return 'waits for approval';
  const node = model.indexOf.get(key);
  if (node === undefined || model.nodes[node]?.role !== 'user' || model.lanes.next[node] !== -1)
    return undefined;
  const isAsked =
    engine.node(headKey ?? '')?.parentKey === key && engine.status(headKey ?? '') === 'streaming';
  return isAsked ? 'growing' : 'unanswered';
}

function isWaiting(engine: ContextEngine, key: string): boolean {
  // A damaged part may be anything.
  const last = engine.message(key)?.parts.findLast((part) => Object(part).type !== 'step-start');
  return Object(last).state === 'approval-requested';
}
