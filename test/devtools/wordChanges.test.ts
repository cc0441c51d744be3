import { expect, it } from 'vitest';
import { wordChanges } from '../../devtools/wordChanges.ts';

/** Changes in one line: [-what went-], {+what came+}. */
async function told(before: string, after: string): Promise<string> {
  const changes = await wordChanges(before, after);
  const signs = { same: ['', ''], removed: ['[-', '-]'], added: ['{+', '+}'] } as const;
  return changes.map(({ kind, text }) => signs[kind].join(text)).join('');
}

it('compares words, and leaves what is the same', async () => {
  expect(await told('Tea is brown.', 'Tea is green.')).toBe('Tea is [-brown-]{+green+}.');
  expect(await told('a b c d', 'a x y d')).toBe('a [-b c-]{+x y+} d');
  expect(await told('', 'New.')).toBe('{+New.+}');
  expect(await told('one line', 'one\nline')).toBe('one[- -]{+\n+}line');
  expect(await told('お茶は茶色', 'お茶は緑')).toContain('お茶は');
});

it('shows one text after the other where they share next to nothing, however long they are', async () => {
  const words = (letter: string): string =>
    Array.from({ length: 20_000 }, (_, i) => `${letter}${i}`).join(' ');
  const changes = await wordChanges(words('a'), words('b'));
  expect(changes.map(({ kind }) => kind)).toEqual(['removed', 'added']);
});
