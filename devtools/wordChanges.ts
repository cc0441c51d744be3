/** A run of words: of both texts, or of one of them. */
export interface Change {
  readonly text: string;
  readonly kind: 'same' | 'added' | 'removed';
}

/** How long words are compared before the texts are shown one after the other, in ms, and at how many words that differ. */
const PATIENCE = 40;
const MOST = 5_000;

/**
 * What was taken out of a text and put in, word by word, spaces and lines included; the code that compares comes with the
 * first question. Two texts that have next to nothing in common are one that went and one that came.
 */
export async function wordChanges(before: string, after: string): Promise<readonly Change[]> {
  const { diffArrays } = await import('./words.ts');
  // Many may be asked for at once: each is a task of its own.
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

/** A word, a line's end, a space, or any other sign: what scripts write without spaces is compared sign by sign. */
const WORDS = /[\p{sc=Latn}\p{sc=Grek}\p{sc=Cyrl}\p{M}\d_]+|\r?\n|[^\S\r\n]+|./gsu;

function wordsIn(text: string): string[] {
  return text.match(WORDS) ?? [];
}

/** Words that changed one after the other are one change, the space between them included. */
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
