import { more } from '../kit.tsx';
import type { EstimateResult } from 'contextree';
import { type ReactNode, useState } from 'react';
import type { PromptAnswer } from '../promptAnswer.ts';
import { marksIn } from './Hidden.tsx';
import { Part } from './Parts.tsx';
import { shareOf } from './Size.tsx';

/** How many messages are shown at first, the last ones; earlier ones come in steps of as many. */
const SHOWN = 50;

/** The conversation of a prompt. */
export function Messages({ messages, estimate }: Pick<PromptAnswer, 'messages' | 'estimate'>): ReactNode {
  const [shown, setShown] = useState(SHOWN);
  const earlier = Math.max(0, messages.length - shown);
  return (
    <section>
      <h2>
        Messages <span className="muted">{messages.length}</span>
      </h2>
      {messages.length === 0 && <p className="words">No messages yet.</p>}
      {more(SHOWN, earlier, 'earlier', () => setShown(shown + SHOWN))}
      <ol start={earlier + 1}>
        {messages.slice(earlier).map((message, i) => (
          <li key={message.id} className="turn">
            <div className="role">
              {message.role}
              {shareAt(estimate, earlier + i)}
            </div>
            {message.parts.map((part, p) => (
              <Part key={p} part={part} marks={marksIn(estimate.messages[earlier + i], p)} />
            ))}
          </li>
        ))}
      </ol>
    </section>
  );
}

function shareAt(estimate: EstimateResult, index: number): ReactNode {
  const message = estimate.messages[index];
  return message && shareOf(message, estimate);
}
