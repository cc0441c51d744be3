import { readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai';
import { sameJson } from '../engine/same.ts';
import type { Turn } from './turn.ts';

/** How long a question waits for a disk, in ms. */
const LONGEST_WAIT = 1000;

/**
 * Saves what an answer is about to ask of the person or the page. Who sees a button may press it, or reload the page before
 * it: so it is on the disk when it shows, and there again after a reload. A disk that refuses, or takes long, keeps no
 * question back. Resolves to whether it is saved.
 */
export async function keepAhead<M extends UIMessage>(
  turn: Turn<M>,
  chunks: readonly UIMessageChunk[],
): Promise<boolean> {
  const now = (): M => turn.read() ?? ({ id: turn.id, role: 'assistant', parts: [] } as UIMessage as M);
  const keep = async (): Promise<boolean> => {
    const before = now();
    const message = await readOn(before, chunks);
    // A result that another call gives at this moment is saved by that call, and must not be written over.
    const isStill = (): boolean => sameJson(now(), before);
    return message !== undefined && isStill() && (await turn.savePoint(message)) && isStill();
  };
  let timer: ReturnType<typeof setTimeout> | undefined;
  const patience = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), LONGEST_WAIT);
  });
  return Promise.race([keep().catch(() => false), patience]).finally(() => clearTimeout(timer));
}

/** A message with some chunks read into it by the AI SDK, which alone knows what they make of it. */
async function readOn<M extends UIMessage>(
  before: M,
  chunks: readonly UIMessageChunk[],
): Promise<M | undefined> {
  const stream = new ReadableStream<UIMessageChunk>({
    start: (controller) => {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  let message: M | undefined;
  for await (const next of readUIMessageStream<M>({ message: structuredClone(before), stream }))
    message = next;
  return message;
}
