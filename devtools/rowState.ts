import type { ContextEngine } from 'contextree';
import type { GraphModel } from './graphRows.ts';

/** The state of a message that is not settled, as its row shows it. */
export type RowState = 'growing' | 'waits for approval' | 'failed' | 'stopped' | 'cut off' | 'unanswered';

/** The inputs of {@link rowState}: at another moment the result may differ. */
export interface Moment {
  readonly engine: ContextEngine;
  readonly model: GraphModel;
  /** The last message of the active branch, which may be an answer without content yet. */
  readonly headKey: string | undefined;
}

/** The state of a message, by its node; undefined for a settled one. Waiting for approval is known of loaded messages only. */
export function rowState({ engine, model, headKey }: Moment, node: number): RowState | undefined {
  const { key, role } = model.nodes[node] as GraphModel['nodes'][number];
  const status = engine.status(key);
  if (status === 'streaming') return 'growing';
  if (status === 'interrupted') {
    const how = engine.calls(key).at(-1)?.status;
    return how === 'failed' || how === 'stopped' ? how : 'cut off';
  }
  if (isWaiting(engine, key)) return 'waits for approval';
  if (role !== 'user' || model.lanes.next(node) !== undefined) return undefined;
  const others = engine.state.getState().remoteMessages;
  const isAnswer = (end: string): boolean =>
    engine.node(end)?.parentKey === key && engine.status(end) === 'streaming';
  return [headKey ?? '', ...others.map(({ id }) => id)].some(isAnswer) ? 'growing' : 'unanswered';
}

function isWaiting(engine: ContextEngine, key: string): boolean {
  // A damaged part may be any value.
  const last = engine.message(key)?.parts.findLast((part) => Object(part).type !== 'step-start');
  return Object(last).state === 'approval-requested';
}
