import type { ContextEngine, ContextEvent } from 'contextree';
import { useCallback, useSyncExternalStore } from 'react';
import { Followed, perEngine } from './followed.ts';
import { byFrame } from './follow.ts';
import { useShownIn } from './Styled.tsx';

/** An event of an engine, numbered in order. */
export interface Logged {
  /** Unique in its log. */
  readonly number: number;
  readonly event: ContextEvent;
  /** How many events it stands for: consecutive drafts of one message are one, the last of them. */
  readonly count: number;
}

/**
 * The last 1,000 events of an engine since somebody listened. They hold ids, names and times, no content, so a full log is some
 * hundred kilobytes.
 */
export class EventLog extends Followed<Logged> {
  readonly #engine: ContextEngine;
  readonly #seen = new WeakSet<ContextEvent>();
  #count = 0;

  constructor(engine: ContextEngine) {
    super();
    this.#engine = engine;
  }

  /** Listens until the result is called. */
  listen(): () => void {
    return this.#engine.subscribe((event) => this.#add(event));
  }

  #add(event: ContextEvent): void {
    // Several panels may listen, and a session's engine sends its exported events to each new subscriber.
    if (this.#seen.has(event)) return;
    this.#seen.add(event);
    const last = this.list().at(-1);
    const isMore = last && isSameDraft(last.event, event);
    const entry = isMore
      ? { ...last, event, count: last.count + 1 }
      : { number: ++this.#count, event, count: 1 };
    this.set([...this.list().slice(0, isMore ? -1 : undefined), entry].slice(-LIMIT));
  }

  clear(): void {
    this.set([]);
  }
}

const LIMIT = 1000;

function isSameDraft(a: ContextEvent, b: ContextEvent): boolean {
  return (
    a.type === 'stream' && b.type === 'stream' && a.phase === 'draft' && b.phase === 'draft' && a.id === b.id
  );
}

/** The log of an engine, shared by all panels that show it. */
export const logOf: (engine: ContextEngine) => EventLog = /* @__PURE__ */ perEngine(EventLog);

/** The events of an engine, followed while mounted: at most one render for each frame. */
export function useEvents(engine: ContextEngine): readonly Logged[] {
  const log = logOf(engine);
  const shownIn = useShownIn();
  const subscribe = useCallback(
    (notify: () => void) => byFrame(shownIn, log.subscribe, notify),
    [log, shownIn],
  );
  return useSyncExternalStore(subscribe, log.list);
}
