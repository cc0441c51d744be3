import type { UIMessage } from 'ai';
import type { Turn } from './turn.ts';

/**
 * Where an answer that was cut off goes on.
 *
 * A request for more answers with a text of its own, so a sentence that broke off in one part would go on in another,
 * as a paragraph of its own. The person asked for the rest of the sentence. So the two are shown, and kept, as one.
 */
export interface Seam {
  readonly id: string;
  /** How many parts there were. */
  readonly at: number;
  /** The text that broke off: the last of them. */
  readonly text: string;
}

/** The seam of an answer that is to go on; undefined where there is none, or it did not break off in a text. */
export function seamOf(answer: UIMessage | undefined): Seam | undefined {
  const last = answer?.parts.at(-1);
  if (!answer || last?.type !== 'text' || last.state !== 'streaming') return undefined;
  return { id: answer.id, at: answer.parts.length, text: last.text };
}

/** How an answer is shown that goes on from what it is. */
export function joining<M extends UIMessage>(turn: Turn<M>): (message: M) => M {
  const seam = seamOf(turn.read() ?? turn.answer);
  return (message) => joinAt(message, seam);
}

/** The answer with the text that broke off and the one that goes on as one part; itself where there is no such text. */
export function joinAt<M extends UIMessage>(message: M, seam: Seam | undefined): M {
  if (seam?.id !== message.id) return message;
  const before = message.parts[seam.at - 1];
  const next = message.parts[seam.at]?.type === 'step-start' ? seam.at + 1 : seam.at;
  const after = message.parts[next];
  if (before?.type !== 'text' || after?.type !== 'text' || before.text !== seam.text) return message;
  const whole = { ...before, ...after, text: before.text + after.text };
  return {
    ...message,
    parts: [...message.parts.slice(0, seam.at - 1), whole, ...message.parts.slice(next + 1)],
  };
}
