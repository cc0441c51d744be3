import { lazily, type Lazy } from './lazy.ts';
import type * as More from './more.ts';
import type * as Turns from './turns.ts';

/** The code that keeps what is said. */
export const loadTurns: Lazy<typeof Turns> = lazily(() => import('./turns.ts'));

/** The code for what is done with answers. */
export const loadMore: Lazy<typeof More> = lazily(() => import('./more.ts'));
