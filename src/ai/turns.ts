/** What a chat needs for its first turn: a file of its own, so that a bundler leaves out what only later turns need. */
export { begin } from './request.ts';
