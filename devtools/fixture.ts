import { partsAfter } from './replayed.ts';
import type { RecordedRequest } from './requests.ts';

/**
 * A Vitest test that replays a recorded request, which it contains with secrets masked. It passes as it is; render the app in
 * it to test what the app makes of that answer.
 */
export async function fixtureOf(request: RecordedRequest): Promise<string> {
  const { messages, chunks, at } = await request.masked();
  // Not in the text below, where it would look like an import of this very file.
  const entry = JSON.stringify('contextree/ai/replay');
  const said = partsAfter({ chunks, messages }, chunks.length).map((part) => Object(part).text ?? '');
  const goesOn = messages.at(-1)?.role === 'assistant';
  return `import { readUIMessageStream } from 'ai';
import { createReplayTransport } from ${entry};
import { expect, it } from 'vitest';

// Recorded at ${new Date(at).toISOString()}, secrets masked.
const recorded: any = ${JSON.stringify({ chunks, messages }, null, 2)};

it('answers as it was recorded', async () => {
  const stream = await createReplayTransport(recorded).sendMessages(recorded);
  let parts: any[] = [];
  for await (const message of readUIMessageStream({ stream${goesOn ? ', message: recorded.messages.at(-1)' : ''}, onError: () => {} })) parts = message.parts;
  expect(parts.map(({ text = '' }) => text).join('')).toBe(${JSON.stringify(said.join(''))});
});
`;
}
