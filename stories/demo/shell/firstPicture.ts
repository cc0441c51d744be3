import { useLayoutEffect } from 'react';

/**
 * The picture of the first chat: markup of the page itself (first.html, written by `npm run first-picture`), which a
 * browser shows with its first paint, before any script of the app has come. It can't be pressed or read aloud. It covers
 * the page while the app loads and reads the database, so that nobody waits for the script to see what this is about, and
 * goes when the app shows a chat: the same one on a first visit.
 */
export function useFirstPicture(isChatShown: boolean): void {
  useLayoutEffect(() => {
    if (isChatShown) {
      takeAway();
      return undefined;
    }
    // What keeps the app from opening the chat is told on the page below.
    const timer = setTimeout(takeAway, PATIENCE);
    return () => clearTimeout(timer);
  }, [isChatShown]);
}

/** How long a page may read before it has to say so, in ms. */
const PATIENCE = 3000;

function takeAway(): void {
  document.querySelector('#first-picture')?.remove();
}
