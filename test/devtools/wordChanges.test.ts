import { expect, it } from 'vitest';
import { wordChanges } from '../../devtools/wordChanges.ts';

it('shows one text after the other where they share next to nothing, however long they are', async () => {
  const words = (letter: string): string =>
    Array.from({ length: 20_000 }, (_, i) => `${letter}${i}`).join(' ');
  const changes = await wordChanges(words('a'), words('b'));
  expect(changes.map(({ kind }) => kind)).toEqual(['removed', 'added']);
});
