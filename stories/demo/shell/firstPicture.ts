import { useLayoutEffect } from 'react';

/**
 * The picture of the first chat: markup of the page itself (first.html, written by `npm run first-picture`), which a browser
 * shows with its first paint, before any script of the app is loaded. It is inert and hidden from screen readers. It covers the
 * page while the app loads and reads the database, so that a visitor sees at once what the app is about, and it is removed when
 * the app shows a chat: on a first visit, the same one.
 *
 * `public/first.js` shows it where nothing says that this browser was here before, and begins the app: on a first visit behind
 * the frame that paints the picture, because evaluating the app's code takes longer than the paint. A page in the background
 * paints nothing and begins at once.
 */
export function useFirstPicture(isChatShown: boolean): void {
  useLayoutEffect(() => {
    if (isChatShown) {
      takeAway();
      return undefined;
    }
    // The page below the picture tells why the app can't open the chat.
    const timer = setTimeout(takeAway, PATIENCE);
    return () => clearTimeout(timer);
  }, [isChatShown]);
}

/** How long a page may read before it has to say so, in ms. */
const PATIENCE = 3000;

function takeAway(): void {
  document.querySelector('#first-picture')?.remove();
}
