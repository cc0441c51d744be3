import type { ContextEngine, ContextEvent, EngineState } from 'contextree';
import { clock, span } from './amounts.ts';

/** The content of an event on one line, without its type, its times and its ids: `branch main, messages 2`. */
export function eventLine(event: ContextEvent): string {
  return Object.entries(event)
    .filter(([field]) => !/^(at|ms|type)$|id$/i.test(field))
    .map(([field, value]) => `${field} ${Array.isArray(value) ? value.length : value}`)
    .join(', ');
}

/** The key of the message of an event, else of the last one of its branch; undefined for unknown ones. */
export function keyOfEvent(
  event: ContextEvent,
  engine: Pick<ContextEngine, 'node'>,
  { branches }: Pick<EngineState, 'branches'>,
): string | undefined {
  const known = (id: string | undefined): string | undefined => engine.node(id ?? '')?.key;
  const headOf = (branch: string | undefined): string | undefined =>
    branches.find(({ id, name }) => id === branch || name === branch)?.headKey ?? undefined;
  const { ids = [], id, answerId, messageId, to, toId } = event as EventIds;
  return known(messageId ?? answerId ?? ids.at(-1) ?? id) ?? headOf(toId ?? to ?? id);
}

/** The ids in events: of messages, and of branches. */
type EventIds = { readonly ids?: readonly string[] } & {
  readonly [name in 'id' | 'answerId' | 'messageId' | 'to' | 'toId']?: string;
};

/** The time of day to the millisecond: `14:03:59.120`. */
export function clockTime(at: number): string {
  return `${clock(at)}.${String(at % 1000).padStart(3, '0')}`;
}

/** A duration: `0.4 ms`, `12 ms`, `3.2 s`; '' for none. */
export function duration(ms: number): string {
  if (ms >= 10) return span(ms);
  return ms > 0 ? `${ms.toFixed(1)} ms` : '';
}
