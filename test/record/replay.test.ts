import { readUIMessageStream, type UIMessage } from 'ai';
import { describe, expect, it, vi } from 'vitest';
import { createReplayTransport, type ReplayOptions } from '../../src/record/replay.ts';
import type { RecordedRequest } from '../../src/record/record.ts';
import { openPlainly } from '../ai/story.ts';
import { recordingPage, textOf } from './provider.ts';

/** A request that was answered in three words. */
async function recorded(...words: string[]): Promise<RecordedRequest> {
  const page = await recordingPage();
  await page.ask('One?', ...words);
  return page.engine.requests()[0]!;
}

const SENT = {
  chatId: 'c',
  messages: [],
  messageId: undefined,
  trigger: 'submit-message' as const,
  abortSignal: undefined,
};

async function answer(record: RecordedRequest, options?: ReplayOptions): Promise<string> {
  const stream = await createReplayTransport(record, options).sendMessages(SENT);
  let last: UIMessage | undefined;
  for await (const message of readUIMessageStream({ stream, terminateOnError: true })) last = message;
  return textOf(last);
}

describe('a replay', () => {
  it('answers at once as it was answered', async () => {
    expect(await answer(await recorded('Yes,', ' of', ' course.'))).toBe('Yes, of course.');
  });

  it('takes the time that it took', async () => {
    const record = await recorded('Yes,', ' of', ' course.');
    const slow = { ...record, chunks: record.chunks.map(({ chunk }, i) => ({ chunk, ms: i * 100 })) };
    vi.useFakeTimers();
    const said = answer(slow, { pace: 'recorded' });
    let isOver = false;
    void said.then(() => (isOver = true));
    await vi.advanceTimersByTimeAsync((record.chunks.length - 1) * 100 - 10);
    expect(isOver).toBe(false);
    await vi.advanceTimersByTimeAsync(20);
    vi.useRealTimers();
    expect(await said).toBe('Yes, of course.');
  });

  it('goes on step by step', async () => {
    const record = await recorded('Yes.');
    const transport = createReplayTransport(record, { pace: 'step' });
    const reader = (await transport.sendMessages(SENT)).getReader();
    const first = reader.read();
    transport.step();
    transport.step();
    expect((await first).value).toEqual(record.chunks[0]!.chunk);
    expect((await reader.read()).value).toEqual(record.chunks[1]!.chunk);
  });

  it('fails at a part, and keeps what was said in a chat, as a real answer that broke off', async () => {
    const record = await recorded('Yes,', ' of', ' course.');
    const at = record.chunks.findIndex(({ chunk }) => chunk.type === 'text-delta') + 1;
    await expect(answer(record, { failAt: at })).rejects.toThrow(`fails at part ${at}`);
    const page = await openPlainly(undefined, {
      transport: createReplayTransport(record, { failAt: at }),
      onError: () => {},
    });
    await page.chats.active.sendMessage({ text: 'Again?' });
    await page.chats.whenSettled();
    expect(page.shown()).toBe('q: Again? | a: Yes,');
  });

  it('stops when it is aborted', async () => {
    const control = new AbortController();
    const stream = await createReplayTransport(await recorded('Yes.'), { pace: 'recorded' }).sendMessages({
      ...SENT,
      abortSignal: control.signal,
    });
    control.abort(new Error('enough'));
    await expect(stream.getReader().read()).rejects.toThrow('enough');
  });
});

describe('a record that is shown to others', () => {
  const key = `sk-ant-api03-${'aB3dE5gH7jK9mN1p'.repeat(5)}-AA`;

  it('has no secrets in it, also none that came word by word', async () => {
    const page = await recordingPage({
      request: ({ messages }) => ({ body: { note: `my key is ${key}` }, messages }),
    });
    await page.ask(`Is ${key} right?`, 'It is ', key.slice(0, 20), key.slice(20), ', yes.');
    const [record] = page.engine.requests();
    const masked = await record!.masked();
    expect(JSON.stringify(record)).toContain(key);
    expect(JSON.stringify(masked)).not.toContain(key.slice(20, 60));
    expect(await answer(masked)).toMatch(/^It is \[.+\], yes\.$/);
    expect(masked.chunks.map(({ ms }) => ms)).toEqual(record!.chunks.map(({ ms }) => ms));
  });
});
