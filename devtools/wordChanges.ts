/** A run of words: in both texts, or in one of them. */
export interface Change {
  readonly text: string;
  readonly kind: 'same' | 'added' | 'removed';
}

/** The limits of a comparison, in ms and in different words, above which the texts are shown one after the other. */
const PATIENCE = 40;
const MOST = 5_000;

/**
 * The words, spaces and line breaks removed from a text and added to it; the code that compares is loaded on first use. Two
 * texts with next to nothing in common are one removal and one addition.
 */
export async function wordChanges(before: string, after: string): Promise<readonly Change[]> {
  const { diffArrays } = await import('./words.ts');
  // Many comparisons may start at once: each is a task of its own.
  await new Promise((resolve) => setTimeout(resolve));
  const changes = diffArrays(wordsIn(before), wordsIn(after), { timeout: PATIENCE, maxEditLength: MOST });
  if (!changes)
    return [
      { text: before, kind: 'removed' },
      { text: after, kind: 'added' },
    ];
  return phrases(
    changes.map(({ value, added, removed }) => ({
      text: value.join(''),
      kind: added ? 'added' : removed ? 'removed' : 'same',
    })),
  );
}

/** A word, a line break, a space, or any other character: scripts without spaces are compared character by character. */
const WORDS = /[\p{sc=Latn}\p{sc=Grek}\p{sc=Cyrl}\p{M}\d_]+|\r?\n|[^\S\r\n]+|./gsu;

function wordsIn(text: string): string[] {
  return text.match(WORDS) ?? [];
}

/** Changed words that follow each other are one change, with the spaces between them. */
function phrases(changes: readonly Change[]): Change[] {
  const joined: Change[] = [];
  let [removed, added] = ['', ''];
  for (const [i, { kind, text }] of changes.entries()) {
    const isBetween = /^[^\S\n]+$/.test(text) && i > 0 && i < changes.length - 1;
    if (kind !== 'added' && (kind === 'removed' || isBetween)) removed += text;
    if (kind !== 'removed' && (kind === 'added' || isBetween)) added += text;
    if (kind !== 'same' || isBetween) continue;
    joined.push(...changed(removed, added), { kind, text });
    [removed, added] = ['', ''];
  }
  return [...joined, ...changed(removed, added)];
}

function changed(removed: string, added: string): Change[] {
  const both: Change[] = [
    { kind: 'removed', text: removed },
    { kind: 'added', text: added },
  ];
  return both.filter(({ text }) => text !== '');
}
