import { spawn } from 'node:child_process';
import { root } from './entries.mjs';

/**
 * Serves the built demo on a port of this machine; `npm run build:demo` comes first. Call `close` to end it. Throws where it
 * is not served within ten seconds.
 * @param {number} port
 * @returns {Promise<{ readonly origin: string, readonly close: () => void }>}
 */
export async function serveDemo(port) {
  const origin = `http://127.0.0.1:${port}/`;
  const server = spawn(
    'vite',
    [
      'preview',
      '--config',
      'vite.demo.config.mts',
      '--host',
      '127.0.0.1',
      '--port',
      `${port}`,
      '--strictPort',
    ],
    { cwd: root, stdio: 'ignore' },
  );
  const isServed = () =>
    fetch(origin).then(
      () => true,
      () => false,
    );
  for (let tries = 0; tries < 50; tries += 1) {
    if (await isServed()) return { origin, close: () => void server.kill() };
    await new Promise((done) => setTimeout(done, 200));
  }
  server.kill();
  throw new Error('The demo is not served: is it built?');
}
