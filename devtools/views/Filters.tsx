import { type Option, Select } from '../kit.tsx';
import type { ContextEngine, EngineState } from 'contextree';
import { type ReactNode, useMemo } from 'react';
import type { GraphModel } from '../graphRows.ts';
import type { RowState } from '../rowState.ts';
import { toolsIn } from '../search.ts';
import { branchLabel } from '../branchLabel.ts';
import { ANYTHING, type Wanted } from '../wanted.ts';

/** Filters of the search: role, state, branch, tool and model. */
export function Filters({ engine, model, state, wanted, onWant }: FiltersProps): ReactNode {
  const { models, tools } = useMemo(() => choicesIn({ engine, model, state }), [engine, model, state]);
  const branches = state.branches.map((branch) => [branch.id, branchLabel(branch)] as const);
  const choices: readonly (readonly [field: Exclude<keyof Wanted, 'text'>, values: readonly Option[]])[] = [
    ['role', ['user', 'assistant', 'system']],
    ['state', ROW_STATES],
    ['branch', branches],
    ['tool', tools],
    ['model', models],
  ];
  return (
    <div className="bar" role="group" aria-label="Filters">
      {choices.map(([field, values]) => (
        <Select
          key={field}
          label={field}
          value={wanted[field]}
          options={[['', `any ${field}`], ...values]}
          onChange={(value) => onWant({ ...wanted, [field]: value })}
        />
      ))}
      <button className="quiet" onClick={() => onWant({ ...ANYTHING, text: wanted.text })}>
        Clear
      </button>
    </div>
  );
}

interface FiltersProps {
  readonly engine: ContextEngine;
  readonly model: GraphModel;
  readonly state: EngineState;
  readonly wanted: Wanted;
  readonly onWant: (wanted: Wanted) => void;
}

/** The models in the facts of requests, and the tools of loaded messages. */
function choicesIn({ engine, model, state }: Pick<FiltersProps, 'engine' | 'model' | 'state'>): {
  readonly models: readonly string[];
  readonly tools: readonly string[];
} {
  const told = model.nodes.flatMap(({ key }) => engine.calls(key).flatMap((call) => call.model ?? []));
  return {
    models: [...new Set(told)].toSorted(),
    tools: [...new Set(state.messages.flatMap(toolsIn))].toSorted(),
  };
}

/** All states of a row, in order. */
const ROW_STATES: readonly RowState[] = [
  'growing',
  'waits for approval',
  'failed',
  'stopped',
  'cut off',
  'unanswered',
];
