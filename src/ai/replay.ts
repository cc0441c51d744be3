import type { UIMessage } from 'ai';
import { longer, sizeOf } from './message.ts';
import { endOf, joinAt, type Place } from './seam.ts';

/**
 * How to show an answer that a server repeats: from the beginning of the request, of the whole answer, or only what is new. The
 * protocol does not say which, so the chat keeps the points at which answers were continued, and compares: the first point
 * behind which both agree is the one. Until that is clear, and until the replay says more, the screen shows what is known.
 *
 * `kept` is the answer as it is known, `begun` the point at which it was last continued. Without `isReplay` the AI SDK appends
 * to the answer, so the stream may also begin where it broke off. What the result shows is never shorter than `listed`.
 */
export function replaying(
  kept: UIMessage | undefined,
  begun: Place | undefined,
  isReplay: boolean,
): (message: UIMessage, listed: UIMessage | undefined) => UIMessage {
  if (!kept) return (message) => message;
  const places = [START, ...(begun ? [begun] : []), ...(isReplay ? [] : [endOf(kept)])];
  return (message, listed) => {
    if (message.id !== kept.id) return message;
    const shown = listed?.id === kept.id ? listed : kept;
    const isListed = sizeOf(message) === sizeOf(shown) && wordsOf(message) === wordsOf(shown);
    return longer(shown, isListed ? message : behind(kept, placeOf(message, kept, places), message, begun));
  };
}

const START: Place = { parts: 0, text: 0 };

/** The point in the known answer that a message continues from: the first that agrees with it, or the last. */
function placeOf(message: UIMessage, kept: UIMessage, places: readonly Place[]): Place {
  const [known, said] = [wordsOf(kept), wordsOf(message)];
  const agrees = (place: Place): boolean => {
    const since = known.slice(wordsOf(before(kept, place)).length);
    return since.startsWith(said) || said.startsWith(since);
  };
  return places.find(agrees) ?? places.at(-1) ?? START;
}

function behind(kept: UIMessage, place: Place, message: UIMessage, begun: Place | undefined): UIMessage {
  const cut = before(kept, place === START ? (begun ?? START) : place);
  if (place === START) return joinAt(message, cut);
  const metadata = merged(kept.metadata, message.metadata);
  return joinAt({ ...message, metadata, parts: [...cut.parts, ...message.parts] }, cut);
}

function merged(known: unknown, said: unknown): unknown {
  const areRecords = [known, said].every((one) => typeof one === 'object' && one !== null);
  return areRecords ? { ...(known as object), ...(said as object) } : (said ?? known);
}

function before(message: UIMessage, { parts: count, text }: Place): UIMessage {
  const parts = message.parts.slice(0, count);
  const last = parts.at(-1);
  if (last?.type === 'text' && last.text.length > text)
    parts[count - 1] = { ...last, text: last.text.slice(0, text), state: 'streaming' };
  return { ...message, parts };
}

/** The content of a message as one text, independent of how texts are split and what results calls have. */
function wordsOf({ parts }: UIMessage): string {
  return parts
    .map((part) => {
      if (part.type === 'text') return part.text;
      if (part.type === 'step-start') return '';
      const id = 'toolCallId' in part ? part.toolCallId : '';
      return `\0${part.type}\0${id}\0${'text' in part ? part.text : ''}`;
    })
    .join('');
}
