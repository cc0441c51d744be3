/**
 * What a chat needs once there is an answer, and not before: to ask again, to edit, to answer calls of tools, to queue, to
 * take up an answer. Loaded behind the first answer, or with the first need.
 */
export { giveResult, giveWord } from './calls.ts';
export { keepAhead } from './keepAhead.ts';
export { edit, regenerate } from './pagers.ts';
export { Queue } from './queue.ts';
export { refuseMessage, refuseStream } from './refusals.ts';
export { joining } from './seam.ts';
export { toSendable } from './sendable.ts';
export { keepPlace } from './place.ts';
export { run } from './run.ts';
export { takeUpIn } from './resume.ts';
