import { dashed, type Fact, factList, Scroll } from '../kit.tsx';
import type { ContextEngine, Finding, StorageFigures } from 'contextree';
import { type ReactNode, useState } from 'react';
import { useAttempt } from '../attempt.tsx';
import { bytesOf } from '../amounts.ts';
import { counted, exactly } from '../figures.ts';
import { duration } from '../eventLine.ts';
import { type Logged, useEvents } from '../events.ts';
import { instead, useAnswer } from '../live.tsx';
import type { ViewProps } from '../view.ts';
import { meter } from './Meter.tsx';
import { percent } from './Size.tsx';
import { Table } from './Table.tsx';

/**
 * Where the chats are stored, how large they are, how long writes take, which other tabs are open, and whether the chat is
 * intact.
 */
export function Storage({ engine, state, onOpen }: ViewProps): ReactNode {
  const [count, setCount] = useState(0);
  const { saveState, remoteMessages } = state;
  const answer = useAnswer(
    async () => (await engine.store.storage?.()) ?? null,
    [engine, count, saveState, remoteMessages],
  );
  const value = answer.value ?? undefined;
  const again = (): void => setCount((before) => before + 1);
  if (answer.value === undefined && !answer.error) return instead(answer);
  return (
    <Scroll>
      {answer.error && instead(answer)}
      {placeOf(state, value)}
      {value && siteOf(engine, value, again)}
      <Kinds engine={engine} figures={value} onCount={again} />
      <Writes engine={engine} />
      <Tabs engine={engine} state={state} />
      <Integrity engine={engine} onOpen={onOpen} />
    </Scroll>
  );
}

function placeOf(
  { saveState, persistence }: ViewProps['state'],
  figures: StorageFigures | undefined,
): ReactNode {
  return section('Where', [
    ['Kept in', persistence],
    [
      'State',
      dashed(
        saveState.state,
        saveState.pending > 0 && `${exactly(saveState.pending)} wait`,
        saveState.error?.message,
      ),
    ],
    ['Chats', figures && exactly(figures.chats)],
    ['Messages', figures && exactly(figures.messages)],
    ['Attachments', figures && `${exactly(figures.blobs.count)}, ${bytesOf(figures.blobs.bytes)}`],
  ]);
}

function section(title: string, facts: readonly Fact[]): ReactNode {
  return (
    <section>
      <h2>{title}</h2>
      {factList(facts)}
    </section>
  );
}

/** How many bytes the browser allows this site, and whether it may clear them. */
function siteOf(engine: ContextEngine, figures: StorageFigures, onKeep: () => void): ReactNode {
  const { usage = 0, quota, persisted } = figures;
  if (figures.usage === undefined && persisted === undefined) return null;
  const keep = (): void => {
    void engine.store.persist?.().then(onKeep);
  };
  const words = bytesOf(usage) + (quota === undefined ? '' : ` of ${bytesOf(quota)}`);
  return section('This site', [
    ['Space', meter(words, { system: usage }, quota ?? Infinity)],
    [
      'Kept',
      persisted === false ? (
        <>until space runs short {engine.store.persist && <button onClick={keep}>Ask to keep</button>}</>
      ) : (
        persisted && 'as the browser promised'
      ),
    ],
  ]);
}

interface KindsProps {
  readonly engine: ContextEngine;
  readonly figures: StorageFigures | undefined;
  readonly onCount: () => void;
}

/** Rows and bytes of each kind of record: weighed on demand, because that reads all of them. */
function Kinds({ engine, figures, onCount }: KindsProps): ReactNode {
  const [kinds, setKinds] = useState<StorageFigures['kinds']>();
  const { alert, attempt } = useAttempt();
  const weigh = (): void =>
    attempt(async () => {
      setKinds((await engine.store.storage?.({ weigh: true }))?.kinds);
      onCount();
    });
  const all = kinds?.reduce((sum, { bytes }) => sum + bytes, 0) ?? 0;
  if (!figures) return null;
  return (
    <section>
      <h2>
        Records <button onClick={weigh}>Measure</button>
      </h2>
      {alert}
      {kinds && (
        <Table
          className="sums"
          heads={['Kind', 'Rows', 'About', 'Share']}
          rows={kinds.map(({ kind, rows, bytes }) => [
            kind,
            exactly(rows),
            bytesOf(bytes),
            percent(bytes / (all || 1)),
          ])}
        />
      )}
    </section>
  );
}

/** How long the engine's writes took since the panel was opened. */
function Writes({ engine }: { readonly engine: ContextEngine }): ReactNode {
  const events = useEvents(engine);
  const rows = latencies(events);
  return (
    <section>
      <h2>Writes since the panel was opened</h2>
      {rows.length === 0 ? (
        <p className="inset muted">None yet.</p>
      ) : (
        <Table
          className="sums"
          heads={['What', 'Times', 'Median', '95 %', 'Longest']}
          rows={rows.map(({ what, times }) => [
            what,
            exactly(times.length),
            ...[0.5, 0.95, 1].map((part) => duration(at(times, part))),
          ])}
        />
      )}
    </section>
  );
}

/** The durations of writes, by type, shortest first: to resolve is to read, and a request is a model's work. */
function latencies(
  events: readonly Logged[],
): readonly { readonly what: string; readonly times: readonly number[] }[] {
  const writes = events.filter(({ event }) => event.ms > 0 && !/^re(solve|quest)$/.test(event.type));
  return [...new Set(writes.map(({ event }) => event.type))].map((what) => ({
    what,
    times: writes.flatMap(({ event }) => (event.type === what ? event.ms : [])).toSorted((a, b) => a - b),
  }));
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.ceil(share * sorted.length) - 1] as number;
}

/** What other tabs are doing with this chat. */
function Tabs({ engine, state }: Pick<ViewProps, 'engine' | 'state'>): ReactNode {
  const { saveState, remoteMessages } = state;
  // Read again when a turn begins or ends, here or in another tab.
  const { value: held } = useAnswer(
    async () => (await engine.store.held(engine.chatId)).size,
    [engine, saveState, remoteMessages],
  );
  return section('Other tabs', [
    ['Writing now', held === undefined ? '…' : counted(held, 'answer')],
    ['Not shown here', counted(remoteMessages.length, 'message')],
  ]);
}

/** Whether the chat is intact, a preview of the repair, and the repair. */
function Integrity({ engine, onOpen }: Pick<ViewProps, 'engine' | 'onOpen'>): ReactNode {
  const [result, setResult] = useState<Checked>();
  const { alert, attempt } = useAttempt();
  const check = (isRepair: boolean): void =>
    attempt(async () => {
      const { findings } = await engine.repair({ preview: !isRepair });
      setResult({ findings, isRepair });
    });
  const { findings = [], isRepair } = result ?? {};
  const mends = findings.filter(({ mends: can }) => can).length;
  return (
    <section>
      <h2>
        Integrity <button onClick={() => check(false)}>Check</button>{' '}
        {isRepair === false && mends > 0 && (
          <button onClick={() => check(true)}>
            Repair {exactly(mends)} of {exactly(findings.length)}
          </button>
        )}
      </h2>
      {alert}
      <div className="inset" role="status">
        {result && (findings.length === 0 ? 'No faults found.' : summary(result, mends))}
      </div>
      {findings.length > 0 && (
        <ul>
          {findings.slice(0, MOST).map((finding, i) => (
            <li key={i} className="turn">
              {sayingOf(finding, isRepair, (node) => onOpen('Graph', { node }))}
            </li>
          ))}
        </ul>
      )}
      {findings.length > MOST && <p className="inset muted">and {exactly(findings.length - MOST)} more</p>}
    </section>
  );
}

interface Checked {
  readonly findings: readonly Finding[];
  readonly isRepair: boolean;
}

/** How many findings are listed. */
const MOST = 100;

function summary({ findings, isRepair }: Checked, mends: number): string {
  const all = counted(findings.length, 'finding');
  return isRepair ? `${all}; ${exactly(mends)} mended` : `${all}; a repair would mend ${exactly(mends)}`;
}

function sayingOf(
  { kind, id, text, key, mends }: Finding,
  isRepair: boolean | undefined,
  onShow: (key: string) => void,
): ReactNode {
  return (
    <>
      <strong>{kind}</strong> {!text.includes(id) && <span dir="auto">{id}</span>} {text}{' '}
      {mends && <span className="state">{isRepair ? 'mended' : 'can be mended'}</span>}{' '}
      {key !== undefined && (
        <button className="quiet" onClick={() => onShow(key)}>
          Show in Graph
        </button>
      )}
    </>
  );
}
