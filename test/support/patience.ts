import { configure } from '@testing-library/dom';
import { vi } from 'vitest';

// How long tests wait for events: their default is a second, and a busy machine takes longer. An explicit timeout stays.

const PATIENCE = 15_000;

configure({ asyncUtilTimeout: PATIENCE });

const { waitFor } = vi;
vi.waitFor = (callback, options = { timeout: PATIENCE }) => waitFor(callback, options);
