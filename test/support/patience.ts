import { configure } from '@testing-library/dom';
import { vi } from 'vitest';

// How long tests wait for what comes by itself: a second, they were told, and a machine that runs everything at once takes
// longer. Who says how long means it.

const PATIENCE = 15_000;

configure({ asyncUtilTimeout: PATIENCE });

const { waitFor } = vi;
vi.waitFor = (callback, options = { timeout: PATIENCE }) => waitFor(callback, options);
