/**
 * What a chat needs once there is an answer: regenerating, editing, answering tool calls, queueing, taking up an answer. Loaded
 * behind the first answer, or on first use.
 */
export { askAgain, edit, regenerate, run, sendInPlace } from './again.ts';
export { giveResult, giveWord } from './calls.ts';
export { Queue } from './queue.ts';
export { refuseMessage, refuseStream } from './refusals.ts';
export { joinAt, keepPlace } from './seam.ts';
export { toSendable } from './modelPrompt.ts';
export { takeUpIn } from './resume.ts';
