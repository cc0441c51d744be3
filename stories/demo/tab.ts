import { generateId } from 'ai';
import { session } from './safeStorage.ts';

/**
 * The id of this tab, and which other tabs are open.
 *
 * An id in `sessionStorage` survives a reload and ends with its tab, but a duplicated tab begins with a copy of it. So a page
 * holds a Web Lock on its id as long as it lives: a page that finds the lock taken is a copy, and takes another id. What a tab
 * left behind may be taken over when its lock is free, and is still free after the time that a reload takes: tabs are reloaded
 * together, and a browser reopens all of its tabs. Without Web Locks no tab is known to be open, and all count as closed: then
 * two tabs may share texts, and nothing is lost.
 */

const PLACE = 'demo:tab';
const lockOf = (id: string): string => `demo:tab:${id}`;
/** How long a page that is being reloaded may take to hold its lock again, in ms. */
const FAREWELL = 1000;
/** How long a busy machine may take to let go of the lock of the page before this one, in ms. A copy waits as long. */
const PATIENCE = 4000;

let own: Promise<string> | undefined;
let soFar: string | undefined;

/** The id of this tab: the same after a reload, and no other tab's. Never rejects. */
export function thisTab(): Promise<string> {
  return (own ??= claim(session.get(PLACE) ?? generateId()));
}

/** The id of this tab, once it is asked for; a copy of a tab has that of the other one for a moment. */
export function tabSoFar(): string | undefined {
  return soFar;
}

async function claim(id: string): Promise<string> {
  soFar = id;
  session.set(PLACE, id);
  return (await hold(id)) ? id : claim(generateId());
}

/** Takes the lock on an id; false if another page holds it. A browser that refuses locks counts as success. */
function hold(id: string): Promise<boolean> {
  const signal = AbortSignal.timeout(PATIENCE);
  return new Promise((resolve) => {
    const keep = (): Promise<never> => {
      resolve(true);
      return new Promise(() => {});
    };
    locked(id, { signal }, keep).catch(() => resolve(!signal.aborted));
  });
}

/** Those of some tabs that are closed and do not come back. Takes a second if there are any. Never rejects. */
export async function goneOf(tabs: readonly string[]): Promise<readonly string[]> {
  try {
    const away = await absent(tabs);
    if (away.length === 0) return [];
    await new Promise((resolve) => setTimeout(resolve, FAREWELL));
    return await absent(away);
  } catch {
    return tabs;
  }
}

/** Those of some tabs whose lock no page holds at this moment. */
async function absent(tabs: readonly string[]): Promise<readonly string[]> {
  if (tabs.length === 0) return [];
  const { held = [] } = await navigator.locks.query();
  const names = new Set(held.map(({ name }) => name));
  return tabs.filter((tab) => !names.has(lockOf(tab)));
}

/**
 * Runs `act` for a closed tab while holding its lock, so that it can't come back meanwhile; does nothing for an open one. Never
 * rejects, if `act` does not.
 */
export async function insteadOf(tab: string, act: () => Promise<void>): Promise<void> {
  const actIfFree = (lock: Lock | null): Promise<void> | undefined => (lock ? act() : undefined);
  await locked(tab, { ifAvailable: true }, actIfFree).catch(act);
}

async function locked<T>(id: string, options: LockOptions, act: LockGrantedCallback<T>): Promise<void> {
  await navigator.locks.request(lockOf(id), options, act);
}
