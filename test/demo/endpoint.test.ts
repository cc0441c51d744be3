import { afterEach, expect, test, vi } from 'vitest';
import { testConnection } from '../../stories/demo/settings/endpoint.ts';

const settings = {
  baseUrl: 'http://localhost:1/v1',
  model: 'm',
  apiKey: '',
  ownModel: false,
  keepKey: false,
};

afterEach(() => vi.unstubAllGlobals());

/** An endpoint that says these pieces of an answer, and ends. */
function endpointSaying(...choices: readonly object[]): void {
  const events = choices.map((choice) => `data: ${JSON.stringify({ id: '1', choices: [choice] })}\n\n`);
  const body = `${events.join('')}data: [DONE]\n\n`;
  vi.stubGlobal(
    'fetch',
    async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } }),
  );
}

test('an endpoint that says a word is connected', async () => {
  endpointSaying({ index: 0, delta: { content: 'Hello' } }, { index: 0, delta: {}, finish_reason: 'stop' });
  expect(await testConnection(settings)).toEqual({ works: true, words: 'Connected. m answers.' });
});

test('an endpoint that ends without a word is not', async () => {
  endpointSaying({ index: 0, delta: {}, finish_reason: 'stop' });
  const { works, words } = await testConnection(settings);
  expect([works, words]).toEqual([false, expect.stringMatching(/without a word.*base URL/)]);
});
