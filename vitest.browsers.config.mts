import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { aliases } from './scripts/entries.mjs';
import { otherBrowser } from './scripts/otherBrowsers.mjs';

// What is promised about stored data, in the engines that `npm test` leaves out: `npm run test:browsers`; and what it
// costs there: `vitest bench --run --config vitest.browsers.config.mts`. A private window has no disk to wait for.

const names = ['firefox', 'webkit', 'webkit-private'] as const;

export default defineConfig({ test: { projects: names.map(inOther), fileParallelism: false } });

function inOther(name: (typeof names)[number]): TestProjectInlineConfiguration {
  return {
    resolve: { alias: aliases },
    optimizeDeps: { include: ['idb', 'zustand', 'zustand/vanilla'] },
    test: {
      name,
      // As elsewhere: what comes by itself is waited for, on a slow machine too.
      expect: { poll: { timeout: 15_000 } },
      include: ['test/browser/store.test.ts'],
      benchmark: { include: name === 'webkit-private' ? [] : ['test/bench/storage.bench.ts'] },
      browser: {
        enabled: true,
        headless: false,
        ui: false,
        screenshotFailures: false,
        provider: otherBrowser(name),
        instances: [{ browser: name === 'firefox' ? name : 'webkit' }],
      },
    },
  };
}
