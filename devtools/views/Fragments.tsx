import { type ReactNode } from 'react';
import { type FragmentTree, fragmentTree } from '../fragmentTree.ts';
import { instead, useAnswer } from '../live.tsx';
import type { ViewProps } from '../view.ts';
import { shareOf, tokensOf } from './Size.tsx';
import { Tree } from './Tree.tsx';

/** The fragments of the system prompt as a tree: the tokens of each piece, where it came from, and the pending messages. */
export function Fragments({ engine, state, modelId, tokenizer }: ViewProps): ReactNode {
  const { fragments, pending, chat } = state;
  const answer = useAnswer(
    (signal) => fragmentTree({ engine, fragments, pending, modelId, tokenizer }, signal),
    [engine, fragments, pending, chat, modelId, tokenizer],
  );
  if (fragments.length === 0 && pending.length === 0)
    return <p className="words">No fragments, so no system prompt.</p>;
  const { value } = answer;
  if (!value) return instead(answer);
  return (
    <>
      <h2 className="inset">System prompt {shareOf(value.estimate.systemPrompt, value.estimate)}</h2>
      <Tree label="Fragments" value={value.value} asideOf={(path) => asideOf(value, path)} />
    </>
  );
}

function asideOf({ facts, estimate }: FragmentTree, path: string): ReactNode {
  const known = facts.get(path);
  if (!known) return undefined;
  const { tokens, problem, notes } = known;
  return (
    <span className="marks">
      {problem !== undefined && (
        <span className="ellipsis bad" title={problem}>
          {problem}
        </span>
      )}
      {notes.map((note) => (
        <span key={note} className="mark point">
          {note}
        </span>
      ))}
      {tokens !== undefined && problem === undefined && <span>{tokensOf({ tokens }, estimate)}</span>}
    </span>
  );
}
