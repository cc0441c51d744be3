import { type Rest, STRETCH } from './rest.ts';
import { eachWord, type Term, type Word } from './words.ts';

/** About how many characters a snippet has, and how many of them come before the hit. */
const LENGTH = 100;
const BEFORE = 30;

/** How far the end of the last shown hit may be from the beginning of the first. */
const REACH = LENGTH - BEFORE;

/**
 * The part of a text with most of the terms, as HTML: about 100 characters, hits between `<mark>` and `</mark>`, no other
 * markup; cut between words, with `…`. Costs the length of the text; a long one is read with pauses.
 */
export async function snippetOf(message: string, terms: readonly Term[], rest: Rest): Promise<string> {
  // One space for each run of blanks; a zero-width blank is none, because it may stand inside a word.
  const text = message.replaceAll(/[^\S\ufeff]+/g, ' ').trim();
  const words: Word[] = [];
  const hits: Hit[] = [];
  for (const word of eachWord(text)) {
    if (words.push(word) % STRETCH === 0) await rest();
    for (const term of terms) {
      const first = words[words.length - term.words.length];
      if (first && standsLast(words, term)) hits.push({ start: first.start, end: word.end, term });
    }
  }
  hits.sort((a, b) => a.start - b.start);
  const { from, to } = frame(text, words, densest(hits));
  return (from > 0 ? '…' : '') + marked(text, hits, from, to) + (to < text.length ? '…' : '');
}

/** The range of a hit, in UTF-16 units. */
interface Hit {
  readonly start: number;
  readonly end: number;
  readonly term: Term;
}

/** Whether the words end with a term. */
function standsLast(words: readonly Word[], { words: wanted, isPrefix }: Term): boolean {
  const at = words.length - wanted.length;
  return wanted.every((word, i) => {
    const here = words[at + i]?.folded;
    return isPrefix && i === wanted.length - 1 ? here?.startsWith(word) : here === word;
  });
}

/** The first hit from which a snippet contains most of the terms. */
function densest(hits: readonly Hit[]): Hit | undefined {
  let [best, most] = [hits[0], 1];
  for (const [i, hit] of hits.entries()) {
    const near = new Set<Term>();
    for (let j = i; j < hits.length && (hits[j] as Hit).start <= hit.start + REACH; j += 1)
      if ((hits[j] as Hit).end <= hit.start + REACH) near.add((hits[j] as Hit).term);
    if (near.size > most) [best, most] = [hit, near.size];
  }
  return best;
}

/** The range of the text to show, from the beginning of a word to the end of one. */
function frame(
  text: string,
  words: readonly Word[],
  { start, end }: Pick<Hit, 'start' | 'end'> = { start: 0, end: 0 },
): { readonly from: number; readonly to: number } {
  const lead = Math.min(start - BEFORE, text.length - LENGTH);
  const from = lead <= 0 ? 0 : (words.find((word) => word.start >= lead)?.start ?? 0);
  const limit = from + LENGTH;
  if (limit >= text.length) return { from, to: text.length };
  const whole = words.findLast((word) => word.end <= limit)?.end ?? 0;
  const isWhole = whole >= Math.min(end, limit) && whole > from;
  // Do not cut a surrogate pair.
  const cut = (text.codePointAt(limit - 1) ?? 0) > 0xffff ? limit - 1 : limit;
  return { from, to: isWhole ? whole : cut };
}

/** The range as HTML; overlapping hits are marked together. */
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

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (sign) => SIGNS[sign] ?? sign);
}
