import * as ai from 'ai';
import type { UIMessage, UIMessageChunk } from 'ai';
import { describe, expect, it } from 'vitest';
import { role } from '../../src/fragment/builders.ts';
import { settle } from '../support/transport.ts';
import { openPage, SDK, words, type Page } from './story.ts';

interface Frame {
  readonly type: 'send' | 'resume' | 'abort';
  readonly requestId: string;
  readonly messages: UIMessage[];
  readonly body: object;
}

/** A socket whose other end is the test. */
class Socket {
  static last: Socket | undefined;
  readonly readyState = 1;
  readonly bufferedAmount = 0;
  readonly frames: Frame[] = [];
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: string }) => void) | null = null;
  onclose: ((event: { code: number; reason: string }) => void) | null = null;
  onerror: (() => void) | null = null;
  #sequence = 0;

  constructor() {
    Socket.last = this;
    queueMicrotask(() => this.onopen?.());
  }

  send(text: string): void {
    this.frames.push(JSON.parse(text) as Frame);
  }

  close(): void {
    this.onclose?.({ code: 1006, reason: '' });
  }

  /** Answers the newest request. */
  async say(...chunks: UIMessageChunk[]): Promise<void> {
    const { requestId } = this.frames.at(-1) as Frame;
    const tell = (frame: object): void => this.onmessage?.({ data: JSON.stringify({ requestId, ...frame }) });
    for (const chunk of chunks) {
      if (this.#sequence === 0) tell({ type: 'start' });
      tell({ type: 'chunk', sequence: this.#sequence, chunk });
      this.#sequence += 1;
      if (chunk.type === 'finish') tell({ type: 'end' });
    }
    for (let pause = 0; pause < 5; pause += 1) await settle();
  }
}

const first: UIMessageChunk[] = [
  { type: 'start' },
  { type: 'text-start', id: 't' },
  { type: 'text-delta', id: 't', delta: 'Fir' },
];
const rest: UIMessageChunk[] = [
  { type: 'text-delta', id: 't', delta: 'st.' },
  { type: 'text-end', id: 't' },
  { type: 'finish' },
];

async function asked(): Promise<{ page: Page; sent: Promise<void> }> {
  const before = Socket.last;
  const transport = new ai.WebSocketChatTransport<UIMessage>({
    url: 'ws://127.0.0.1/chat',
    webSocket: Socket as never,
  });
  const page = await openPage(undefined, { transport });
  page.engine.set(role('You are a tutor.'));
  const sent = page.chats.active.sendMessage({ text: 'One?' });
  await expect.poll(() => Socket.last !== before && Socket.last?.frames.length).toBe(1);
  return { page, sent };
}

// The transport came with AI SDK 7.
describe.runIf(SDK > 6)('over a WebSocket', () => {
  it('each request carries the system prompt and the conversation', async () => {
    const { page, sent } = await asked();
    const [frame] = Socket.last!.frames;
    expect(frame).toMatchObject({ type: 'send', id: 'c', body: { system: page.engine.render() } });
    expect(words(frame!.messages)).toBe('q: One?');
    await Socket.last!.say(...first, ...rest);
    await sent;
    expect(await page.stored()).toBe('q: One? | a: First.');
  });

  it('a socket that dies leaves the words, and what is said again comes to the same node', async () => {
    const { page, sent } = await asked();
    await Socket.last!.say(...first);
    Socket.last!.close();
    await sent;
    await page.chats.whenSettled();
    expect(page.chats.active.status).toBe('error');
    expect(await page.stored()).toBe('q: One? | a: Fir');
    const { id } = page.chats.active.messages[1]!;
    const resumed = page.chats.active.resumeStream();
    await expect.poll(() => Socket.last!.frames.at(-1)?.type).toBe('resume');
    await Socket.last!.say(...first, ...rest);
    await resumed;
    expect(await page.stored()).toBe('q: One? | a: First.');
    expect(page.engine.status(id)).toBe('complete');
  });
});
