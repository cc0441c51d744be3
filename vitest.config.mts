import { storybookTest } from '@storybook/addon-vitest/vitest-plugin';
import react from '@vitejs/plugin-react';
import { playwright } from '@vitest/browser-playwright';
import { defineConfig } from 'vitest/config';
import { findBrowser, launchArgs } from './scripts/browser.mjs';
import { aliases, root } from './scripts/entries.mjs';

const elsewhere = ['test/browser/**', 'test/package/**', 'test/e2e/**'];
const resolve = { alias: aliases };

const chromium = {
  enabled: true,
  headless: true,
  screenshotFailures: false,
  provider: playwright({ launchOptions: { executablePath: findBrowser() ?? '', args: launchArgs() } }),
  instances: [{ browser: 'chromium' as const }],
};

export default defineConfig({
  test: {
    projects: [
      {
        resolve,
        test: { name: 'node', environment: 'node', include: ['test/**/*.test.ts'], exclude: elsewhere },
      },
      {
        plugins: [react()],
        resolve,
        test: { name: 'happy', environment: 'happy-dom', include: ['test/**/*.test.tsx'], exclude: elsewhere },
      },
      {
        plugins: [react()],
        resolve,
        // A cross-origin isolated page has a clock of microseconds; without these the benches measure its ticks.
        server: {
          headers: {
            'Cross-Origin-Opener-Policy': 'same-origin',
            'Cross-Origin-Embedder-Policy': 'require-corp',
          },
        },
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.{ts,tsx}'],
          benchmark: { include: ['test/bench/**/*.bench.ts'] },
          browser: chromium,
        },
      },
      {
        plugins: [storybookTest({ configDir: `${root}/.storybook` })],
        test: { name: 'storybook', browser: chromium },
      },
      {
        test: { name: 'package', environment: 'node', include: ['test/package/**/*.test.ts'], testTimeout: 60_000 },
      },
    ],
    coverage: { provider: 'v8', include: ['src/**', 'devtools/**'], reporter: ['text-summary', 'json-summary'] },
  },
});
