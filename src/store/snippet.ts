import type { Term } from './query.ts';
import { type Rest, STRETCH } from './rest.ts';
import { eachWord, type Word, wordsOf } from './words.ts';

/** About as many characters of the text as a line of results shows, and how many of them stand before the hit. */
const LENGTH = 100;
const BEFORE = 30;

/** How far the end of a hit that is shown may be from the beginning of the first. */
const REACH = LENGTH - BEFORE;

/** So many characters around a hit are looked at closely: several times as many as are shown, for there may be blanks. */
const AROUND = 500;

/** Of a phrase with long gaps no more is looked at. */
const MOST_SHOWN = 4000;

/**
 * The place of a text where most of the terms stand, as HTML: about 100 characters, the hits between `<mark>` and
 * `</mark>`, and no other markup, whatever the text holds. Cuts fall between words and are shown as `…`.
 *
 * The text is read once, as far as it takes to know that place; a long one with pauses.
 */
export async function snippetOf(message: string, terms: readonly Term[], rest: Rest): Promise<string> {
  const place = (await densest(message, terms, rest)) ?? NOWHERE;
  const { text, hit, isBegun, isEnded } = surroundings(message, place);
  const words = wordsOf(text);
  const { from, to } = frame(text, words, hit, isBegun);
  const html = marked(text, hitsOf(words, terms), from, to);
  return (from > 0 ? '…' : '') + html + (to < text.length || !isEnded ? '…' : '');
}

/** Where terms stand, in UTF-16 units. */
interface Hit {
  readonly start: number;
  readonly end: number;
}

const NOWHERE: Hit = { start: 0, end: 0 };

/** All hits in the order of the text. */
function hitsOf(words: readonly Word[], terms: readonly Term[]): Hit[] {
  return words.flatMap(({ start }, at) =>
    terms
      .filter((term) => standsAt(words, at, term))
      .map((term) => ({ start, end: words[at + term.words.length - 1]?.end ?? start })),
  );
}

function standsAt(words: readonly Word[], at: number, { words: wanted, isPrefix }: Term): boolean {
  return wanted.every((word, i) => {
    const here = words[at + i]?.folded;
    return isPrefix && i === wanted.length - 1 ? here?.startsWith(word) : here === word;
  });
}

/** The first hit behind which, as far as a snippet reaches, most of the terms stand. */
async function densest(text: string, terms: readonly Term[], rest: Rest): Promise<Hit | undefined> {
  const longest = Math.max(...terms.map(({ words }) => words.length));
  const last: Word[] = [];
  let near: (Hit & { readonly term: Term })[] = [];
  let best: Hit | undefined;
  let most = 0;
  let count = 0;
  for (const word of eachWord(text)) {
    if (last.push(word) > longest) last.shift();
    for (const term of terms) {
      const at = last.length - term.words.length;
      if (at < 0 || !standsAt(last, at, term)) continue;
      const hit = { start: last[at]?.start ?? 0, end: word.end };
      best ??= hit;
      if (hit.end > hit.start + REACH) continue;
      near = [...near.filter(({ start }) => start + REACH >= hit.end), { ...hit, term }];
      const { size } = new Set(near.map((one) => one.term));
      if (size > most) [best, most] = [near.toSorted((a, b) => a.start - b.start)[0], size];
    }
    if (most === terms.length) break;
    if ((count += 1) % STRETCH === 0) await rest();
  }
  return best;
}

/** The text around a hit, with one space for each blank, and whether it goes back to the beginning and on to the end. */
function surroundings(
  message: string,
  { start, end }: Hit,
): { readonly text: string; readonly hit: Hit; readonly isBegun: boolean; readonly isEnded: boolean } {
  const from = betweenCharacters(message, Math.max(start - AROUND, 0));
  const to = betweenCharacters(message, Math.min(Math.min(end, start + MOST_SHOWN) + AROUND, message.length));
  const before = blanksOf(message.slice(from, start));
  const lead = from === 0 ? before.trimStart() : before;
  const rest = blanksOf(message.slice(start, to)).trimStart();
  const isEnded = to === message.length;
  return {
    text: lead + (isEnded ? rest.trimEnd() : rest),
    hit: { start: lead.length, end: lead.length + blanksOf(message.slice(start, Math.min(end, to))).length },
    isBegun: from === 0,
    isEnded,
  };
}

/** A zero-width blank is none: it may stand inside a word. */
function blanksOf(text: string): string {
  return text.replaceAll(/[^\S\ufeff]+/g, ' ');
}

/** From where to where a text is shown: from the beginning of a word to the end of one, with the hit in it. */
function frame(
  text: string,
  words: readonly Word[],
  hit: Hit,
  isBegun: boolean,
): { readonly from: number; readonly to: number } {
  // Where more stands before it, the first word may be half of one.
  const lead = Math.max(Math.min(hit.start - BEFORE, text.length - LENGTH), isBegun ? 0 : 1);
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
