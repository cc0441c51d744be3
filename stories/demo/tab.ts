import { generateId } from 'ai';
import { session } from './safeStorage.ts';

/**
 * Which tab this is, and which others are there.
 *
 * An id in `sessionStorage` outlives a reload and goes with its tab; but a tab that is duplicated begins with a copy of
 * all that is in there. So a page holds a Web Lock on its id for as long as it lives: one that finds the lock taken is
 * a copy, and takes another id. What a tab left behind may be taken over when its lock is free, and still is after the
 * time that a page takes to come back: tabs are reloaded together, and a browser opens all of its tabs again. Without
 * Web Locks nobody knows who lives, and everybody counts as gone: then two tabs may share, and nothing is lost.
 */

const PLACE = 'demo:tab';
const lockOf = (id: string): string => `demo:tab:${id}`;
/** How long a page that is being reloaded may take to hold its lock again, in ms. */
const FAREWELL = 1000;
/** How long a busy machine may take to let go of the lock of the page before this one, in ms. A copy waits as long. */
const PATIENCE = 4000;

let own: Promise<string> | undefined;

/** The id of this tab: the same after a reload, and no other tab's. Never rejects. */
export function thisTab(): Promise<string> {
  return (own ??= claim(session.get(PLACE) ?? generateId()));
}

async function claim(id: string): Promise<string> {
  session.set(PLACE, id);
  return (await hold(id)) ? id : claim(generateId());
}

/** False where another page holds it. A browser that refuses locks has no say in it. */
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

/** Those of some tabs that are gone and do not come back. Takes a second where there are any. Never rejects. */
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

/** Those of some tabs that no page holds at this moment. */
async function absent(tabs: readonly string[]): Promise<readonly string[]> {
  if (tabs.length === 0) return [];
  const { held = [] } = await navigator.locks.query();
  const names = new Set(held.map(({ name }) => name));
  return tabs.filter((tab) => !names.has(lockOf(tab)));
}

/**
 * Does something in the place of a tab that is gone, which can't come back meanwhile; nothing while it is there. Never
 * rejects, if `act` does not.
 */
export async function insteadOf(tab: string, act: () => Promise<void>): Promise<void> {
  const actIfFree = (lock: Lock | null): Promise<void> | undefined => (lock ? act() : undefined);
  await locked(tab, { ifAvailable: true }, actIfFree).catch(act);
}

async function locked<T>(id: string, options: LockOptions, act: LockGrantedCallback<T>): Promise<void> {
  await navigator.locks.request(lockOf(id), options, act);
}
