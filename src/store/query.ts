import { seenOf, wordsOf } from './words.ts';

/**
 * What a person looks for. Spaces part the terms, quotes hold one together, and so does everything that stands without a
 * space: `don't`, `2026-11-21`, `foo.bar` and a Chinese name are words in a row. There are no operators and so no
 * mistakes: what is neither letter nor digit only parts words.
 */
export interface Term {
  /** Folded words that stand in a row. */
  readonly words: readonly string[];
  /** Whether the last of them may go on: a person is still typing it. */
  readonly isPrefix: boolean;
}

/** Of a query only so much is read, in UTF-16 units and in words. */
const LONGEST_QUERY = 1000;
const MOST_WORDS = 30;

/** The terms of a query; none for one without words. */
export function parseQuery(query: string): Term[] {
  const read = seenOf(query.slice(0, LONGEST_QUERY)).normalize('NFC');
  const terms = fit(piecesOf(read).map((piece) => wordsOf(piece).map(({ folded }) => folded)));
  const isTyping = /[\p{L}\p{M}\p{N}]$/u.test(read);
  return terms.map((words, i) => ({ words, isPrefix: isTyping && i === terms.length - 1 }));
}

/** Every second piece stands between quotes; the last one may lack its end. */
function piecesOf(query: string): string[] {
  return query.split(/["“”„«»]/).flatMap((piece, i) => (i % 2 === 1 ? [piece] : piece.split(/\s/)));
}

function fit(terms: readonly (readonly string[])[]): (readonly string[])[] {
  let room = MOST_WORDS;
  const fitting = terms.map((words) => {
    const taken = words.slice(0, room);
    room -= taken.length;
    return taken;
  });
  return fitting.filter((words) => words.length > 0);
}
