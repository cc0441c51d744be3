import { defineConfig } from '@playwright/test';
import { findBrowser, launchArgs } from '../../scripts/browser.mjs';

// `npm run test:guides` builds and serves the guides first, and says where each of them is.

const executablePath = findBrowser();

export default defineConfig({
  testDir: '.',
  testMatch: '*.spec.ts',
  outputDir: '../../node_modules/.cache/playwright-guides',
  forbidOnly: true,
  fullyParallel: true,
  workers: 2,
  timeout: 60_000,
  expect: { timeout: 15_000 },
  reporter: 'list',
  use: { launchOptions: { ...(executablePath ? { executablePath } : {}), args: launchArgs() } },
});
