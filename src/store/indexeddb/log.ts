import { whenIdle } from '../tables/access.ts';

/**
 * A log with a whole end.
 *
 * Chromium writes each commit down at the end of a log, in two steps: what comes, and then that. A browser that is killed
 * between them leaves half a record there. The next one passes over it, as it should, and then writes on behind it in the
 * same file (https://github.com/google/leveldb/issues/1287). The one after that reads a record in the midst of which others
 * begin, takes the files for damaged and begins empty ones: all databases of the site are gone, and all that was told as
 * saved. Of 692 kills of five tabs that wrote, four left half a record; three of these were killed again: all was gone.
 *
 * A page can neither see the log nor ask for another one. But where a database is deleted, Chromium compacts the place that
 * it had, and that begins with a new log: what the old one tells goes into a table, and the file goes. So a database with
 * nothing in it is made and deleted, when the browser is idle. Other browsers keep databases in SQLite, which knows where
 * its log ends.
 *
 * Nobody waits for that, but it is not free: with the log, Chromium writes its youngest ten megabytes anew. So a page that
 * is left in peace leaves a note that it was, and the next one spares it. A page that is killed leaves none.
 */
export function renewLog(): void {
  if (isRenewed || !isChromium()) return;
  isRenewed = true;
  if (!wasLeftInPeace()) whenIdle(beginAnother, SOON);
}

/** All databases of a site share the log. */
let isRenewed = false;

/** Also where it has no window, and says so (`HeadlessChrome/`). */
function isChromium(): boolean {
  return typeof navigator !== 'undefined' && /Chrome\//.test(navigator.userAgent);
}

/** Whether the page before this one left its note. It goes, since somebody is here, and is left again with this page. */
function wasLeftInPeace(): boolean {
  const wasLeft = noteOf(false);
  const here = (): void => void noteOf(false);
  addEventListener('pagehide', () => void noteOf(true));
  // Where one comes back to a page that was frozen, and where another one goes while this one stays.
  addEventListener('pageshow', here);
  addEventListener('storage', ({ key, newValue }) => {
    if (key === NOTE && newValue !== null) here();
  });
  return wasLeft;
}

/** Leaves the note, or takes it away; tells whether it was there. Where nothing can be noted, none is. */
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

/** A busy browser that is killed again before there is a new log loses everything: no later than this, in ms. */
const SOON = 500;
const EMPTY = 'contextree:log';
const NOTE = 'contextree:log:left';
