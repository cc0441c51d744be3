import type { UIMessage } from 'ai';
import type { ContextEngine } from 'contextree';
import { type ReactNode } from 'react';
import { instead, useAnswer } from '../live.tsx';
import { allOf } from '../messageText.ts';
import { Changes } from './Changes.tsx';

/** The earlier contents of a message, and each change word by word, newest first. */
export function Revisions({ engine, messageKey, message, revision }: RevisionsProps): ReactNode {
  const answer = useAnswer(() => engine.revisions(messageKey), [engine, messageKey, revision]);
  const { value } = answer;
  if (!value) return instead(answer);
  if (value.length === 0) return <p className="words">It was never changed.</p>;
  const all = [...value.map((one) => ({ ...one, label: `revision ${one.rev}` })), { message, label: 'now' }];
  return all
    .slice(1)
    .map((one, i) => ({ one, before: all[i] }))
    .toReversed()
    .map(({ one, before }) => (
      <section key={one.label} aria-label={`${before?.label} to ${one.label}`}>
        <h2>
          {before?.label} → {one.label}
        </h2>
        {before && <Changes before={allOf(before.message)} after={allOf(one.message)} />}
      </section>
    ));
}

interface RevisionsProps {
  readonly engine: ContextEngine;
  readonly messageKey: string;
  readonly message: UIMessage;
  readonly revision: number;
}
