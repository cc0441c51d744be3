import { clock } from '../amounts.ts';
import { keysOf } from '../fragmentTree.ts';
import { keys } from '../keys.ts';
import type { ContextEngine, ContextFragment } from 'contextree';
import type { HiddenMark } from 'contextree/tokens';
import { type ReactNode, useRef, useState } from 'react';
import type { PromptAnswer } from '../promptAnswer.ts';
import type { PromptPiece } from '../promptAt.ts';
import type { ViewProps } from '../view.ts';
import { marked } from './Hidden.tsx';
import { shareOf } from './Size.tsx';

/** The system prompt: its fragments, and its text, in which each of them is highlighted; a click goes both ways. */
export function SystemPrompt({ answer, engine }: SystemPromptProps): ReactNode {
  const { estimate, pieces, fragments, renderer } = answer;
  const [selected, setSelected] = useState<ContextFragment>();
  const names = keysOf(fragments);
  const section = useRef<HTMLElement>(null);
  const select = (fragment: ContextFragment, shows: 'text' | 'row'): void => {
    setSelected(fragment);
    const place = section.current?.querySelector(`[data-${shows}="${fragments.indexOf(fragment)}"]`);
    place?.scrollIntoView({ block: 'nearest' });
  };
  return (
    <section ref={section}>
      <h2>System prompt {shareOf(estimate.systemPrompt, estimate)}</h2>
      {fragments.length > 0 && (
        <ul className="inset" aria-label="Fragments">
          {fragments.map((fragment, i) => {
            const share = estimate.fragments[i];
            return (
              <li key={i} data-row={i}>
                <button
                  className="quiet fragment"
                  aria-pressed={fragment === selected}
                  onClick={() => select(fragment, 'text')}
                >
                  <strong>{names[i]}</strong>
                  {originOf(engine, fragment)}
                  {share && shareOf(share, estimate)}
                </button>
              </li>
            );
          })}
        </ul>
      )}
      {pieces.length > 0 && !pieces.some(({ fragment }) => fragment) && (
        <p className="muted inset">The renderer “{renderer}” does not tell where each fragment stands.</p>
      )}
      {pieces.length === 0 ? (
        <p className="words">No fragments, so no system prompt.</p>
      ) : (
        <pre className="text">
          {marksOf(pieces, estimate.systemPrompt.hidden).map(({ piece: { text, fragment }, marks }, i) => {
            if (!fragment) return <span key={i}>{marked(text, marks)}</span>;
            const onSelect = (): void => select(fragment, 'row');
            return (
              <span
                key={i}
                className="piece"
                role="button"
                tabIndex={0}
                data-text={fragments.indexOf(fragment)}
                aria-pressed={fragment === selected}
                onClick={onSelect}
                onKeyDown={(event) => keys({ Enter: onSelect, ' ': onSelect })(event)}
              >
                {marked(text, marks)}
              </span>
            );
          })}
        </pre>
      )}
    </section>
  );
}

interface SystemPromptProps extends Pick<ViewProps, 'engine'> {
  readonly answer: PromptAnswer;
}

/** Where a fragment came from, and since when. */
function originOf(engine: ContextEngine, fragment: ContextFragment): ReactNode {
  const origin = engine.origin(fragment);
  if (!origin) return <span className="grow" />;
  const { via, component, source, since } = origin;
  const place = source?.replaceAll(/.*[/\\]|\?[^:]*|:\d+$/g, '');
  return (
    <span className="share grow ellipsis" title={source}>
      {component === undefined ? via : `<${component}>`}
      {place !== undefined && ` ${place}`} since {clock(since)}
    </span>
  );
}

/** Each piece with the marks in it, at their indexes in the piece. */
function marksOf(
  pieces: readonly PromptPiece[],
  hidden: readonly HiddenMark[] = [],
): readonly { readonly piece: PromptPiece; readonly marks: readonly HiddenMark[] }[] {
  let from = 0;
  return pieces.map((piece) => {
    const start = from;
    from += piece.text.length;
    const own = hidden.filter(({ at }) => at >= start && at < from);
    return { piece, marks: own.map((mark) => ({ ...mark, at: mark.at - start })) };
  });
}
