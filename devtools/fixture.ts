import type { UIMessage } from 'ai';
import { partsAfter } from './replayed.ts';
import type { RecordedRequest } from './requests.ts';

/**
 * A Vitest test that replays a recorded request, which it contains with secrets masked. It passes as it is; render the app in
 * it to test what the app makes of that answer.
 */
export async function fixtureOf(request: RecordedRequest): Promise<string> {
  const { messages, chunks, at, trigger } = await request.masked();
  // Not in the text below, where it would look like an import of this very file.
  const entry = ['contextree', 'ai', 'replay'].join('/');
  const { length } = chunks;
  const said = textIn(partsAfter(chunks, length));
  const broken = chunks.findIndex(({ chunk }) => chunk.type === 'error');
  const recorded = JSON.stringify({ chunks, messages }, null, 2);
  return `import { readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai';
import { createReplayTransport } from '${entry}';
import { expect, it } from 'vitest';

// Recorded by the contextree devtools at ${new Date(at).toISOString()}; secrets in it are masked.
const recorded = ${recorded} as unknown as {
  chunks: { ms: number; chunk: UIMessageChunk }[];
  messages: UIMessage[];
};

it('answers as it was recorded', async () => {
  const transport = createReplayTransport(recorded);
  const stream = await transport.sendMessages({
    chatId: 'recorded',
    messages: recorded.messages,
    messageId: undefined,
    trigger: ${JSON.stringify(trigger)},
    abortSignal: undefined,
  });
  let texts: string[] = [];
  for await (const { parts } of readUIMessageStream({ stream${broken < 0 ? '' : ', onError: () => {}'} }))
    texts = parts.map((part) => (part.type === 'text' ? part.text : ''));
  expect(texts.join('')).toBe(${JSON.stringify(said)});
});
`;
}

function textIn(parts: UIMessage['parts'] | readonly UIMessage['parts'][number][]): string {
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}
