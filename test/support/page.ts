import { cleanup } from '@testing-library/react';
import { afterEach } from 'vitest';
import './noOwnerStacks.ts';
import './patience.ts';

// Set-up around each test of components: their files may share a page, so each test leaves it as it was.

afterEach(() => {
  cleanup();
  globalThis.document?.body.replaceChildren();
});
