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
  return value
    .map(({ rev, message: before }, i) => {
      const next = value[i + 1];
      const label = `revision ${rev} to ${next ? `revision ${next.rev}` : 'now'}`;
      return (
        <section key={rev} aria-label={label}>
          <h2>{label}</h2>
          <Changes before={allOf(before)} after={allOf(next?.message ?? message)} />
        </section>
      );
    })
    .toReversed();
}

interface RevisionsProps {
  readonly engine: ContextEngine;
  readonly messageKey: string;
  readonly message: UIMessage;
  readonly revision: number;
}
