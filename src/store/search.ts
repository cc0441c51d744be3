import type { MessageNode } from '../graph/graph.ts';
import { infoOf, isVisible, textOf } from '../graph/graph.ts';
import type { SearchOptions, SearchResult } from './store.ts';

/**
 * Search by reading: every message of a chat is cut into words, and the words are compared.
 *
 * A query is words and "phrases"; a message matches when it has them all. The last word counts as a beginning, because
 * a person is still typing it. Words are compared without case and accents. Only what people read is searched: the
 * text parts, never the JSON around them, and no reminders, which nobody sees. There is no index, so a search costs one pass over the chat.
 */
export function searchNodes(
  nodes: Iterable<MessageNode>,
  query: string,
  { roles, limit = 20 }: SearchOptions = {},
): SearchResult[] {
  const terms = parseQuery(query);
  if (terms.length === 0) return [];
  const results: SearchResult[] = [];
  for (const message of nodes) {
    if ((roles && !roles.includes(message.name)) || !isVisible(infoOf(message))) continue;
    const result = match(message, terms);
    if (result) results.push(result);
  }
  return results
    .toSorted((a, b) => b.rank - a.rank || b.message.seq - a.message.seq)
    .slice(0, Math.max(limit, 0));
}

/** Words that stand in a row; the last one may be only begun. */
interface Term {
  readonly words: readonly string[];
  readonly isPrefix: boolean;
}

interface Word {
  readonly folded: string;
  readonly start: number;
  readonly end: number;
}

function parseQuery(query: string): Term[] {
  const terms: Term[] = [];
  for (const [i, piece] of query.split('"').entries()) {
    const words = wordsOf(piece).map((word) => word.folded);
    const isPhrase = i % 2 === 1;
    if (isPhrase && words.length > 0) terms.push({ words, isPrefix: false });
    else terms.push(...words.map((word) => ({ words: [word], isPrefix: false })));
  }
  const last = terms.at(-1);
  const isTyping = /[\p{L}\p{M}\p{N}_]$/u.test(query);
  return last && isTyping ? [...terms.slice(0, -1), { ...last, isPrefix: true }] : terms;
}

function wordsOf(text: string): Word[] {
  return Array.from(text.matchAll(/[\p{L}\p{M}\p{N}_]+/gu), ({ 0: word, index }) => {
    return { folded: fold(word), start: index, end: index + word.length };
  });
}

/** A word without case and accents. */
function fold(word: string): string {
  return word.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
}

function match(message: MessageNode, terms: readonly Term[]): SearchResult | undefined {
  const text = textOf(message.data);
  const words = wordsOf(text);
  const hits = terms.map((term) => findAll(words, term));
  const first = hits[0]?.[0];
  if (first === undefined || hits.some((found) => found.length === 0)) return undefined;
  return {
    message,
    rank: rankOf(hits, words.length),
    snippet: snippet(text, words, first, terms[0]?.words.length ?? 1),
  };
}

/** Where a term begins, as places in the list of words. */
function findAll(words: readonly Word[], { words: wanted, isPrefix }: Term): number[] {
  const isAt = (at: number): boolean =>
    wanted.every((word, i) => {
      const here = words[at + i]?.folded;
      return isPrefix && i === wanted.length - 1 ? here?.startsWith(word) : here === word;
    });
  return words.map((_, at) => at).filter(isAt);
}

/** More hits are better, with less and less gain; in a short message they weigh more. */
function rankOf(hits: readonly (readonly number[])[], length: number): number {
  const sum = hits.reduce((rank, found) => rank + Math.log2(1 + found.length), 0);
  return sum / Math.log2(8 + length);
}

const WORDS_AROUND = 12;

function snippet(text: string, words: readonly Word[], first: number, count: number): string {
  const from = Math.max(first - WORDS_AROUND, 0);
  const to = Math.min(first + count + WORDS_AROUND, words.length) - 1;
  const start = from === 0 ? 0 : (words[from] as Word).start;
  const end = to === words.length - 1 ? text.length : (words[to] as Word).end;
  const hit = { start: (words[first] as Word).start, end: (words[first + count - 1] as Word).end };
  const before = (from > 0 ? '…' : '') + escape(text.slice(start, hit.start));
  const after = escape(text.slice(hit.end, end)) + (end < text.length ? '…' : '');
  return `${before}<mark>${escape(text.slice(hit.start, hit.end))}</mark>${after}`;
}

/** Text as HTML, so that the marks are the only markup in a snippet. */
function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
