/**
 * What a chat needs as soon as somebody speaks, and not before: loaded while the person reads, not while the page
 * opens.
 */
export { keepAnswer } from './answerCall.ts';
export { waitingCall } from './answered.ts';
export { beginTurn, keepList, reveal } from './begin.ts';
export { edit, regenerate } from './pagers.ts';
export { openQueue } from './queue.ts';
export { refuseMessage, saidOf } from './said.ts';
export { joining } from './seam.ts';
export { takeUp } from './takeUp.ts';
export { request } from './transport.ts';
