import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A provider on this machine, in the wire formats that the guides meet: OpenAI's chat completions as a stream of
 * server-sent events, with tools, under `/v1`; the same behind a key, under `/keyed/v1`; and Ollama's list of models.
 *
 * What it says follows from what it was asked: the system prompt, the question and how many requests there were, so
 * that a prompt that did not arrive, or an answer that was not asked for, shows on the page.
 */
export interface Provider {
  readonly url: string;
  readonly close: () => void;
}

/** The key that the keyed address knows. */
export const KEY = 'sk-guide';

interface Message {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string | readonly { readonly text?: string }[] | null;
}

interface Request {
  readonly model: string;
  readonly messages: readonly Message[];
  readonly stream?: boolean;
  readonly tools?: readonly unknown[];
}

/** Starts one, on a free port of this machine. */
export async function startProvider(): Promise<Provider> {
  let asked = 0;
  const server = createServer((request, response) => {
    response.setHeader('access-control-allow-origin', '*');
    response.setHeader('access-control-allow-headers', '*');
    if (request.method === 'OPTIONS') response.writeHead(204).end();
    else if (request.url === '/api/tags') response.end(JSON.stringify({ models: [{ name: 'tiny:1b' }] }));
    else if (request.url === '/keyed/v1/chat/completions' && !hasKey(request)) refuse(response);
    else if (request.url?.endsWith('/v1/chat/completions')) {
      asked += 1;
      void complete(request, response, asked);
    } else response.writeHead(404).end();
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}

function hasKey({ headers }: IncomingMessage): boolean {
  return headers.authorization === `Bearer ${KEY}`;
}

function refuse(response: ServerResponse): void {
  const error = {
    message: 'Incorrect API key provided.',
    type: 'invalid_request_error',
    code: 'invalid_api_key',
  };
  response.writeHead(401, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));
}

async function complete(request: IncomingMessage, response: ServerResponse, asked: number): Promise<void> {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  const { model, messages, tools } = JSON.parse(body) as Request;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (choice: object): void => {
    const chunk = {
      id: `chatcmpl-${asked}`,
      object: 'chat.completion.chunk',
      created: Math.floor(Date.now() / 1000),
      model,
      system_fingerprint: 'fp_guides',
      choices: [{ index: 0, finish_reason: null, ...choice }],
    };
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  };
  send({ delta: { role: 'assistant', content: '' } });
  const question = textOf(messages.findLast(({ role }) => role === 'user'));
  const isAsking = tools !== undefined && question.includes('mail') && messages.at(-1)?.role === 'user';
  if (isAsking) callTool(send, asked);
  else await say(send, answer(messages, question, asked), question.includes('slow') ? 150 : 5, request);
  send({ delta: {}, finish_reason: isAsking ? 'tool_calls' : 'stop' });
  response.end('data: [DONE]\n\n');
}

function callTool(send: (choice: object) => void, asked: number): void {
  const call = { index: 0, id: `call_${asked}`, type: 'function' };
  const [name, begun, rest] = ['sendMail', '{"to":"Ada",', '"text":"Hello Ada"}'];
  send({ delta: { tool_calls: [{ ...call, function: { name, arguments: '' } }] } });
  for (const part of [begun, rest])
    send({ delta: { tool_calls: [{ index: 0, function: { arguments: part } }] } });
}

async function say(
  send: (choice: object) => void,
  text: string,
  ms: number,
  { socket }: IncomingMessage,
): Promise<void> {
  for (const word of text.match(/\s*\S+/g) ?? []) {
    if (socket.destroyed) return;
    send({ delta: { content: word } });
    await new Promise((resolve) => setTimeout(resolve, ms));
  }
}

function answer(messages: readonly Message[], question: string, asked: number): string {
  const result = messages.at(-1);
  if (result?.role === 'tool') return `The tool said ${textOf(result)}.`;
  const system = textOf(messages.find(({ role }) => role === 'system')).replaceAll(/<[^>]*>|\s+/g, ' ');
  return `I was told:${system}. You asked: ${question} This is answer ${asked}, and it goes on for a few more words.`;
}

function textOf(message: Message | undefined): string {
  const content = message?.content ?? '';
  return typeof content === 'string' ? content : content.map(({ text = '' }) => text).join('');
}
