import type { IncomingMessage, ServerResponse } from 'node:http';
import type { UIMessage } from 'ai';
import type { Plugin } from 'vite';

/**
 * A chat's server for the tests in Chromium, so that their transports use HTTP, too. Each path answers in its own way: see
 * `ANSWERS`. `GET /chat/growing` returns how many answers it is still writing, and `GET /chat/cut-now` cuts the answer that
 * `/cut` began: a browser that gets the end together with the words may drop the words.
 */
export const chatServer: Plugin = {
  name: 'chat-server',
  configureServer: ({ middlewares }) => {
    middlewares.use('/chat', (request: IncomingMessage, response: ServerResponse) => {
      const answer = ANSWERS[request.url ?? ''];
      if (request.url === '/growing') response.end(String(growing));
      else if (request.url === '/cut-now') {
        cut();
        response.end();
      } else if (answer) void bodyOf(request).then((body) => answer(response, body));
      else response.writeHead(404).end();
    });
  },
};

interface Body {
  readonly system?: string;
  readonly messages: readonly UIMessage[];
}

let growing = 0;
let cut = (): void => {};

/** How a request is answered, by its path. */
const ANSWERS: Readonly<Record<string, (response: ServerResponse, body: Body) => unknown>> = {
  /** An answer that repeats the prompt and the question. */
  '/answer': async (response, { system, messages }) => {
    begin(response);
    for (const delta of [`${messages.length} messages`, ` and `, `"${system}"`]) {
      say(response, { type: 'text-delta', id: 't', delta });
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    end(response);
  },
  /** A word every few milliseconds, as long as the client listens. */
  '/endless': (response) => {
    begin(response);
    growing += 1;
    const timer = setInterval(() => say(response, { type: 'text-delta', id: 't', delta: 'word ' }), 10);
    response.on('close', () => {
      clearInterval(timer);
      growing -= 1;
    });
  },
  '/cut': (response) => {
    begin(response);
    say(response, { type: 'text-delta', id: 't', delta: 'Fir' });
    cut = () => response.destroy();
  },
  '/garbled': (response) => {
    begin(response);
    say(response, { type: 'text-delta', id: 't', delta: 'Fir' });
    response.end('data: {"type":"text-delta","id"\n\n');
  },
  '/refused': (response) => response.writeHead(429, { 'content-type': 'text/plain' }).end('Slow down.'),
  '/text': (response) => response.end('Just words.'),
};

async function bodyOf(request: IncomingMessage): Promise<Body> {
  let json = '';
  for await (const chunk of request) json += String(chunk);
  return JSON.parse(json || '{"messages":[]}') as Body;
}

function begin(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  say(response, { type: 'start' });
  say(response, { type: 'start-step' });
  say(response, { type: 'text-start', id: 't' });
}

function end(response: ServerResponse): void {
  for (const type of ['text-end', 'finish-step', 'finish'])
    say(response, { type, ...(type === 'text-end' && { id: 't' }) });
  response.end('data: [DONE]\n\n');
}

function say(response: ServerResponse, chunk: object): void {
  response.write(`data: ${JSON.stringify(chunk)}\n\n`);
}
