import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, it } from 'vitest';

// A provider from `contextree` must be seen by a hook from `contextree/ai`: two copies of the context would each
// work alone and never meet. Run by Node from the unpacked tarball, where nothing but package.json leads the way.

const app = `
  import { createElement } from 'react';
  import { renderToString } from 'react-dom/server';
  import { ContextEngineProvider } from 'contextree';
  import { useContextChat } from 'contextree/ai';

  const transport = { sendMessages: async () => new ReadableStream(), reconnectToStream: async () => null };

  function Chat() {
    useContextChat({ transport });
    return 'chat';
  }

  function outcome(element) {
    try {
      return renderToString(element);
    } catch (error) {
      return error.code;
    }
  }

  const inside = createElement(ContextEngineProvider, { chatId: 'c', userId: 'u' }, createElement(Chat));
  console.log(JSON.stringify({ inside: outcome(inside), outside: outcome(createElement(Chat)) }));
`;

it('is one context, whichever entry asks for it', () => {
  const file = join(inject('installed'), 'app.mjs');
  writeFileSync(file, app);
  const printed = execFileSync(process.execPath, [file], {
    encoding: 'utf8',
    env: { NODE_ENV: 'production' },
  });
  expect(JSON.parse(printed)).toEqual({ inside: 'chat', outside: 'provider-missing' });
});
