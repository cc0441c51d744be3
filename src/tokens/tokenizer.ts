/** Counts the tokens that a model would read a text as. */
export interface Tokenizer {
  /** The encoding, as panels show it: `o200k`, `~` for the estimate. */
  readonly name: string;
  /** Whether counts are those of a real encoding, or an estimate of it. */
  readonly exact: boolean;
  /** Tokens in the text; 0 for an empty one. */
  count(text: string): number;
}

/** About how many tokens a text is. */
export function estimateTokens(text: string): number {
  return Math.ceil(text.length / 4);
}
