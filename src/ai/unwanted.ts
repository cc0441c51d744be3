import type { UIMessage } from 'ai';
import type { Turn } from './turn.ts';

/**
 * Calls `stop` when nobody will read an answer any more: its branch is deleted on this page, and no other one shows it.
 * A branch that another tab deletes comes back with the answer: who deleted it has not seen it.
 */
export function onUnwanted<M extends UIMessage>(
  turn: Turn<M>,
  branchId: () => string | undefined,
  stop: () => void,
): void {
  const { engine, id } = turn.options;
  const unsubscribe = engine.subscribe((event) => {
    const isOwn = event.type === 'branch' && event.action === 'delete' && event.id === branchId();
    if (isOwn && engine.siblings(id).index === -1) stop();
  });
  void turn.settled.then(unsubscribe);
}

/** A signal for a request whose chat is not ours to stop: it aborts with the chat's own, and when the answer is unwanted. */
export function wantedSignal<M extends UIMessage>(turn: Turn<M>, own: AbortSignal | undefined): AbortSignal {
  const { engine, branchId, version } = turn.options;
  const request = new AbortController();
  const abort = (): void => request.abort(own?.reason);
  if (own?.aborted) abort();
  own?.addEventListener('abort', abort, { once: true });
  onUnwanted(turn, () => (version && engine.node(turn.options.id) ? version.forkId : branchId), abort);
  const unsubscribe = engine.state.subscribe(({ error }) => {
    if (error?.code === 'chat-deleted') abort();
  });
  void turn.settled.then(unsubscribe);
  return request.signal;
}
