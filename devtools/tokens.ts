import type { UIMessage } from 'ai';
import { estimateTokens } from 'contextree/tokens';
import { partsOf } from './messageText.ts';

/** A message keeps its object until it changes, and so does its estimate. */
const known = new WeakMap<UIMessage, number>();

/** The estimated tokens of a loaded message: its texts, and inputs and outputs of its tools. */
export function estimateOf(message: UIMessage): number {
  let tokens = known.get(message);
  if (tokens === undefined) {
    tokens = partsOf(message).reduce((sum, part) => sum + estimateTokens(wordsIn(part)), 0);
    known.set(message, tokens);
  }
  return tokens;
}

function wordsIn(part: UIMessage['parts'][number]): string {
  if (part.type === 'text' || part.type === 'reasoning') return Object(part).text ?? '';
  const { input, output } = part as { input?: unknown; output?: unknown };
  return [input, output].flatMap((value) => (value === undefined ? [] : JSON.stringify(value))).join(' ');
}
