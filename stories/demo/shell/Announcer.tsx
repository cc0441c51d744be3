import { createContext, use, useState, type ReactNode } from 'react';

/**
 * What people who see need not be told: one hidden status that a screen reader speaks when it changes.
 *
 * One for the whole page. Live regions that come and go with the things they speak of are often not heard at all.
 */

const Announce = createContext<(text: string) => void>(() => {});

/** Holds the page's hidden status, and gives `useAnnounce` to what is inside. */
export function Announcer({ children }: { readonly children: ReactNode }): ReactNode {
  const [text, setText] = useState('');
  const [announce] = useState(() => announceWith(setText));
  return (
    <Announce value={announce}>
      {children}
      <div role="status" className="visually-hidden">
        {text}
      </div>
    </Announce>
  );
}

/** Speaks a sentence, once. The returned function is stable. */
export function useAnnounce(): (text: string) => void {
  return use(Announce);
}

/** How long a sentence stays, in ms: whoever wanders into it later should not take it for news. */
const STAYS = 5000;

function announceWith(setText: (text: string) => void): (text: string) => void {
  let forget: ReturnType<typeof setTimeout> | undefined;
  return (text) => {
    clearTimeout(forget);
    setText(text);
    forget = setTimeout(() => setText(''), STAYS);
  };
}
