import { getToolName } from 'ai';
import { use, type ReactNode } from 'react';
import { Around } from './Around.ts';

type ToolPart = Parameters<typeof getToolName>[0];

interface ToolCallProps {
  readonly part: ToolPart;
  /** Whether the conversation still waits for it. */
  readonly isOpen: boolean;
}

/** A tool at work: what it was asked, what it gave, and the question whether it may. */
export function ToolCall({ part, isOpen }: ToolCallProps): ReactNode {
  const name = getToolName(part);
  const { canChange } = use(Around);
  const isAsking = part.state === 'approval-requested';
  const isPassedOver = isAsking && !isOpen;
  return (
    <div className="tool">
      <details className="aside">
        <summary>
          <code>{name}</code> <span>{isPassedOver ? 'was not answered' : words[part.state]}</span>
        </summary>
        {part.input !== undefined && <Json label="Asked" value={part.input} />}
        {part.state === 'output-available' && <Json label="Answered" value={part.output} />}
        {part.state === 'output-error' && <p>{part.errorText}</p>}
      </details>
      {isAsking && isOpen && canChange && <Approval id={part.approval.id} name={name} />}
    </div>
  );
}

function Approval({ id, name }: { readonly id: string; readonly name: string }): ReactNode {
  const { approve } = use(Around);
  return (
    <div className="approval" role="group" aria-label={`May ${name} be used?`}>
      <p>
        May <code>{name}</code> be used?
      </p>
      <div className="approval-answers">
        <button type="button" className="button button-primary" onClick={() => approve(id, true)}>
          Approve
        </button>
        <button type="button" className="button" onClick={() => approve(id, false)}>
          Deny
        </button>
      </div>
    </div>
  );
}

const words: Readonly<Record<ToolPart['state'], string>> = {
  'input-streaming': 'is being asked',
  'input-available': 'is at work',
  'approval-requested': 'waits for your answer',
  'approval-responded': 'was answered',
  'output-available': 'is done',
  'output-error': 'failed',
  'output-denied': 'was denied',
};

function Json({ label, value }: { readonly label: string; readonly value: unknown }): ReactNode {
  return (
    <dl className="json">
      <dt>{label}</dt>
      <dd>
        <pre role="group" aria-label={label} tabIndex={0}>
          {JSON.stringify(value, null, 2)}
        </pre>
      </dd>
    </dl>
  );
}
