/** What a chat needs as soon as somebody speaks: loaded while the person reads, not while the page opens. */
export { begin, keepList, reveal } from './begin.ts';
