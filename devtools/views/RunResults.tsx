import type { ContextEngine } from 'contextree';
import { type ReactNode, useState } from 'react';
import { NOT_TOLD } from '../kit.tsx';
import { useAnswer } from '../live.tsx';
import { allOf } from '../messageText.ts';
import { type Result, runsOf, SAVING, wordsOf } from '../runs.ts';
import { wordChanges } from '../wordChanges.ts';
import { Changes } from './Changes.tsx';
import type { Ground } from './RunForm.tsx';
import { dollars } from '../amounts.ts';
import { exactly } from '../figures.ts';
import { Table } from './Table.tsx';

/** The results of runs, beside the existing answer. None is saved before it is kept. */
export function RunResults({ engine, ground, results }: RunResultsProps): ReactNode {
  const [opened, setOpened] = useState<number>();
  const runs = runsOf(engine);
  const base = ground.answer ? allOf(ground.answer.message) : wordsOfFirst(results);
  const shown = results.find(({ number }) => number === opened);
  return (
    <section aria-label="Results">
      <h2>
        Results <span className="muted">not saved until kept</span>
      </h2>
      <div className="inset">
        <Table
          heads={['Model', 'State', 'Words', 'Tokens', 'Cost', 'ms', 'Branch']}
          rows={results.map((result) => {
            const { number, plan, status, error, ms, tokens, cost, kept, saving, message } = result;
            const isOpen = number === opened;
            // What was used is asked for at the end.
            const untold = cost === null && NOT_TOLD;
            const state = <span className={error && 'bad'}>{error ? `${status}: ${error}` : status}</span>;
            const words = (
              <button
                className="quiet"
                aria-expanded={isOpen}
                onClick={() => setOpened(isOpen ? undefined : number)}
              >
                {message ? <WordCount before={base} after={wordsOf(result)} /> : '-'}
              </button>
            );
            const keep = kept ? (
              <span className="muted">Kept as {kept.name}</span>
            ) : (
              <>
                <button
                  disabled={!message || status === 'running' || saving === SAVING}
                  onClick={() => void runs.keep(result)}
                >
                  Keep
                </button>
                {saving}
              </>
            );
            return [
              plan.model || 'the app’s',
              state,
              words,
              tokens === undefined ? untold : exactly(tokens),
              typeof cost === 'number' ? dollars(cost) : untold,
              ms && Math.round(ms),
              keep,
            ];
          })}
        />
      </div>
      <p className="inset">
        <button onClick={() => runs.clear()}>Clear results</button>
      </p>
      {shown && (
        <section aria-label="Difference">
          <h2>Difference</h2>
          {shown.message ? (
            <Changes before={base} after={wordsOf(shown)} />
          ) : (
            <p className="muted inset">{shown.error ?? 'No text yet.'}</p>
          )}
        </section>
      )}
    </section>
  );
}

interface RunResultsProps {
  readonly engine: ContextEngine;
  readonly ground: Ground;
  readonly results: readonly Result[];
}

function wordsOfFirst([first]: readonly Result[]): string {
  return first ? wordsOf(first) : '';
}

/** How many words were added and removed: `+12 -3`. */
function WordCount({ before, after }: { readonly before: string; readonly after: string }): ReactNode {
  const { value } = useAnswer(() => counted(before, after), [before, after]);
  return value ?? '…';
}

async function counted(before: string, after: string): Promise<string> {
  if (before === after) return 'the same';
  let [added, removed] = [0, 0];
  for (const { kind, text } of await wordChanges(before, after)) {
    const words = text.split(/\s+/).filter(Boolean).length;
    if (kind === 'added') added += words;
    if (kind === 'removed') removed += words;
  }
  return `+${added} -${removed}`;
}
