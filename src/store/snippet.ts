import type { Term } from './query.ts';
import type { Word } from './words.ts';
import { wordsOf } from './words.ts';

/** About as many characters of the text as a line of results shows, and how many of them stand before the hit. */
const LENGTH = 100;
const BEFORE = 30;

/**
 * The place of a text where most of the terms stand, as HTML: about 100 characters, the hits between `<mark>` and
 * `</mark>`, and no other markup, whatever the text holds. Cuts fall between words and are shown as `…`.
 */
export function snippetOf(message: string, terms: readonly Term[]): string {
  const text = message.replaceAll(/\s+/g, ' ').trim();
  const words = wordsOf(text);
  const hits = hitsOf(words, terms);
  const hit = densest(hits) ?? { start: 0, end: 0, term: 0 };
  const { from, to } = frame(text, words, hit);
  return (from > 0 ? '…' : '') + marked(text, hits, from, to) + (to < text.length ? '…' : '');
}

/** Where a term stands, in UTF-16 units. */
interface Hit {
  readonly start: number;
  readonly end: number;
  readonly term: number;
}

/** All hits in the order of the text. */
function hitsOf(words: readonly Word[], terms: readonly Term[]): Hit[] {
  return words.flatMap(({ start }, at) =>
    terms.flatMap((term, i) =>
      standsAt(words, at, term)
        ? [{ start, end: words[at + term.words.length - 1]?.end ?? start, term: i }]
        : [],
    ),
  );
}

function standsAt(words: readonly Word[], at: number, { words: wanted, isPrefix }: Term): boolean {
  return wanted.every((word, i) => {
    const here = words[at + i]?.folded;
    return isPrefix && i === wanted.length - 1 ? here?.startsWith(word) : here === word;
  });
}

/** The first hit behind which, as far as a snippet reaches, most of the terms stand. */
function densest(hits: readonly Hit[]): Hit | undefined {
  let best: Hit | undefined;
  let most = 0;
  for (const [i, hit] of hits.entries()) {
    const near = hits.slice(i, i + LENGTH).filter(({ end }) => end <= hit.start + LENGTH - BEFORE);
    const { size } = new Set(near.map(({ term }) => term));
    if (!best || size > most) [best, most] = [hit, size];
  }
  return best;
}

/** From where to where a text is shown: from the beginning of a word to the end of one, with the hit in it. */
function frame(text: string, words: readonly Word[], hit: Hit): { from: number; to: number } {
  const lead = Math.min(hit.start - BEFORE, text.length - LENGTH);
  const from = lead <= 0 ? 0 : (words.find(({ start }) => start >= lead)?.start ?? 0);
  const limit = from + LENGTH;
  if (limit >= text.length) return { from, to: text.length };
  const whole = words.findLast(({ end }) => end <= limit)?.end ?? 0;
  return {
    from,
    to: whole >= Math.min(hit.end, limit) && whole > from ? whole : betweenCharacters(text, limit),
  };
}

/** A place near this one that does not cut a surrogate pair in two. */
function betweenCharacters(text: string, at: number): number {
  return (text.codePointAt(at - 1) ?? 0) > 0xffff ? at - 1 : at;
}

/** The text as HTML. Hits that overlap are marked together. */
function marked(text: string, hits: readonly Hit[], from: number, to: number): string {
  let html = '';
  let done = from;
  for (const hit of hits) {
    const [start, end] = [Math.max(hit.start, done), Math.min(hit.end, to)];
    if (start >= end) continue;
    html += `${escape(text.slice(done, start))}<mark>${escape(text.slice(start, end))}</mark>`;
    done = end;
  }
  return html + escape(text.slice(done, to));
}

const SIGNS: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text as HTML, between tags or in an attribute. */
function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (sign) => SIGNS[sign] ?? sign);
}
