import { whenIdle } from '../tables/usual.ts';

/**
 * A log with a whole end.
 *
 * Chromium writes each commit to the end of a log. A browser that is killed in between leaves half a record there; the next one
 * writes on behind it (https://github.com/google/leveldb/issues/1287), and the one after that takes the files for damaged and
 * begins with empty databases. (Of 692 kills of five writing tabs four left half a record; of these three were killed again,
 * and lost all.) When a database is deleted, Chromium begins a new log. So an empty database is made and deleted when the
 * browser is idle.
 *
 * That writes up to ten megabytes anew. So a page that is left in peace leaves a note, and the next one spares it; a page
 * that is killed leaves none.
 */
export function renewLog(): void {
  if (isRenewed || !isChromium()) return;
  isRenewed = true;
  if (!wasLeftInPeace()) whenIdle(beginAnother, SOON);
}

/** All databases of a site share the log. */
let isRenewed = false;

/** Also `HeadlessChrome/`. */
function isChromium(): boolean {
  return typeof navigator !== 'undefined' && /Chrome\//.test(navigator.userAgent);
}

/** Whether the page before left its note. It is removed, and left again with this page. */
function wasLeftInPeace(): boolean {
  const wasLeft = noteOf(false);
  const here = (): void => void noteOf(false);
  addEventListener('pagehide', () => void noteOf(true));
  // When somebody comes back to a frozen page, or another page goes while this one stays.
  addEventListener('pageshow', here);
  addEventListener('storage', ({ key, newValue }) => {
    if (key === NOTE && newValue !== null) here();
  });
  return wasLeft;
}

/** Leaves the note, or removes it; whether it was there. */
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

/** A browser that is killed again before there is a new log loses everything: no later than this, ms. */
const SOON = 500;
const EMPTY = 'contextree:log';
const NOTE = 'contextree:log:left';
