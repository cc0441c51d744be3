import { useEngineState } from 'contextree';
import type { ReactNode } from 'react';
import { Drawing } from '../ui/Drawing.tsx';

/** An empty chat: a greeting, and six things to begin with. */
export function Welcome({ onStart }: WelcomeProps): ReactNode {
  const inMemory = useEngineState((state) => state.persistence === 'memory');
  return (
    <section className="welcome">
      <Drawing name="sprout" />
      <h2>What is on your mind?</h2>
      <p>
        Ask, change your mind, ask again. Every version of this conversation stays
        {inMemory ? ', for as long as this tab is open.' : ', and all of it stays in this browser.'}
      </p>
      <ul className="starters" aria-label="Starter prompts">
        {starters.map(({ prompt, about }) => (
          <li key={prompt}>
            <button type="button" onClick={() => onStart(prompt)}>
              <span>{prompt}</span> <small>{about}</small>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Something to begin with, and what it shows. */
interface Starter {
  readonly prompt: string;
  readonly about: string;
}

/** Six questions that between them show what this chat can do, with no key and no network. */
const starters: readonly Starter[] = [
  { prompt: 'How is a conversation like a tree?', about: 'Three answers: try again' },
  { prompt: 'Plan a walk for a rainy afternoon', about: 'Two hours, mostly dry' },
  { prompt: 'A recipe for one pan and half an hour', about: 'Dinner for two' },
  { prompt: 'Compare tea and coffee in a table', about: 'Who is up late?' },
  { prompt: 'Write a function that groups words', about: 'A few lines of code' },
  { prompt: '/help', about: 'Thoughts, tools and failures to try' },
];

interface WelcomeProps {
  readonly onStart: (prompt: string) => void;
}
