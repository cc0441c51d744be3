import { getToolName } from 'ai';
import { useEngine, useEngineState } from 'contextree';
import { use, type ReactNode } from 'react';
import { seconds } from '../quantities.ts';
import { Icon, type IconName } from '../ui/Icon.tsx';
import { Around } from './Around.ts';

type ToolPart = Parameters<typeof getToolName>[0];

interface ToolCallProps {
  readonly part: ToolPart;
  /** Whether the conversation still waits for it. */
  readonly isOpen: boolean;
  /** The message that it is a part of, and which of that message's calls it is, from 0. */
  readonly messageId: string;
  readonly place: number;
}

/** A tool call: its state, its duration and its result in one line; details on demand, and the question for approval. */
export function ToolCall({ part, isOpen, messageId, place }: ToolCallProps): ReactNode {
  const name = getToolName(part);
  const { canChange } = use(Around);
  const isAsking = part.state === 'approval-requested';
  const isPassedOver = isAsking && !isOpen;
  const took = useTook(messageId, place);
  const { words, icon } = isPassedOver ? PASSED_OVER : states[part.state];
  const line = part.state === 'output-error' ? part.errorText : inOneLine(part.output);
  return (
    <div className="tool" data-state={part.state}>
      <details>
        <summary>
          <Icon name={icon} />
          <code dir="auto">{name}</code>
          <span className="tool-state">{words}</span>
          {line !== '' && (
            <span className="tool-line" dir="auto">
              {line}
            </span>
          )}
          {took !== undefined && <small>{seconds(took)}</small>}
        </summary>
        {part.input !== undefined && <Json label="Asked" value={part.input} />}
        {part.state === 'output-available' && <Json label="Answered" value={part.output} />}
        {part.state === 'output-error' && <p className="tool-error">{part.errorText}</p>}
      </details>
      {isAsking && isOpen && canChange && <Approval id={part.approval.id} name={name} />}
    </div>
  );
}

/** How long a call ran, in ms; undefined where nobody measured it. */
function useTook(messageId: string, place: number): number | undefined {
  const engine = useEngine();
  return useEngineState(
    () => engine.calls(messageId).flatMap(({ toolMs = [] }) => toolMs)[place] ?? undefined,
  );
}

/** A result as far as one line says it: of an object its fields, of a list its items. */
export function inOneLine(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value)) return value.map(inOneLine).join(', ').slice(0, LONGEST);
  if (typeof value === 'string') return value.trim().split('\n', 1)[0]?.slice(0, LONGEST) ?? '';
  if (typeof value !== 'object') return JSON.stringify(value) ?? '';
  const fields = Object.entries(value).map(([key, field]) => `${key} ${inOneLine(field)}`);
  return fields.join(' · ').slice(0, LONGEST);
}

/** More does not fit into a line, whatever the window is. */
const LONGEST = 200;

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

interface State {
  readonly words: string;
  readonly icon: IconName;
}

const states: Readonly<Record<ToolPart['state'], State>> = {
  'input-streaming': { words: 'is being asked', icon: 'more' },
  'input-available': { words: 'is at work', icon: 'more' },
  'approval-requested': { words: 'waits for your answer', icon: 'hand' },
  'approval-responded': { words: 'was answered', icon: 'more' },
  'output-available': { words: 'is done', icon: 'check' },
  'output-error': { words: 'failed', icon: 'close' },
  'output-denied': { words: 'was denied', icon: 'close' },
};

const PASSED_OVER: State = { words: 'was not answered', icon: 'hand' };

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
