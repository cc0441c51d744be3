import type { ContextEngine, StorageFigures } from 'contextree';
import { type ReactNode, useMemo, useState } from 'react';
import { useAnswer } from '../live.ts';

/** Where the chats are kept, how much there is, and whether the browser may take it. Counted when it is opened. */
export function Storage({ engine, persistence }: StorageProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  if (!engine.store.storage) return null;
  return (
    <details className="storage" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        Storage <span className="muted">{persistence}</span>
      </summary>
      {isOpen && <Figures engine={engine} />}
    </details>
  );
}

function Figures({ engine }: Pick<StorageProps, 'engine'>): ReactNode {
  const [count, setCount] = useState(0);
  const moment = useMemo(() => ({ engine, count }), [engine, count]);
  const { value, error } = useAnswer(figuresAt, moment);
  const again = (): void => setCount((before) => before + 1);
  const keep = (): void => {
    void engine.store.persist?.().then(again);
  };
  return (
    <>
      {error && <p role="alert">The store could not be counted: {error.message}</p>}
      {value && (
        <dl>
          {rowsOf(value).map(([name, text]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{text}</dd>
            </div>
          ))}
        </dl>
      )}
      <button type="button" onClick={again}>
        Count again
      </button>{' '}
      {value?.persisted === false && (
        <button type="button" title="Asks the browser not to clear this site by itself" onClick={keep}>
          Ask to keep
        </button>
      )}
    </>
  );
}

async function figuresAt({ engine }: Pick<StorageProps, 'engine'>): Promise<StorageFigures | undefined> {
  return engine.store.storage?.();
}

function rowsOf(figures: StorageFigures): [name: string, text: string][] {
  const { chats, messages, packs, singles, blobs, journal, usage, quota, persisted } = figures;
  const rows: [string, string | undefined][] = [
    ['Chats', number(chats)],
    ['Messages', number(messages)],
    [
      'Packs',
      packs === undefined ? undefined : `${number(packs)}, and ${number(singles ?? 0)} single records`,
    ],
    ['Attachments', `${number(blobs.count)}, ${bytesOf(blobs.bytes)}`],
    ['Journal', journal && journalOf(journal)],
    ['Used by the site', usage === undefined ? undefined : bytesOf(usage)],
    ['Allowed', quota === undefined ? undefined : bytesOf(quota)],
    ['Persisted', persisted === undefined ? undefined : persisted ? 'yes' : 'no, the browser may clear it'],
  ];
  return rows.flatMap(([name, text]) => (text === undefined ? [] : [[name, text]]));
}

function journalOf({ state, bytes, error }: NonNullable<StorageFigures['journal']>): string {
  if (state === 'unsupported') return 'not in this browser';
  return state === 'failed' ? `can’t be written: ${error?.message ?? ''}` : bytesOf(bytes ?? 0);
}

function number(value: number): string {
  return value.toLocaleString('en');
}

function bytesOf(bytes: number): string {
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), 3);
  return `${(bytes / 1000 ** power).toFixed(power && 1)} ${['bytes', 'kB', 'MB', 'GB'][power]}`;
}

interface StorageProps {
  readonly engine: ContextEngine;
  readonly persistence: string;
}
