import type { UIMessage } from 'ai';
import { type ReactNode, useState } from 'react';
import { Scroll, Select } from '../kit.tsx';
import { instead, useAnswer } from '../live.tsx';
import { allOf } from '../messageText.ts';
import { promptAt, type PromptAt, systemOf, turnBefore } from '../promptAt.ts';
import type { ViewProps } from '../view.ts';
import { Changes } from './Changes.tsx';

/** The difference between a prompt and that of the turn before, or of the marked message. */
export function PromptDifference({ answer, engine, state, sight }: DifferenceProps): ReactNode {
  const { against } = sight;
  const [isMarked, setMarked] = useState(against !== undefined);
  const before = turnBefore(engine, sight.node, state.headKey);
  const base = (isMarked && against) || before;
  const other = useAnswer(
    (signal) => (base === undefined ? undefined : promptAt({ engine, node: base }, engine.renderer, signal)),
    [engine, base, answer],
  );
  return (
    <Scroll>
      <p className="inset">
        <label>
          Compared with{' '}
          <Select
            value={base === before ? 'before' : 'marked'}
            options={[
              ['before', 'the turn before'],
              ...(against === undefined
                ? []
                : [['marked', `the marked message: ${engine.node(against)?.preview}`] as const]),
            ]}
            onChange={(what) => setMarked(what === 'marked')}
          />
        </label>
      </p>
      {base === undefined && <p className="words">There is no turn before this one.</p>}
      {other.error && instead(other)}
      {base !== undefined && other.value && differenceOf(other.value, answer)}
    </Scroll>
  );
}

interface DifferenceProps extends Pick<ViewProps, 'engine' | 'state' | 'sight'> {
  readonly answer: PromptAt;
}

function differenceOf(before: PromptAt, after: PromptAt): ReactNode {
  const [was, is] = [systemOf(before), systemOf(after)];
  const rows = messageChanges(before.messages, after.messages);
  const changed = rows.filter(({ kind }) => kind !== 'same');
  const told = [before, after].filter(({ kind }) => kind === 'recorded').length;
  return (
    <>
      {told < 2 && (
        <p className="muted inset">What was not recorded has the system prompt of today’s fragments.</p>
      )}
      <section>
        <h2>System prompt</h2>
        {was === is ? <p className="muted inset">The same.</p> : <Changes before={was} after={is} />}
      </section>
      <section>
        <h2>
          Messages{' '}
          <span className="muted">{`${before.messages.length} then, ${after.messages.length} now`}</span>
        </h2>
        {changed.length === 0 && <p className="muted inset">The same.</p>}
        <ol>
          {changed.map(({ kind, message, other }) => (
            <li key={`${kind}${message.id}`} className={`turn ${kind}`}>
              <div className="role">
                {message.role} {KINDS[kind]}
              </div>
              {kind === 'edited' && other ? (
                <Changes before={allOf(other)} after={allOf(message)} />
              ) : (
                <div className="text">{allOf(message).slice(0, 2_000)}</div>
              )}
            </li>
          ))}
        </ol>
      </section>
    </>
  );
}

const KINDS = { added: '- new', removed: '- not sent any more', edited: '- says something else', same: '' };

interface MessageChange {
  readonly kind: keyof typeof KINDS;
  readonly message: UIMessage;
  /** The message before, if it was edited. */
  readonly other?: UIMessage;
}

function messageChanges(before: readonly UIMessage[], after: readonly UIMessage[]): readonly MessageChange[] {
  const old = new Map(before.map((message) => [message.id, message]));
  const kept = new Set(after.map(({ id }) => id));
  const removed = before.filter(({ id }) => !kept.has(id));
  return [
    ...removed.map((message): MessageChange => ({ kind: 'removed', message })),
    ...after.map((message): MessageChange => {
      const other = old.get(message.id);
      if (!other) return { kind: 'added', message };
      const isSame = other === message || JSON.stringify(other.parts) === JSON.stringify(message.parts);
      return isSame ? { kind: 'same', message } : { kind: 'edited', message, other };
    }),
  ];
}
