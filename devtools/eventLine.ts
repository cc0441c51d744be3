import type { ContextEngine, ContextEvent, EngineState } from 'contextree';
import { clock, span } from './amounts.ts';
import { branchLabel } from './branchLabel.ts';
import { escaped } from './plainLine.ts';

/** The content of an event on one line, without its type, its times and its ids: `messages 2, How much salt?`. */
export function eventLine(event: ContextEvent, branches: EngineState['branches']): string {
  return (
    Object.entries(event)
      .filter(([field]) => !/^(at|ms|type)$|id$/i.test(field))
      // The words of a branch may be long, and are what may be clipped.
      .toSorted(([a], [b]) => Number(a === 'branch') - Number(b === 'branch'))
      .map(([field, value]) => {
        // Names and states say what they are; a number doesn't, nor which of two branches was left.
        if (typeof value !== 'string') return `${field} ${Array.isArray(value) ? value.length : value}`;
        const branch = event.type === 'checkpoint' ? undefined : branches.find(({ name }) => name === value);
        const words = branch ? branchLabel(branch) : escaped(value);
        return /^(from|to)$/.test(field) ? `${field} ${words}` : words;
      })
      .join(', ')
  );
}

/** The key of the last message that an event names, else of the end of the last branch; undefined where it names none. */
export function keyOfEvent(
  event: ContextEvent,
  engine: Pick<ContextEngine, 'node'>,
  { branches }: Pick<EngineState, 'branches'>,
): string | undefined {
  const names = Object.values(event).flat().map(String);
  const message = names.findLast((id) => engine.node(id));
  const branch = names
    .map((of) => branches.find(({ id, name }) => id === of || name === of))
    .findLast(Boolean);
  return message === undefined ? (branch?.headKey ?? undefined) : engine.node(message)?.key;
}

/** The time of day to the millisecond: `14:03:59.120`. */
export function clockTime(at: number): string {
  return `${clock(at)}.${String(new Date(at).getMilliseconds()).padStart(3, '0')}`;
}

/** A duration: `0.4 ms`, `12 ms`, `3.2 s`; '' for none. */
export function duration(ms: number): string {
  if (ms >= 10) return span(ms);
  return ms > 0 ? `${ms.toFixed(1)} ms` : '';
}
