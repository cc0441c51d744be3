import type { UIMessage } from 'ai';
import type { Turn } from './turn.ts';

/**
 * The point at which a cut answer continues.
 *
 * A request for more answers with a text part of its own, so a sentence that broke off in one part would go on in the next, as
 * a new paragraph. The two parts are shown and saved as one.
 */
export interface Seam {
  readonly id: string;
  /** How many parts the answer had. */
  readonly at: number;
  /** The last of them: the text that broke off. */
  readonly text: string;
}

/** The seam of an answer to continue; undefined where it did not break off in a text. */
export function seamOf(answer: UIMessage | undefined): Seam | undefined {
  const last = answer?.parts.at(-1);
  if (!answer || last?.type !== 'text' || last.state !== 'streaming') return undefined;
  return { id: answer.id, at: answer.parts.length, text: last.text };
}

/** Shows a continued answer with the two texts joined. */
export function joining<M extends UIMessage>(turn: Turn<M>): (message: M) => M {
  const seam = seamOf(turn.read() ?? turn.answer);
  return (message) => joinAt(message, seam);
}

/** The answer with the cut text and its continuation as one part; the same object where there is no continuation. */
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
