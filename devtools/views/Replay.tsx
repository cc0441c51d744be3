import type { ContextEngine } from 'contextree';
import { type ReactNode, useEffect, useMemo, useState } from 'react';
import { Act } from '../Copy.tsx';
import { download } from '../download.ts';
import { fixtureOf } from '../fixture.ts';
import { Select } from '../kit.tsx';
import { instead, useAnswer } from '../live.tsx';
import { requestAt } from '../promptAt.ts';
import { partsAfter } from '../replayed.ts';
import { type RecordedRequest, useRequests } from '../requests.ts';
import { useShownIn } from '../Styled.tsx';
import { Part } from './Parts.tsx';

/** The paces of a replay. */
const PACES = ['at once', 'in recorded time'];

/** The latest recorded answer of a message, or to it. */
export function ReplayOf({
  engine,
  messageKey,
}: {
  readonly engine: ContextEngine;
  readonly messageKey: string;
}): ReactNode {
  const requests = useRequests(engine);
  const request = requestAt({ engine, node: messageKey, requests });
  if (request) return <Replay request={request} />;
  return <p className="words">Not recorded. Requests are recorded while the panel is open.</p>;
}

/** A recorded answer, replayed: at once, in its own time, or up to the chunk at which it fails. */
export function Replay({ request }: { readonly request: RecordedRequest }): ReactNode {
  const answer = useAnswer(() => request.masked(), [request]);
  const { value: record } = answer;
  return record ? <Player key={request.id} record={record} /> : instead(answer);
}

function Player({ record }: { readonly record: RecordedRequest }): ReactNode {
  const { chunks, status, truncated } = record;
  const [pace, setPace] = useState('at once');
  const [failAt, setFailAt] = useState(Infinity);
  const [at, setAt] = useState(Infinity);
  const [isPlaying, setPlaying] = useState(false);
  const end = Math.min(failAt, chunks.length);
  const isRunning = isPlaying && at < end;
  const wait = (chunks[at]?.ms ?? 0) - (chunks[at - 1]?.ms ?? 0);
  // The wait is a number, and not the record: one that grows, or another run, must not begin it anew.
  useEffect(() => {
    if (!isRunning) return undefined;
    const timer = setTimeout(() => setAt(at + 1), Math.max(0, wait));
    return () => clearTimeout(timer);
  }, [isRunning, at, wait]);
  const shown = Math.min(at, end);
  const parts = useMemo(() => partsAfter(record, shown), [record, shown]);
  const play = (): void => {
    setAt(pace === 'at once' ? Infinity : 0);
    setPlaying(true);
  };
  return (
    <section aria-label="Replay">
      <div className="bar">
        <button onClick={isRunning ? () => setPlaying(false) : play}>{isRunning ? 'Pause' : 'Replay'}</button>
        <Select label="Pace" value={pace} options={PACES} onChange={setPace} />
        <label>
          Fail at chunk{' '}
          <input
            type="number"
            min={0}
            max={chunks.length}
            placeholder="-"
            onChange={({ target: { value } }) =>
              setFailAt(value ? Math.max(0, parseInt(value, 10)) : Infinity)
            }
          />
        </label>
        <SaveFixture record={record} />
      </div>
      <p className="inset">
        <output>
          {shown} of {chunks.length} chunks, {Math.round(chunks[shown - 1]?.ms ?? 0)} ms
        </output>
      </p>
      {truncated && <p className="muted inset">Its end was too long to be recorded.</p>}
      {status === 'open' && <p className="muted inset">It still grows.</p>}
      <div className="turn">
        {parts.map((part, i) => (
          <Part key={i} part={part} />
        ))}
        {shown === end && failAt < chunks.length && <p className="bad">Fails here.</p>}
        {shown === chunks.length && record.error !== undefined && (
          <p className="bad">Failed: {record.error}</p>
        )}
      </div>
    </section>
  );
}

function SaveFixture({ record }: { readonly record: RecordedRequest }): ReactNode {
  const shownIn = useShownIn();
  return (
    <Act
      label="Save as fixture"
      done="Saved"
      act={async () => download(shownIn, 'fixture', await fixtureOf(record), 'test.ts')}
    />
  );
}
