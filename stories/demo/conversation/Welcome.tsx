import { useEngineState } from 'contextree';
import type { ReactNode } from 'react';

/** A new chat: a greeting, and on the first visit six things to begin with. */
export function Welcome({ starters, onStart }: WelcomeProps): ReactNode {
  const inMemory = useEngineState((state) => state.persistence === 'memory');
  return (
    <section className="welcome">
      <h2>What is on your mind?</h2>
      <p>
        Ask, change your mind, ask again. Every version of this conversation stays
        {inMemory ? ', for as long as this tab is open.' : ', and all of it stays in this browser.'}
      </p>
      {starters.length > 0 && (
        <ul className="starters" aria-label="Starter prompts">
          {starters.map(({ prompt, about }) => (
            <li key={prompt}>
              <button type="button" onClick={() => onStart(prompt)}>
                <span>{prompt}</span> <small>{about}</small>
              </button>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** Something to begin with, and what it shows. */
export interface Starter {
  readonly prompt: string;
  readonly about: string;
}

/** Six questions that between them show what this chat can do, with no key and no network. */
export const starters: readonly Starter[] = [
  { prompt: 'How is a conversation like a tree?', about: 'A short answer' },
  { prompt: 'Tell me a long story about a lighthouse', about: 'Long enough to stop and continue' },
  { prompt: '/markdown Compare tea and coffee', about: 'Tables, lists and code' },
  { prompt: '/think Which came first, the fork or the spoon?', about: 'An answer with its thoughts' },
  { prompt: '/tool Roll the dice for me', about: 'An answer that uses a tool' },
  { prompt: '/help', about: 'All that the demo model understands' },
];

interface WelcomeProps {
  readonly starters: readonly Starter[];
  readonly onStart: (prompt: string) => void;
}
