import { cleanup } from '@testing-library/react';
import { afterEach } from 'vitest';
import './noOwnerStacks.ts';
import './patience.ts';

// Around each test of components: their files share a page, if they have one, so each leaves it as it was.

afterEach(() => {
  cleanup();
  globalThis.document?.body.replaceChildren();
});
