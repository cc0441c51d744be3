/**
 * What a chat needs as soon as somebody speaks, and not before: loaded while the person reads, not while the page
 * opens.
 */
export { answered, waitingCall } from './answered.ts';
export { longer } from './goingOn.ts';
export { newWords } from './newWords.ts';
export { openList } from './openList.ts';
export { saidOf } from './said.ts';
export { joining } from './seam.ts';
export { takeUp } from './takeUp.ts';
export { request } from './transport.ts';
export { keepMessage, Turn } from './turn.ts';
