import { type ReactNode, useState } from 'react';
import { more, NOT_TOLD, Scroll } from '../kit.tsx';
import { instead, useAnswer } from '../live.tsx';
import { useRequests } from '../requests.ts';
import { type CostAnswer, type Spent, type TurnCost, turnCosts, usageIn } from '../turnCosts.ts';
import { unread } from '../unread.tsx';
import type { ViewProps } from '../view.ts';
import { Cache } from './Cache.tsx';
import { ModelPicker } from './ModelPicker.tsx';
import { dollars } from '../amounts.ts';
import { counted, exactly } from '../figures.ts';
import { meter } from './Meter.tsx';
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
  const answer = useAnswer(
    (signal) => turnCosts({ engine, node, whatIf, modelId, shown }, signal),
    [engine, node, whatIf, modelId, shown, requests, status, headKey, branches, fragments],
  );
  const { value } = answer;
  if (state.status === 'loading') return unread(state);
  return (
    <>
      <div className="bar">
        <ModelPicker
          label="Priced as"
          standard="the model that answered"
          value={whatIf}
          used={value?.models ?? []}
          onChange={setWhatIf}
        />
        <span className="grow" />
        {node !== undefined && <button onClick={() => onLook({ node: undefined })}>Follow the app</button>}
      </div>
      {instead(answer)}
      {value && (
        <Scroll>
          {spendings(value, whatIf)}
          {value.turns.length === 0 && <p className="words">No answers yet.</p>}
          {value.turns.length > 0 && legend()}
          <ol aria-label="Turns, newest first">
            {value.turns.map((turn) => (
              <li key={turn.key} className={turn.key === node ? 'turn cursor' : 'turn'}>
                {turnOf(turn, () => onOpen('Prompt', { node: turn.key }))}
                <Cache engine={engine} turn={turn} requests={requests} whatIf={whatIf} />
              </li>
            ))}
          </ol>
          {more(SHOWN, value.earlier, 'earlier', () => setShown(shown + SHOWN))}
        </Scroll>
      )}
    </>
  );
}

function spendings({ branch, chat, branches }: CostAnswer, whatIf: string): ReactNode {
  const all = money(chat);
  return (
    <section className="inset" aria-label="Spent">
      <p>
        <strong>
          {all === NOT_TOLD ? 'Cost not told' : `Spent: ${money(branch)} on this branch, ${all} in this chat`}
        </strong>
        {whatIf && <span className="muted">, had {whatIf} answered</span>}
      </p>
      {chat.untold > 0 && (
        <p className="muted">
          Usage or price not known for {chat.untold} of {counted(chat.answers, 'answer')}
        </p>
      )}
      {branches.length > 1 && (
        <details>
          <summary>By branch, since its fork</summary>
          <Table
            heads={['Branch', 'Answers', 'Tokens', 'Cost']}
            rows={branches.map((one) => [
              <>
                {one.label}
                {one.isActive && <span className="muted"> - shown</span>}
              </>,
              one.answers,
              exactly(one.tokens),
              money(one),
            ])}
          />
        </details>
      )}
    </section>
  );
}

function money({ cost, answers, untold }: Spent): string {
  return answers > 0 && answers === untold ? NOT_TOLD : dollars(cost);
}

const KINDS = ['system', 'history', 'tools', 'reserve', 'free'] as const;

function legend(): ReactNode {
  return (
    <p className="legend inset" aria-hidden="true">
      {KINDS.map((kind) => (
        <span key={kind}>
          <span className={`key-${kind}`} /> {kind}
        </span>
      ))}
    </p>
  );
}

function turnOf(turn: TurnCost, onShow: () => void): ReactNode {
  const { question, model, cost, told } = turn;
  return (
    <>
      <div className="role">
        <button className="quiet ellipsis" dir="auto" onClick={onShow}>
          {question || 'no question'}
        </button>
        <span className="share">{cost === null ? 'cost not told' : dollars(cost)}</span>
      </div>
      {barOf(turn)}
      <p className="figures">
        {model ?? 'model not told'} - {told ? usageIn(told) : 'usage not told'}
      </p>
    </>
  );
}

/** How much of its model's window a request used. */
function barOf(turn: TurnCost): ReactNode {
  const { system, history, tools = 0, reserve, window } = turn;
  const used = system + history + tools + reserve;
  const whole = Math.max(used, window ?? used);
  const sizes = { system, history, tools, reserve, free: whole - used };
  const isOver = window !== null && used > window;
  const words = [
    `~${exactly(system)} system`,
    `~${exactly(history)} history`,
    turn.tools === undefined ? 'tools not told' : `~${exactly(tools)} tools and framing`,
    `${exactly(reserve)} for the answer`,
    window === null ? 'window not known' : `~${exactly(window - used)} free of ${exactly(window)}`,
  ].join(', ');
  return meter(words, sizes, whole, isOver);
}
