import type { Comparison, ContextEngine, EngineState } from 'contextree';
import { type ReactNode, useState } from 'react';
import { dollars, span } from '../amounts.ts';
import { count, counted } from '../figures.ts';
import { dashed, more, NOT_TOLD, Scroll, Select } from '../kit.tsx';
import { instead, useAnswer } from '../live.tsx';
import { allOf } from '../messageText.ts';
import { useRoom } from '../room.ts';
import { unread } from '../unread.tsx';
import type { Sight, ViewProps } from '../view.ts';
import { branchLabel } from '../branchLabel.ts';
import { runsOf, useChanges } from './Changes.tsx';
import { LongText } from './Parts.tsx';
import { Table } from './Table.tsx';

type ComparedTurn = Comparison['turns'][number];
type ComparedMessage = NonNullable<ComparedTurn['a']>;

/** Compares two messages or branches from their last common message on: content, duration and cost. */
export function Compare({ engine, state, sight, onOpen }: ViewProps): ReactNode {
  const [chosen, choose] = useState<Partial<Ends>>({});
  if (state.status !== 'ready') return unread(state);
  if (state.branches.length === 0) return <p className="words">No messages yet.</p>;
  const choices = choicesIn({ engine, state, sight });
  // A branch may be deleted, or a mark removed, after it was chosen.
  const there = (id: string | undefined): string | undefined =>
    Object.values(choices)
      .flat()
      .find(([one]) => one === id)?.[0];
  const ends = endsOf(state, sight, { a: there(chosen.a), b: there(chosen.b) });
  return (
    <>
      <div className="bar">
        {endOf('A', ends.a, choices, (a) => choose({ ...chosen, a }))}
        <span aria-hidden="true">≠</span>
        {endOf('B', ends.b, choices, (b) => choose({ ...chosen, b }))}
      </div>
      {ends.a === ends.b ? (
        <p className="words">Both are the same. Mark a message with d in the graph.</p>
      ) : (
        <Compared engine={engine} revision={state.revision} {...ends} onOpen={onOpen} />
      )}
    </>
  );
}

/** The two sides: ids of branches, or keys of messages. */
interface Ends {
  readonly a: string;
  readonly b: string;
}

/** A person's choice; else the marked and the selected message, or what the app shows and the origin of its branch. */
function endsOf(
  { branches, branchId, headKey }: EngineState,
  sight: Sight,
  chosen: { readonly [K in keyof Ends]: string | undefined },
): Ends {
  const here = branches.find(({ id }) => id === branchId);
  const other = here?.forkedFrom ?? branches.findLast(({ id }) => id !== branchId)?.id;
  const b = chosen.b ?? sight.node ?? branchId;
  const isShown = b === branchId || b === headKey;
  return { a: chosen.a ?? sight.against ?? (isShown ? (other ?? b) : branchId), b };
}

type Choices = readonly (readonly [value: string, label: string])[];

function choicesIn({ engine, state, sight }: Pick<ViewProps, 'engine' | 'state' | 'sight'>): {
  readonly Branches: Choices;
  readonly Messages: Choices;
} {
  const message = (what: string, key: string | undefined): Choices => {
    const node = engine.node(key ?? '');
    return node ? [[node.key, `${what}: ${node.preview || node.name}`]] : [];
  };
  return {
    Branches: state.branches.map((branch) => [
      branch.id,
      branchLabel(branch) + (branch.isActive ? ' (shown)' : ''),
    ]),
    Messages: [
      ...message('marked', sight.against),
      ...(sight.node === sight.against ? [] : message('selected', sight.node)),
    ],
  };
}

function endOf(
  name: string,
  value: string,
  choices: ReturnType<typeof choicesIn>,
  onChoose: (value: string) => void,
): ReactNode {
  return (
    <label className="end">
      {name}
      <Select value={value} groups={choices} onChange={onChoose} />
    </label>
  );
}

interface ComparedProps extends Ends, Pick<ViewProps, 'onOpen'> {
  readonly engine: ContextEngine;
  readonly revision: number;
}

function Compared({ engine, revision, a, b, onOpen }: ComparedProps): ReactNode {
  const answer = useAnswer(() => engine.compare(a, b), [engine, revision, a, b]);
  const { value } = answer;
  if (!value) return instead(answer);
  return (
    <Scroll>
      {totalsOf(value.totals)}
      {value.ancestorKey === null ? (
        <p className="muted inset">They share no message.</p>
      ) : (
        ancestorOf(engine, value.ancestorKey, onOpen)
      )}
      <Turns turns={value.turns} onOpen={onOpen} />
    </Scroll>
  );
}

// ------------------------------------------------------------------ the totals of each side

type Sums = Comparison['totals']['a'];

const ROWS: readonly (readonly [label: string, sum: keyof Sums, write: (value: number) => string])[] = [
  ['Messages', 'messages', String],
  ['Estimated tokens', 'tokens', (tokens) => `~${count(tokens)}`],
  ['Input tokens', 'input', count],
  ['Output tokens', 'output', count],
  ['Cost', 'cost', dollars],
  ['Time', 'ms', span],
];

function totalsOf({ a, b }: Comparison['totals']): ReactNode {
  return (
    <Table
      className="sums"
      label="Totals"
      heads={['What', 'A', 'B', 'B - A']}
      rows={ROWS.map(([label, sum, write]) => [
        label,
        ...[a[sum], b[sum]].map((one) => (one === null ? NOT_TOLD : write(one))),
        difference(a[sum], b[sum], write),
      ])}
    />
  );
}

function difference(a: number | null, b: number | null, write: (value: number) => string): string {
  if (a === null || b === null) return '';
  if (a === b) return '=';
  return `${b > a ? '+' : '-'}${write(Math.abs(b - a)).replace('~', '')}`;
}

function ancestorOf(engine: ContextEngine, at: string, onOpen: ViewProps['onOpen']): ReactNode {
  return (
    <p className="muted inset">
      Both go on from{' '}
      <button className="quiet" onClick={() => onOpen('Graph', { node: at })}>
        {engine.node(at)?.preview || 'a message without words'}
      </button>
    </p>
  );
}

// ------------------------------------------------------------------ message beside message

/** How many rows are shown at first: each compares its words. */
const PAGE = 40;

function Turns({ turns, onOpen }: Pick<Comparison, 'turns'> & Pick<ViewProps, 'onOpen'>): ReactNode {
  const [shown, show] = useState(PAGE);
  const { ref, isNarrow } = useRoom();
  const runs = runsIn(turns);
  if (turns.length === 0) return <p className="words">No more messages.</p>;
  const left = runs.length - shown;
  return (
    <>
      <ol ref={ref}>
        {runs.slice(0, shown).map((run) => (
          <li className="turn" key={run[0].a?.key ?? run[0].b?.key}>
            {run[0].isSame ? (
              <p className="muted">{counted(run.length, 'message')} the same</p>
            ) : (
              <Differing turn={run[0]} isNarrow={isNarrow} onOpen={onOpen} />
            )}
          </li>
        ))}
      </ol>
      {more(PAGE, left, 'more', () => show(shown + PAGE))}
    </>
  );
}

type Run = readonly [ComparedTurn, ...ComparedTurn[]];

/** Groups consecutive equal turns into one row. */
function runsIn(turns: readonly ComparedTurn[]): readonly Run[] {
  const runs: [ComparedTurn, ...ComparedTurn[]][] = [];
  for (const turn of turns) {
    const last = runs.at(-1);
    if (turn.isSame && last?.[0].isSame) last.push(turn);
    else runs.push([turn]);
  }
  return runs;
}

interface DifferingProps extends Pick<ViewProps, 'onOpen'> {
  readonly turn: ComparedTurn;
  readonly isNarrow: boolean;
}

/** Two aligned messages, side by side where there is room, else as one text; or a message of one side. */
function Differing({ turn: { a, b }, isNarrow, onOpen }: DifferingProps): ReactNode {
  const isPair = a !== undefined && b !== undefined;
  const changes = useChanges(isPair ? saidBy(a) : '', isPair ? saidBy(b) : '');
  const sides = [
    ['A', a, 'before'],
    ['B', b, 'after'],
  ] as const;
  return (
    <div className={isNarrow ? '' : 'sides'}>
      {sides.map(([name, of, at]) => {
        if (!of) return null;
        const side = isPair ? name : `only in ${name}`;
        return (
          <div key={name} role="group" aria-label={`${side}: ${of.name}`}>
            {headOf(side, of, onOpen)}
            {!isPair && <LongText text={saidBy(of)} />}
            {isPair && (isNarrow ? name === 'B' && runsOf(changes) : runsOf(changes, at))}
          </div>
        );
      })}
    </div>
  );
}

function headOf(side: string, of: ComparedMessage, onOpen: ViewProps['onOpen']): ReactNode {
  const { name, key, tokens, calls, message } = of;
  const ms = calls.reduce((sum, call) => sum + call.ms, 0);
  const facts = dashed(
    `~${count(tokens)} tokens`,
    calls.length > 0 && span(ms),
    !message && 'its content is lost',
  );
  return (
    <p className="role">
      <span>
        {side} - {name}
      </span>
      <span className="share">{facts}</span>
      <button className="quiet" onClick={() => onOpen('Graph', { node: key })}>
        Open
      </button>
    </p>
  );
}

function saidBy(one: ComparedMessage): string {
  return one.message ? allOf(one.message) : '';
}
