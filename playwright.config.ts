import { createServer } from 'node:net';
import { defineConfig } from '@playwright/test';
import { briefPages, findBrowser, launchArgs } from './scripts/browser.mjs';

// The demo, built and served as a user would meet it. `npm run build:demo` comes first.

/** A port nobody listens on. Workers read this file as well, so the first answer is kept for them. */
async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('The system gave no port.');
  return String(address.port);
}

const port = (process.env.CONTEXTREE_E2E_PORT ??= await freePort());
const baseURL = `http://127.0.0.1:${port}`;
const executablePath = findBrowser();

export default defineConfig({
  testDir: 'test/e2e',
  outputDir: 'node_modules/.cache/playwright',
  forbidOnly: true,
  workers: 2,
  // A machine that runs everything at once is slow, not wrong.
  timeout: 90_000,
  expect: { timeout: 15_000 },
  reporter: process.env.PLAYWRIGHT_JSON_OUTPUT_FILE ? [['list'], ['json']] : 'list',
  use: {
    baseURL,
    contextOptions: { baseURL, serviceWorkers: 'block' },
    launchOptions: { ...(executablePath ? { executablePath } : {}), args: [...launchArgs(), briefPages] },
  },
  webServer: {
    command: `vite preview --config vite.demo.config.mts --host 127.0.0.1 --port ${port} --strictPort`,
    url: baseURL,
  },
});
