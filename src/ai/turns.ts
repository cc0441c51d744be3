/** What a chat needs for its first turn: loaded while the person reads, not while the page opens. */
export { begin, keepList, reveal } from './begin.ts';
