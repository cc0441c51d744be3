/**
 * What a chat needs as soon as somebody speaks, and not before: loaded while the person reads, not while the page
 * opens.
 */
export { answered, waitingCall } from './answered.ts';
export { longer } from './goingOn.ts';
export { newWords } from './newWords.ts';
export { planTurn, savedSince } from './plan.ts';
export { saidOf } from './said.ts';
export { joining } from './seam.ts';
export { takeUp } from './takeUp.ts';
export { openTurn, request, savedIn } from './transport.ts';
export { keepMessage, Turn } from './turn.ts';
