import { describe, expect, it } from 'vitest';
import { firstAnswer } from '../../scripts/firstAnswer.mjs';

// What a person waits for before the first answer is safe. `npm run sizes` prints the figures, and
// `node scripts/firstAnswer.mjs` what they are made of.

/** What the package promises. */
const AT_MOST = { bytes: 55_000, files: 12 };

describe('a useChat app, until its first answer is saved', async () => {
  const { bytes, files } = await firstAnswer();

  it(`loads at most ${AT_MOST.bytes} bytes`, () => {
    expect(bytes).toBeGreaterThan(20_000);
    expect(bytes).toBeLessThanOrEqual(AT_MOST.bytes);
  });

  it(`asks for at most ${AT_MOST.files} files`, () => {
    expect(files.length).toBeLessThanOrEqual(AT_MOST.files);
  });
});
