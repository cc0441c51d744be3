import { useEngine, useEngineState, type ContextEngine } from 'contextree';
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
 * me` goes on as well, in any order, and a step whose thing was deleted is passed over. Skipped or done, the steps never come
 * back.
 */
export function FirstSteps(): ReactNode {
  const engine = useEngine();
  const { newChat } = useWorkspace();
  const attempt = useAttempt();
  const announce = useAnnounce();
  const [done, setDone] = useState(() => local.get(DONE) ?? '');
  const isThere = useEngineState(() => engine.node(firstKey(FIRST.fork)) !== undefined);
  const place = useEngineState(() =>
    done === GONE ? -1 : steps.findIndex((step, i) => !done.includes(String(i)) && step.isThere(engine)),
  );
  const next = steps[place];
  const keep = (now: string): void => {
    local.set(DONE, now);
    setDone(now);
  };
  useEffect(() => {
    const look = (): void => {
      const now = steps.findIndex((step, i) => !done.includes(String(i)) && step.isDone(engine));
      const seen = steps[now]?.seen;
      if (seen === undefined || done === GONE) return;
      local.set(DONE, `${done}${now}`);
      setDone(`${done}${now}`);
      announce(seen);
    };
    return engine.state.subscribe(look);
  }, [engine, done, announce]);
  if (done === GONE || !isThere) return null;
  const seen = steps[Number(done.at(-1) ?? -1)]?.seen;
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
              onClick={onFirstClick(() => attempt(() => show(next, engine)))}
            >
              Show me
            </button>
            <button
              type="button"
              className="text-button"
              onClick={() => {
                keep(GONE);
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
              keep(GONE);
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

/** The key under which is kept which steps were done: their numbers, in the order in which they were. */
const DONE = 'demo:steps';
const GONE = '99';

interface Step {
  /** What there is to see. */
  readonly words: string;
  /** The key of the message that it is about. */
  readonly at: string;
  /** Whether the thing that it is about is still there. */
  readonly isThere: (engine: ContextEngine) => boolean;
  readonly show: (engine: ContextEngine) => Promise<unknown>;
  readonly isDone: (engine: ContextEngine) => boolean;
  /** What was seen. */
  readonly seen: string;
}

const steps: readonly Step[] = [
  {
    words: 'Three answers to one question. See another.',
    at: firstKey(FIRST.fork),
    isThere: (engine) => others.some((key) => isHeld(engine, key)),
    show: async (engine) => engine.selectSibling(others.find((key) => isHeld(engine, key)) ?? ''),
    isDone: (engine) => others.includes(shown(engine) ?? ''),
    seen: 'A branch of its own. What followed The Fork is kept.',
  },
  {
    words: 'A flag marks a place to return to.',
    at: firstKey(FIRST.slogan),
    isThere: (engine) => engine.state.getState().checkpoints.some(({ name }) => name === FLAG),
    show: (engine) => engine.restore(FLAG),
    isDone: (engine) => shown(engine) === firstKey(FIRST.slogan),
    seen: 'Back at the flag. What you write here starts a new branch; the two later messages are kept.',
  },
  {
    words: 'A side question stays out of the conversation.',
    at: firstKey(FIRST.slogan),
    isThere: (engine) => isHeld(engine, firstKey(FIRST.aside)),
    show: (engine) => engine.selectSibling(firstKey(FIRST.aside)),
    isDone: (engine) => shown(engine) === firstKey(FIRST.cups),
    seen: 'The model knew the chat up to the flag. The main conversation never hears this.',
  },
];

/** The keys of the answers that stand beside the one that is shown first: the later one is the next version. */
const others = [firstKey(FIRST.fork + 1), firstKey(FIRST.fork - 1)];

/** Whether a branch holds a message. The graph keeps those of deleted branches, too. */
function isHeld(engine: ContextEngine, key: string): boolean {
  return engine.state.getState().branches.some(({ headKey }) => {
    let at = headKey;
    while (at !== null && at !== key) at = engine.node(at)?.parentKey ?? null;
    return at === key;
  });
}

/** The key of the last message that is shown. */
function shown(engine: ContextEngine): string | undefined {
  return engine.state.getState().headKey;
}

/** Shows where a step happens before it does, if that is on this branch and out of sight: else it would look like magic. */
async function show(step: Step, engine: ContextEngine): Promise<void> {
  const article = document.querySelector(`[data-message="${CSS.escape(engine.node(step.at)?.id ?? '')}"]`);
  if (article && isOutOfSight(article)) {
    article.scrollIntoView({ block: 'center', behavior: isCalm() ? 'instant' : 'smooth' });
    article.setAttribute('data-pointed', '');
    await new Promise((resolve) => setTimeout(resolve, LOOK));
    article.removeAttribute('data-pointed');
    // It was done while it was pointed at.
    if (step.isDone(engine)) return;
  }
  await step.show(engine);
}

/** How long one looks at a place that is pointed at, in ms. */
const LOOK = 1000;

function isOutOfSight(element: Element): boolean {
  const { top, bottom } = element.getBoundingClientRect();
  const view = element.closest('.scroller')?.getBoundingClientRect();
  return view !== undefined && (bottom > view.bottom || top < view.top);
}

function isCalm(): boolean {
  return matchMedia('(prefers-reduced-motion: reduce)').matches;
}
