import { readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai';
import { sameJson } from '../engine/same.ts';
import type { Turn } from './turn.ts';

/** How long a tool call or an approval request is held back for a slow disk, in ms. */
const LONGEST_WAIT = 1000;

/**
 * Saves a tool call or an approval request before the page sees it. The person may press its button, or reload, the moment it
 * shows, so it has to be on the disk by then. If the disk refuses or is slow, it is shown all the same. Resolves to whether it
 * was saved.
 */
export async function keepAhead(turn: Turn, chunks: readonly UIMessageChunk[]): Promise<boolean> {
  const now = (): UIMessage => turn.read() ?? { id: turn.id, role: 'assistant', parts: [] };
  const keep = async (): Promise<boolean> => {
    const before = now();
    const message = await readOn(before, chunks);
    // Another tool call may get a result meanwhile. That result is saved separately and must not be overwritten.
    const isStill = (): boolean => sameJson(now(), before);
    return message !== undefined && isStill() && (await turn.savePoint(message)) && isStill();
  };
  let timer: ReturnType<typeof setTimeout> | undefined;
  const patience = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), LONGEST_WAIT);
  });
  return Promise.race([keep().catch(() => false), patience]).finally(() => clearTimeout(timer));
}

/** A message with some chunks read into it by the AI SDK, which alone knows how. */
async function readOn(before: UIMessage, chunks: readonly UIMessageChunk[]): Promise<UIMessage | undefined> {
  const stream = new ReadableStream<UIMessageChunk>({
    start: (controller) => {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  let message: UIMessage | undefined;
  for await (const next of readUIMessageStream({ message: structuredClone(before), stream })) message = next;
  return message;
}
