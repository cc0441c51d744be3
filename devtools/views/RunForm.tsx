import { keysOf } from '../fragmentTree.ts';
import { keys } from '../keys.ts';
import { Check, type CheckProps, Select, toggled } from '../kit.tsx';
import type { UIMessage } from 'ai';
import type { ContextEngine, ContextFragment } from 'contextree';
import { type ReactNode, useState } from 'react';
import { type Changes, MOST, type Plan, runsOf, useRuns } from '../runs.ts';
import type { RunSettings } from '../view.ts';
import { Textarea } from './Textarea.tsx';

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
  const names = keysOf(ground.fragments);
  const fragments = ground.fragments.map((one, i) => ({ one, id: names[i] as string }));
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
        system,
        body: model ? body(model) : undefined,
        fragments:
          without.size > 0 ? fragments.flatMap(({ one, id }) => (without.has(id) ? [] : one)) : undefined,
        message: words === ground.words ? undefined : words,
      }));
  const start = (): void => {
    setAsking(false);
    runs.start(plans());
  };
  return (
    <section aria-label="What to change" className="form">
      {boxes(
        'Fragments',
        fragments.map(({ one, id }) => ({
          name: id,
          title: ground.wordsOf(one),
          checked: !without.has(id),
          onChange: () => change({ without: toggled(without, id) }),
        })),
        system !== undefined,
      )}
      <details>
        <summary>System prompt{system !== undefined && ' - changed'}</summary>
        <Textarea
          aria-label="System prompt"
          value={system ?? ground.system}
          onChange={(text) => change({ system: text })}
        />
        {system !== undefined && <button onClick={() => change({ system: undefined })}>Reset</button>}
      </details>
      {/* oxlint-disable-next-line jsx-a11y/label-has-associated-control -- the field is within it */}
      <label>
        Question <Textarea value={words} onChange={(text) => change({ words: text })} />
      </label>
      {boxes(
        'Models',
        models.map((name) => ({
          name,
          checked: picked.has(name),
          onChange: () => change({ models: toggled(picked, name) }),
        })),
      )}
      <div className="bar">
        <label>
          Times{' '}
          <Select
            value={String(times)}
            options={Array.from({ length: MOST }, (_, i) => String(i + 1))}
            onChange={(number) => change({ times: Number(number) })}
          />
        </label>
        <button disabled={wanted > runs.room} onClick={() => (isSafe ? start() : setAsking(true))}>
          Run
        </button>
        <button disabled={runs.room === MOST} onClick={() => runs.stopAll()}>
          Stop all
        </button>
        <span className="muted" role="status">
          {wanted > runs.room && `At most ${MOST} at a time: ${runs.room} may begin now.`}
        </span>
      </div>
      {isAsking && warning(start, () => setAsking(false))}
    </section>
  );
}

/** A choice that is on or off; its title tells it from others of its name. */
interface Box extends Omit<CheckProps, 'children'> {
  readonly name: string;
}

/** A choice of several; nothing where there are none. */
function boxes(legend: string, items: readonly Box[], disabled = false): ReactNode {
  if (items.length === 0) return null;
  return (
    <fieldset disabled={disabled}>
      <legend>{legend}</legend>
      {items.map(({ name, ...box }, i) => (
        <Check key={i} {...box}>
          {name}
          <span className="ellipsis gist">{box.title}</span>
        </Check>
      ))}
    </fieldset>
  );
}

/** The panel can't keep a server from running tools: the person decides, and Cancel has the focus. */
function warning(onRun: () => void, onCancel: () => void): ReactNode {
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- Escape cancels from anywhere inside
    <div
      className="inset"
      role="alertdialog"
      aria-labelledby="asks"
      aria-describedby="hint"
      tabIndex={-1}
      onKeyDown={keys({ Escape: onCancel })}
    >
      <strong id="asks">Your server may run tools</strong>
      <p id="hint">
        No tool of this page is called, and nothing is saved. The panel can’t hold your server back.
      </p>
      <div className="bar">
        {/* oxlint-disable-next-line jsx-a11y/no-autofocus -- what does no harm is next */}
        <button autoFocus onClick={onCancel}>
          Cancel
        </button>
        <button onClick={onRun}>Run anyway</button>
      </div>
    </div>
  );
}
