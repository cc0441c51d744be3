import { lazily } from './lazy.ts';
import type * as More from './more.ts';
import type * as Request from './request.ts';

/** The code that saves turns: loaded while the person reads, after the page has opened. */
export const loadTurns: () => Promise<typeof Request> = lazily(() => import('./request.ts'));

/** The code for edits, regenerations, tool results, the queue, and taking up answers. */
export const loadMore: () => Promise<typeof More> = lazily(() => import('./more.ts'));
