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
export function serve(count: (text: string) => number): void {
  addEventListener('message', ({ data }: MessageEvent<Asked>) => {
    const answer: Answered = { id: data.id, counts: data.texts.map((text) => count(text)) };
    postMessage(answer);
  });
}
