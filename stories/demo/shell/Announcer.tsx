import { createContext, use, useEffect, useState, type ReactNode } from 'react';

/**
 * One hidden status for the whole page, which a screen reader speaks when its text changes. Live regions that appear together
 * with their text are often not spoken at all.
 */

const Announce = createContext<(text: string) => void>(() => {});

/** Holds the page's hidden status, and gives `useAnnounce` to what is inside. */
export function Announcer({ children }: { readonly children: ReactNode }): ReactNode {
  const [text, setText] = useState('');
  useEffect(() => {
    if (text === '') return undefined;
    const clearing = setTimeout(() => setText(''), STAYS);
    return () => clearTimeout(clearing);
  }, [text]);
  return (
    <Announce value={setText}>
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

/** How long a sentence stays, in ms: a person who reads the page later with a screen reader should not find old news in it. */
const STAYS = 5000;
