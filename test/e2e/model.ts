import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Demo } from './demo.ts';

/** A model behind an address: it says the first words of an answer at once, and the last ones when it is told to. */
export class HeldModel {
  readonly #server = createServer((request, response) => {
    response.writeHead(200, {
      'access-control-allow-origin': '*',
      'access-control-allow-headers': '*',
      'content-type': 'text/event-stream',
    });
    if (request.method === 'OPTIONS') response.end();
    else {
      response.write(piece('A river bends where its bank', null));
      void this.#told.promise.then(() => response.end(`${piece(' gives way.', 'stop')}data: [DONE]\n\n`));
    }
  });
  readonly #told = Promise.withResolvers<void>();

  /** Starts it, and names it in the model settings of the demo. */
  static async behind(demo: Demo): Promise<HeldModel> {
    const model = new HeldModel();
    await new Promise<void>((resolve) => model.#server.listen(0, '127.0.0.1', resolve));
    const { port } = model.#server.address() as AddressInfo;
    const dialog = await demo.fillSettings({ baseUrl: `http://127.0.0.1:${port}/v1`, key: 'sk' });
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    return model;
  }

  /** Ends the answer, and the model with it. */
  end(): void {
    this.#told.resolve();
    this.#server.close();
  }
}

function piece(content: string, reason: 'stop' | null): string {
  const choice = { index: 0, delta: { role: 'assistant', content }, finish_reason: reason };
  return `data: ${JSON.stringify({ id: '1', choices: [choice] })}\n\n`;
}
