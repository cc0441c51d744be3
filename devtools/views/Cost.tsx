import { type ReactNode, useState } from 'react';
import { useAnswer } from '../live.ts';
import { useRequests } from '../requests.ts';
import { type CostAnswer, type Spent, type TurnCost, turnCosts } from '../turnCosts.ts';
import type { ViewProps } from '../view.ts';
import { Cache } from './Cache.tsx';
import { ModelPicker } from './ModelPicker.tsx';
import { count, dollars } from './Size.tsx';
import { Table } from './Table.tsx';

/** How many turns are shown at first, the last ones; earlier ones come in steps of as many. */
const SHOWN = 30;

/** How much of the model's window each turn of the branch used, its cost, and why the cache broke. */
export function Cost({ engine, state, modelId, sight, onLook, onOpen }: ViewProps): ReactNode {
  const [whatIf, setWhatIf] = useState('');
  const [shown, setShown] = useState(SHOWN);
  const { node } = sight;
  const requests = useRequests(engine);
  const { headKey, branches, fragments } = state;
  // More words of a growing answer change no figure; its end does.
  const status = engine.status(headKey ?? '');
  const { value, error } = useAnswer(turnCosts, {
    engine,
    node,
    whatIf,
    modelId,
    shown,
    requests,
    status,
    headKey,
    branches,
    fragments,
  });
  if (state.status === 'loading') return <p className="words">Reading the chat…</p>;
  return (
    <>
      <div className="bar wrap">
        <ModelPicker
          label="Priced as"
          standard="the model that answered"
          value={whatIf}
          used={value?.models ?? []}
          onChange={setWhatIf}
        />
        <span className="grow" />
        {node !== undefined && (
          <button type="button" onClick={() => onLook({ node: undefined })}>
            Show the branch to its end
          </button>
        )}
      </div>
      {error && (
        <p className="alert" role="alert">
          The costs could not be worked out: {error.message}
        </p>
      )}
      {value && (
        <div className="scroll" tabIndex={0} role="group" aria-label="Costs">
          <Spendings answer={value} whatIf={whatIf} />
          {value.turns.length === 0 && <p className="words">No answers yet. Each will have a bar here.</p>}
          {value.turns.length > 0 && <Legend />}
          <ol className="turns" aria-label="Turns, newest first">
            {value.turns.map((turn) => (
              <Turn
                key={turn.key}
                turn={turn}
                isHere={turn.key === node}
                onShow={() => onOpen('Prompt', { node: turn.key })}
              >
                <Cache engine={engine} turn={turn} requests={requests} whatIf={whatIf} />
              </Turn>
            ))}
          </ol>
          {value.earlier > 0 && (
            <p className="words">
              <button type="button" onClick={() => setShown(shown + SHOWN)}>
                Show {Math.min(SHOWN, value.earlier)} of {value.earlier} earlier
              </button>
            </p>
          )}
        </div>
      )}
      {!value && !error && <p className="words">Adding it up…</p>}
    </>
  );
}

function Spendings({ answer, whatIf }: { readonly answer: CostAnswer; readonly whatIf: string }): ReactNode {
  const { branch, chat, branches } = answer;
  return (
    <section className="size" aria-label="Spent">
      <p>
        <strong>
          {money(branch)} on this branch, {money(chat)} in this chat
        </strong>
        {whatIf && <span className="muted">, had {whatIf} answered</span>}
      </p>
      {chat.untold > 0 && (
        <p className="muted">
          {chat.untold} of {chat.answers} answers did not tell their usage, or their model has no known price:
          they are not in these sums.
        </p>
      )}
      {branches.length > 1 && (
        <details>
          <summary>By branch, since it parted</summary>
          <Table
            heads={['Branch', 'Answers', 'Tokens', 'Cost']}
            rows={branches.map((one) => [
              <>
                {one.label}
                {one.isActive && <span className="muted"> - shown</span>}
              </>,
              one.answers,
              count(one.tokens),
              money(one),
            ])}
          />
        </details>
      )}
    </section>
  );
}

function money({ cost, answers, untold }: Spent): string {
  return answers > 0 && answers === untold ? 'not told' : dollars(cost, { exact: true });
}

const KINDS = ['system', 'history', 'tools', 'reserve', 'free'] as const;

function Legend(): ReactNode {
  return (
    <p className="legend muted" aria-hidden="true">
      {KINDS.map((kind) => (
        <span key={kind}>
          <span className={`key-${kind}`} /> {kind}
        </span>
      ))}
    </p>
  );
}

interface TurnProps {
  readonly turn: TurnCost;
  readonly isHere: boolean;
  readonly onShow: () => void;
  readonly children: ReactNode;
}

function Turn({ turn, isHere, onShow, children }: TurnProps): ReactNode {
  const { question, model, cost, told } = turn;
  return (
    <li className={isHere ? 'turn here' : 'turn'}>
      <div className="role">
        <button type="button" className="quiet question" dir="auto" onClick={onShow}>
          {question || 'an answer to no question'}
        </button>
        <span className="share">{cost === null ? 'cost not told' : dollars(cost, { exact: true })}</span>
      </div>
      <Bar turn={turn} />
      <p className="muted figures">
        {model ?? 'model not told'}
        {told
          ? ` - ${count(told.input)} in${told.cacheRead === undefined ? '' : `, ${count(told.cacheRead)} of them cached`}, ${count(told.output)} out`
          : ' - usage not told'}
      </p>
      {children}
    </li>
  );
}

/** How much of its model's window a request used. */
function Bar({ turn }: { readonly turn: TurnCost }): ReactNode {
  const { system, history, tools = 0, reserve, window } = turn;
  const used = system + history + tools + reserve;
  const whole = Math.max(used, window ?? used);
  const sizes = { system, history, tools, reserve, free: whole - used };
  const isOver = window !== null && used > window;
  const words = [
    `~${count(system)} system`,
    `~${count(history)} history`,
    turn.tools === undefined ? 'tools not told' : `~${count(tools)} tools and framing`,
    `${count(reserve)} for the answer`,
    window === null
      ? 'window not known'
      : isOver
        ? `~${count(used - window)} too many for a window of ${count(window)}`
        : `~${count(window - used)} free of ${count(window)}`,
  ].join(', ');
  return (
    <>
      <div className={isOver ? 'meter over' : 'meter'} role="img" aria-label={words} title={words}>
        {KINDS.map((kind) => (
          <span
            key={kind}
            className={`key-${kind}`}
            style={{ width: `${(100 * sizes[kind]) / (whole || 1)}%` }}
          />
        ))}
      </div>
      <p className={isOver ? 'over figures' : 'muted figures'}>{words}</p>
    </>
  );
}
