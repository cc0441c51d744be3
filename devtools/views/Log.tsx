import { Scroll, SearchField, Select } from '../kit.tsx';
import { type ContextEvent, type EngineState, maskSecrets } from 'contextree';
import { type ReactNode, useMemo, useState } from 'react';
import { Take } from '../Copy.tsx';
import { clockTime, duration, eventLine, keyOfEvent } from '../eventLine.ts';
import { type Logged, logOf, useEvents } from '../events.ts';
import type { ViewProps } from '../view.ts';
import { choice } from './choice.tsx';
import { History } from './History.tsx';
import { List } from './List.tsx';

const PARTS = ['Events', 'History'] as const;

/** The events of the engine since the panel was opened, and the chat's history, step by step. */
export function Log(props: ViewProps): ReactNode {
  const [part, setPart] = useState<(typeof PARTS)[number]>('Events');
  const parts = choice(PARTS, part, setPart);
  return part === 'Events' ? <Events {...props} parts={parts} /> : <History {...props} parts={parts} />;
}

type EventType = ContextEvent['type'];

const TYPES: readonly EventType[] = [
  'set',
  'resolve',
  'save',
  'switch',
  'branch',
  'checkpoint',
  'stream',
  'request',
  'conflict',
  'error',
];

function Events({ engine, state, onOpen, parts }: ViewProps & { readonly parts: ReactNode }): ReactNode {
  const { branches } = state;
  const events = useEvents(engine);
  const [frozen, setFrozen] = useState<readonly Logged[]>();
  const [type, setType] = useState('');
  const [words, setWords] = useState('');
  const [number, setNumber] = useState(-1);
  const all = frozen ?? events;
  const shown = useMemo(() => matching(all, type, words, branches), [all, type, words, branches]);
  const selected = shown.findIndex((entry) => entry.number === number);
  const event = shown[selected]?.event;
  const key = event && keyOfEvent(event, engine, state);
  const clear = (): void => {
    logOf(engine).clear();
    setFrozen(undefined);
  };
  return (
    <>
      <div className="bar">
        {parts}
        <Select label="Type" value={type} options={[['', 'all types'], ...TYPES]} onChange={setType} />
        <SearchField label="Filter events" placeholder="Filter" value={words} onChange={setWords} />
        <button aria-pressed={frozen !== undefined} onClick={() => setFrozen(frozen ? undefined : events)}>
          {frozen ? 'Resume' : 'Pause'}
        </button>
      </div>
      {shown.length === 0 ? (
        <p className="words grow">{all.length === 0 ? 'Nothing has happened yet.' : 'No event matches.'}</p>
      ) : (
        <List
          label="Events, newest first"
          items={shown}
          selected={selected}
          onSelect={(index) => setNumber(shown[index]?.number ?? -1)}
          onEnd={() => setNumber(-1)}
          onOpen={() => key !== undefined && onOpen('Graph', { node: key })}
          classOf={(entry) => (entry.event.type === 'error' ? 'failed' : '')}
          renderItem={(entry) => lineOf(entry, branches)}
        />
      )}
      {event && (
        <Scroll className="detail">
          <pre className="text">{JSON.stringify(event, null, 1)}</pre>
        </Scroll>
      )}
      <footer className="bar">
        <p className="grow">{frozen && newSince(frozen, events)}</p>
        <button disabled={all.length === 0} onClick={clear}>
          Clear
        </button>
        <button disabled={key === undefined} onClick={() => onOpen('Graph', { node: key })}>
          Show in Graph
        </button>
        <Take what="log" json={() => jsonOf(shown)} disabled={shown.length === 0} />
      </footer>
    </>
  );
}

/** How many events came during the pause. */
function newSince(frozen: readonly Logged[], events: readonly Logged[]): string {
  const count = (events.at(-1)?.number ?? 0) - (frozen.at(-1)?.number ?? 0);
  return count > 0 ? `${count} new` : '';
}

/** The events of a type, or of all, with this text; newest first. */
function matching(
  events: readonly Logged[],
  type: string,
  words: string,
  branches: EngineState['branches'],
): readonly Logged[] {
  const wanted = words.trim().toLowerCase();
  const says = ({ event }: Logged): boolean =>
    (type === '' || event.type === type) &&
    (wanted === '' || `${event.type} ${eventLine(event, branches)}`.toLowerCase().includes(wanted));
  return events.filter(says).toReversed();
}

function lineOf({ event, count }: Logged, branches: EngineState['branches']): ReactNode {
  return (
    <>
      <time className="muted">{clockTime(event.at)}</time>
      <span className="kind">{event.type}</span>
      <span className="grow preview" dir="auto">
        {eventLine(event, branches)}
        {count > 1 && <span className="muted"> ×{count}</span>}
      </span>
      <span>{duration(event.ms)}</span>
    </>
  );
}

/** The events, oldest first, without secrets. */
async function jsonOf(events: readonly Logged[]): Promise<string> {
  return JSON.stringify(await maskSecrets(events.map(({ event }) => event).toReversed()), null, 1);
}
