import type { UIMessage } from 'ai';
import { type ReactNode, useState } from 'react';
import { Scroll, Select } from '../kit.tsx';
import { instead, useAnswer } from '../live.tsx';
import { allOf } from '../messageText.ts';
import { promptAt, type PromptAt, systemOf, turnBefore } from '../promptAt.ts';
import type { ViewProps } from '../view.ts';
import { Changes } from './Changes.tsx';
import { LongText } from './Parts.tsx';

/** The difference between a prompt and that of the turn before, or of the marked message. */
export function PromptDifference({ answer, engine, state, sight }: DifferenceProps): ReactNode {
  const { against } = sight;
  const [isMarked, setMarked] = useState(against !== undefined);
  const before = turnBefore(engine, sight.node, state.headKey);
  const base = (isMarked && against) || before;
  const other = useAnswer(
    (signal) => (base === undefined ? undefined : promptAt({ engine, node: base }, signal)),
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
  const changed = messageChanges(before.messages, after.messages);
  return (
    <>
      {[before, after].some(({ kind }) => kind !== 'recorded') && (
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
          {changed.map(([old, now]) => (
            <li key={(now ?? old)?.id} className="turn">
              <div className="role">
                {(now ?? old)?.role} {!old ? '- new' : now ? '- says something else' : '- not sent any more'}
              </div>
              {old && now ? (
                <Changes before={allOf(old)} after={allOf(now)} />
              ) : (
                <LongText text={allOf((now ?? old) as UIMessage)} />
              )}
            </li>
          ))}
        </ol>
      </section>
    </>
  );
}

/** The messages that differ, as they were and as they are: those that are not sent any more stand first. */
function messageChanges(
  before: readonly UIMessage[],
  after: readonly UIMessage[],
): readonly (readonly [old: UIMessage | undefined, now: UIMessage | undefined])[] {
  const old = new Map(before.map((message) => [message.id, message]));
  const kept = new Set(after.map(({ id }) => id));
  return [
    ...before.filter(({ id }) => !kept.has(id)).map((message) => [message, undefined] as const),
    ...after.map((message) => [old.get(message.id), message] as const),
  ].filter(([a, b]) => a !== b && JSON.stringify(a?.parts) !== JSON.stringify(b?.parts));
}
