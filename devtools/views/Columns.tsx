import type { ContextEngine } from 'contextree';
import type { ReactNode } from 'react';
import type { ColumnName } from '../columns.ts';
import { clock, dollars, span } from '../amounts.ts';
import { count } from '../figures.ts';
import { useAnswer } from '../live.tsx';
import { readMessage } from '../readMessage.ts';
import { estimateOf } from '../tokens.ts';
import { spentOn, toldIn } from '../turnCosts.ts';

/** The heads of the columns, hidden from screen readers because each cell names its column. */
export function columnHeads(columns: readonly ColumnName[]): ReactNode {
  return (
    <div className="columns" aria-hidden="true">
      {columns.map((name) => (
        <span key={name} className={`cell ${name}`}>
          {name}
        </span>
      ))}
    </div>
  );
}

/** The cells of one row. An unknown value is empty. */
export function Cells({ engine, messageKey, revision, columns }: CellsProps): ReactNode {
  const facts = useFacts({ engine, messageKey, revision }, columns);
  return columns.map((name) => (
    <span key={name} role="gridcell" className={`cell ${name}`} title={facts[name]}>
      {facts[name] && <span className="unseen">{name} </span>}
      {facts[name]}
    </span>
  ));
}

interface Moment {
  readonly engine: ContextEngine;
  readonly messageKey: string;
  readonly revision: number;
}

interface CellsProps extends Moment {
  readonly columns: readonly ColumnName[];
}

function useFacts(moment: Moment, columns: readonly ColumnName[]): Readonly<Record<ColumnName, string>> {
  const { engine, messageKey } = moment;
  const { calls, createdAt, name } = knownAt(moment);
  const told = toldIn(calls);
  const message = engine.message(messageKey);
  const isEstimated = columns.includes('tokens') && !told;
  const isPriced = columns.includes('cost') && told !== undefined;
  const { value: read } = useAnswer(
    () => (isEstimated ? readMessage({ engine, messageKey }) : null),
    [engine, messageKey, message, isEstimated],
  );
  const { value: cost } = useAnswer(
    async () => (isPriced ? (await spentOn(calls)).cost : null),
    [calls, isPriced],
  );
  const ms = calls.reduce((sum, call) => sum + call.ms, 0);
  return {
    time: timeOf(createdAt),
    tokens: told ? count(told.output ?? 0) : read ? `~${count(estimateOf(read))}` : '',
    cost: typeof cost === 'number' ? dollars(cost) : '',
    duration: calls.length > 0 ? span(ms) : '',
    model: name === 'assistant' ? shortModel(calls.findLast((call) => call.model)?.model) : '',
  };
}

type Calls = ReturnType<ContextEngine['calls']>;

function knownAt({ engine, messageKey }: Moment): {
  readonly calls: Calls;
  readonly createdAt: number;
  readonly name: string;
} {
  const { createdAt = 0, name = '' } = engine.node(messageKey) ?? {};
  return { calls: engine.calls(messageKey), createdAt, name };
}

function timeOf(at: number): string {
  const then = new Date(at);
  const isToday = then.toDateString() === new Date().toDateString();
  return isToday ? clock(at) : then.toLocaleDateString('en', { dateStyle: 'short' });
}

/** A model without its provider: the rest tells models apart. */
function shortModel(model: string | undefined): string {
  return model?.replace(/.*[/:]/, '') ?? '';
}
