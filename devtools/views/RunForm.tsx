import { Check, keys, Select } from '../kit.tsx';
import type { UIMessage } from 'ai';
import type { ContextEngine, ContextFragment } from 'contextree';
import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { type Changes, MOST, type Plan, runsOf, useRuns } from '../runs.ts';
import type { RunSettings } from '../view.ts';

/** The starting point of a run. */
export interface Ground {
  /** The key of the question. */
  readonly question: string;
  /** The existing answer; undefined if none is selected. */
  readonly answer: { readonly key: string; readonly message: UIMessage } | undefined;
  /** The text of the question, and today's system prompt. */
  readonly words: string;
  readonly system: string;
  readonly fragments: readonly ContextFragment[];
  /** The text of a fragment in the prompt; '' where it is unknown. */
  readonly wordsOf: (fragment: ContextFragment) => string;
  readonly messages: readonly UIMessage[];
}

interface RunFormProps {
  readonly engine: ContextEngine;
  readonly ground: Ground;
  readonly settings: RunSettings;
  /** Whether no tool can run for it. */
  readonly isSafe: boolean;
}

/** What to change: fragments, the whole system prompt, the question, the model; and how many runs to start. */
export function RunForm({ engine, ground, settings, isSafe }: RunFormProps): ReactNode {
  const { models = [], body = (model: string) => ({ model }) } = settings;
  const runs = runsOf(engine);
  const { question } = ground;
  const [changes, setChanges] = useState<Changes>(
    runs.changes.get(question) ?? { without: new Set(), models: new Set(models.slice(0, 1)), times: 1 },
  );
  const change = (more: Partial<Changes>): void => {
    const next = { ...changes, ...more };
    runs.changes.set(question, next);
    setChanges(next);
  };
  // Components make new fragments with each render: those without an id are known by their name and place among its bearers.
  const { fragments } = ground;
  const keyOf = ({ id, name }: ContextFragment, place: number): string =>
    id ?? `${name} ${fragments.slice(0, place).filter((one) => one.name === name).length}`;
  const { without, system, words = ground.words, models: picked, times } = changes;
  const [isAsking, setAsking] = useState(false);
  useRuns(engine);
  const chosen = picked.size > 0 ? [...picked] : [''];
  const wanted = chosen.length * times;
  const plans = (): Plan[] =>
    Array.from({ length: times }, () => chosen)
      .flat()
      .map((model) => ({
        at: question,
        question,
        answer: ground.answer?.key,
        model,
        ...(model && { body: body(model) }),
        ...(system !== undefined && { system }),
        ...(without.size > 0 && {
          fragments: fragments.filter((one, i) => !without.has(keyOf(one, i))),
        }),
        ...(words !== ground.words && { message: words }),
      }));
  const start = (): void => {
    setAsking(false);
    runs.start(plans());
  };
  return (
    <section aria-label="What to change" className="form">
      <Boxes
        legend="Fragments"
        items={fragments}
        nameOf={({ id, name }) => id ?? name}
        wordsOf={ground.wordsOf}
        isOn={(one, i) => !without.has(keyOf(one, i))}
        isOff={system !== undefined}
        onToggle={(one, i) => change({ without: toggled(without, keyOf(one, i)) })}
      />
      <details>
        <summary>System prompt{system !== undefined && ' - changed'}</summary>
        <textarea
          aria-label="System prompt"
          rows={6}
          value={system ?? ground.system}
          spellCheck={false}
          onChange={(event) => change({ system: event.target.value })}
        />
        {system !== undefined && (
          <button type="button" onClick={() => change({ system: undefined })}>
            Take the fragments again
          </button>
        )}
      </details>
      <label className="field">
        Question
        <textarea
          rows={3}
          dir="auto"
          value={words}
          onChange={(event) => change({ words: event.target.value })}
        />
      </label>
      <Boxes
        legend="Models"
        items={models}
        nameOf={(model) => model}
        isOn={(model) => picked.has(model)}
        onToggle={(model) => change({ models: toggled(picked, model) })}
      />
      <div className="bar">
        <label>
          Times{' '}
          <Select
            value={String(times)}
            options={Array.from({ length: MOST }, (_, i) => String(i + 1))}
            onChange={(number) => change({ times: Number(number) })}
          />
        </label>
        <button
          type="button"
          className="primary"
          disabled={wanted > runs.room}
          onClick={() => (isSafe ? start() : setAsking(true))}
        >
          Run
        </button>
        <button type="button" disabled={runs.room === MOST} onClick={() => runs.stopAll()}>
          Stop all
        </button>
        <span className="muted" role="status">
          {wanted > runs.room && `At most ${MOST} at a time: ${runs.room} may begin now.`}
        </span>
      </div>
      {isAsking && <Warning onRun={start} onCancel={() => setAsking(false)} />}
    </section>
  );
}

interface BoxesProps<T> {
  readonly legend: string;
  readonly items: readonly T[];
  readonly nameOf: (item: T) => string;
  /** Tells it from others of its name. */
  readonly wordsOf?: (item: T) => string;
  readonly isOn: (item: T, index: number) => boolean;
  readonly isOff?: boolean;
  readonly onToggle: (item: T, index: number) => void;
}

/** A choice of several; nothing where there are none. */
function Boxes<T>({
  legend,
  items,
  nameOf,
  wordsOf = () => '',
  isOn,
  isOff = false,
  onToggle,
}: BoxesProps<T>): ReactNode {
  if (items.length === 0) return null;
  return (
    <fieldset disabled={isOff}>
      <legend>{legend}</legend>
      {items.map((item, i) => (
        <Check key={i} title={wordsOf(item)} isOn={isOn(item, i)} onToggle={() => onToggle(item, i)}>
          {nameOf(item)}
          <span className="ellipsis gist">{wordsOf(item)}</span>
        </Check>
      ))}
    </fieldset>
  );
}

function toggled<T>(set: ReadonlySet<T>, item: T): ReadonlySet<T> {
  const next = new Set(set);
  if (!next.delete(item)) next.add(item);
  return next;
}

/** The panel can't keep a server from running tools: the person decides, and Cancel has the focus. */
function Warning({
  onRun,
  onCancel,
}: {
  readonly onRun: () => void;
  readonly onCancel: () => void;
}): ReactNode {
  const id = useId();
  const cancel = useRef<HTMLButtonElement>(null);
  useEffect(() => cancel.current?.focus(), []);
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- Escape cancels from anywhere inside
    <div
      className="warning"
      role="alertdialog"
      aria-labelledby={`${id}title`}
      aria-describedby={`${id}words`}
      tabIndex={-1}
      onKeyDown={keys({ Escape: onCancel })}
    >
      <h2 id={`${id}title`}>Your server may run tools</h2>
      <p id={`${id}words`}>
        The answer is not saved, and no tool of this page is called. What the server does, the panel can’t
        hold back.
      </p>
      <div className="bar">
        <button ref={cancel} type="button" onClick={onCancel}>
          Cancel
        </button>
        <button type="button" onClick={onRun}>
          Run anyway
        </button>
      </div>
    </div>
  );
}
