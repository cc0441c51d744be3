/** What a chat needs for its first turn. An entry of its own: the code of later turns imports more of the same file. */
export { begin } from './request.ts';
