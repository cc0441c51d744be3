import { type ReactNode } from 'react';
import { type Answer, instead, useAnswer } from '../live.tsx';
import { type Change, wordChanges } from '../wordChanges.ts';

/** The changes from one text to another, word by word; of a long unchanged part, both ends. */
export function Changes({ before, after }: Texts): ReactNode {
  const changes = useChanges(before, after);
  return runsOf(changes);
}

interface Texts {
  readonly before: string;
  readonly after: string;
}

/** The changes from one text to another; computed again when one of them changes. */
export function useChanges(before: string, after: string): Answer<readonly Change[]> {
  return useAnswer(() => wordChanges(before, after), [before, after]);
}

/** Changes in one text; with a side, what that one says. */
export function runsOf(changes: Answer<readonly Change[]>, side?: 'before' | 'after'): ReactNode {
  const { value } = changes;
  if (!value) return instead(changes);
  const away = side === undefined ? undefined : side === 'before' ? 'added' : 'removed';
  return (
    <div className="text" dir="auto">
      {value.map((change, i) => change.kind !== away && <Run key={i} {...change} />)}
    </div>
  );
}

function Run({ kind, text }: Change): ReactNode {
  if (kind === 'added') return <ins>{text}</ins>;
  if (kind === 'removed') return <del>{text}</del>;
  const left = text.length - 2 * CONTEXT;
  if (left < CONTEXT) return text;
  return (
    <>
      {text.slice(0, CONTEXT)}
      <p className="figures">{left} characters are the same</p>
      {text.slice(-CONTEXT)}
    </>
  );
}

/** How many characters of an unchanged part are shown beside a change. */
const CONTEXT = 160;
