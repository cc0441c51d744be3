import { beforeEach } from 'vitest';

// The storage of a site, where the tests have the site to themselves: pages of a browser share it while they run.

beforeEach(() => globalThis.localStorage?.clear());
