/** What a chat needs for its first turn: loaded while the person reads, after the page has opened. */
export { begin } from './request.ts';
