import { asText, type CountTokens } from './encoding.ts';

/** A question to a counting Worker. */
export interface Asked {
  readonly id: number;
  readonly texts: readonly string[];
}

/** Its answer: tokens of each text, in the question's order. */
export interface Answered {
  readonly id: number;
  readonly counts: readonly number[];
}

/** Answers the questions that this Worker is sent. */
export function serve(countTokens: CountTokens): void {
  addEventListener('message', ({ data: { id, texts } }: MessageEvent<Asked>) => {
    const answer: Answered = { id, counts: texts.map((text) => countTokens(text, asText)) };
    postMessage(answer);
  });
}
