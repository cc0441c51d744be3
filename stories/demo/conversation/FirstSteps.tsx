import { useEngine, type ContextEngine } from 'contextree';
import { useEffect, useState, type ReactNode } from 'react';
import { focusComposer } from './focusBranch.ts';
import { FIRST, firstKey, FLAG } from '../firstKeys.ts';
import { local } from '../safeStorage.ts';
import { useAnnounce } from '../shell/Announcer.tsx';
import { onFirstClick } from '../shell/once.ts';
import { useAttempt } from '../shell/useAttempt.ts';
import { useWorkspace } from '../shell/Workspace.ts';

/**
 * The first steps in the first chat: three things to see, each with the press that the person would use. Doing it without `Show
 * me` goes on as well. Skipped or done, the steps never come back.
 */
export function FirstSteps(): ReactNode {
  const engine = useEngine();
  const { newChat } = useWorkspace();
  const attempt = useAttempt();
  const announce = useAnnounce();
  const [step, setStep] = useState(() => Number(local.get(PLACE) ?? 0));
  const next = steps[step];
  const go = (to: number): void => {
    local.set(PLACE, String(to));
    setStep(to);
  };
  useEffect(
    () =>
      engine.state.subscribe(() => {
        if (!next?.isDone(engine)) return;
        local.set(PLACE, String(step + 1));
        setStep(step + 1);
        announce(next.seen);
      }),
    [engine, next, step, announce],
  );
  if (step > steps.length || engine.node(firstKey(FIRST.fork)) === undefined) return null;
  const seen = steps[step - 1]?.seen;
  return (
    <section className="first-steps" aria-label="First steps">
      <div>
        {seen !== undefined && <p className="seen">{seen}</p>}
        {next && <p>{next.words}</p>}
      </div>
      <div className="first-steps-actions">
        {next ? (
          <>
            <button
              type="button"
              className="button button-primary"
              onClick={onFirstClick(() => attempt(() => next.show(engine)))}
            >
              Show me
            </button>
            <button
              type="button"
              className="text-button"
              onClick={() => {
                go(GONE);
                focusComposer();
              }}
            >
              Skip
            </button>
          </>
        ) : (
          <button
            type="button"
            className="button button-primary"
            onClick={() => {
              go(GONE);
              newChat();
            }}
          >
            Start your own
          </button>
        )}
      </div>
    </section>
  );
}

/** The key under which the last step is kept. */
const PLACE = 'demo:steps';
const GONE = 99;

interface Step {
  /** What there is to see. */
  readonly words: string;
  readonly show: (engine: ContextEngine) => Promise<unknown>;
  readonly isDone: (engine: ContextEngine) => boolean;
  /** What was seen. */
  readonly seen: string;
}

const steps: readonly Step[] = [
  {
    words: 'Three answers to one question. See another.',
    show: (engine) => engine.selectSibling(firstKey(FIRST.fork + 1)),
    isDone: (engine) =>
      shown(engine) === firstKey(FIRST.fork - 1) || shown(engine) === firstKey(FIRST.fork + 1),
    seen: 'A branch of its own. What followed The Fork is kept.',
  },
  {
    words: 'A flag marks a place to return to.',
    show: (engine) => engine.restore(FLAG),
    isDone: (engine) => shown(engine) === firstKey(FIRST.slogan),
    seen: 'Back at the flag. What you write here starts a new branch; the two later messages are kept.',
  },
  {
    words: 'A side question stays out of the conversation.',
    show: (engine) => engine.selectSibling(firstKey(FIRST.aside)),
    isDone: (engine) => shown(engine) === firstKey(FIRST.cups),
    seen: 'The model knew the chat up to the flag. The main conversation never hears this.',
  },
];

/** The key of the last message that is shown. */
function shown(engine: ContextEngine): string | undefined {
  return engine.state.getState().headKey;
}
