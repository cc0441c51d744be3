import { Scroll } from '../kit.tsx';
import type { ReactNode } from 'react';
import { FORMATS, type PromptAnswer } from '../promptAnswer.ts';
import { percent, tokensOf } from './Size.tsx';

/** The system prompt in the four formats, side by side, the shortest of them marked. */
export function formatsOf({ formats, estimate }: PromptAnswer): ReactNode {
  if (!formats) return <p className="words">It was sent as it is.</p>;
  if (formats.App.text === '') return <p className="words">No fragments, so no system prompt.</p>;
  const names = FORMATS.filter((name) => name !== 'App');
  const least = Math.min(...names.map((name) => formats[name].tokens));
  return (
    <Scroll className="formats">
      {names.map((name) => {
        const { text, tokens } = formats[name];
        const isApps = text === formats.App.text;
        return (
          <section key={name} aria-label={name}>
            <h2>
              {name}{' '}
              <span className="share">
                {tokensOf({ tokens }, estimate)} tokens
                {moreThan(least, tokens)}
              </span>
              {isApps && <span className="share">the app’s</span>}
            </h2>
            <pre className="text">{text}</pre>
          </section>
        );
      })}
    </Scroll>
  );
}

function moreThan(least: number, tokens: number): string {
  return tokens === least ? ' (shortest)' : ` (${percent((tokens - least) / least)} more)`;
}
