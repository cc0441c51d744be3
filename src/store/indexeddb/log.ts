import { whenIdle } from '../tables/usual.ts';

/**
 * Renewing Chromium's log.
 *
 * Chromium appends each commit to a log. If the browser is killed in between, half a record stays at its end; the next browser
 * appends behind it (https://github.com/google/leveldb/issues/1287), and the one after that takes the files for damaged and
 * begins with empty databases. (Of 692 kills of five writing tabs four left half a record; of these three were killed again,
 * and lost everything.) Deleting a database makes Chromium begin a new log. So an empty database is made and deleted when the
 * browser is idle.
 *
 * That writes up to ten megabytes. So a page that ends normally leaves a note, and the next page skips the renewal; a killed
 * page leaves none.
 */
export function renewLog(): void {
  if (isRenewed || !isChromium()) return;
  isRenewed = true;
  if (!wasLeftInPeace()) whenIdle(beginAnother, SOON);
}

/** All databases of a site share one log. */
let isRenewed = false;

/** Whether this is Chromium, `HeadlessChrome/` included. */
function isChromium(): boolean {
  return typeof navigator !== 'undefined' && /Chrome\//.test(navigator.userAgent);
}

/** Whether the last page left its note. The note is removed, and left again when this page ends. */
function wasLeftInPeace(): boolean {
  const wasLeft = noteOf(false);
  const here = (): void => void noteOf(false);
  addEventListener('pagehide', () => void noteOf(true));
  // A person returns to a frozen page, or another page ends while this one stays.
  addEventListener('pageshow', here);
  addEventListener('storage', ({ key, newValue }) => {
    if (key === NOTE && newValue !== null) here();
  });
  return wasLeft;
}

/** Leaves the note, or removes it; returns whether it was there. */
function noteOf(isLeaving: boolean): boolean {
  try {
    const wasThere = localStorage.getItem(NOTE) !== null;
    if (isLeaving) localStorage.setItem(NOTE, 'left');
    else localStorage.removeItem(NOTE);
    return wasThere;
  } catch {
    return false;
  }
}

function beginAnother(): void {
  const request = indexedDB.open(EMPTY);
  request.onsuccess = () => {
    request.result.close();
    indexedDB.deleteDatabase(EMPTY);
  };
}

/** The latest time for the renewal, in ms: if the browser is killed again before it, everything is lost. */
const SOON = 500;
const EMPTY = 'contextree:log';
const NOTE = 'contextree:log:left';
