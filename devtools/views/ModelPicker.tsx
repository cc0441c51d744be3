import { listModels } from 'contextree/tokens';
import { Select } from '../kit.tsx';
import { useAnswer } from '../live.tsx';
import type { ReactNode } from 'react';

interface ModelPickerProps {
  readonly label: string;
  /** The label of the choice ''. */
  readonly standard: string;
  /** The id of a model. */
  readonly value: string;
  /** The models of the chat, which stand first. */
  readonly used: readonly string[];
  readonly onChange: (model: string) => void;
}

/** Chooses the model whose window and prices are shown: the chat's own, or another known one. */
export function ModelPicker({ label, standard, value, used, onChange }: ModelPickerProps): ReactNode {
  const { value: known = [] } = useAnswer(listModels, []);
  // A chosen model that is no longer known stays in the list.
  const others = [...new Set([...known.map(({ id }) => id), value])].filter(
    (id) => id !== '' && !used.includes(id),
  );
  return (
    <label>
      {label}{' '}
      <Select
        value={value}
        options={[['', standard]]}
        groups={{ 'In this chat': used, 'What if': others }}
        onChange={onChange}
      />
    </label>
  );
}
