import react from '@vitejs/plugin-react';
import { playwright } from '@vitest/browser-playwright';
import { defineConfig, type Plugin, type TestProjectInlineConfiguration } from 'vitest/config';
import { BaseSequencer, type BrowserConfigOptions, type TestSpecification } from 'vitest/node';
import { briefPages, findBrowser, launchArgs } from './scripts/browser.mjs';
import { aliases, root } from './scripts/entries.mjs';

/** These put another database in the place of the global one, or have little room for the arguments of a call. */
const apart = ['test/store/**/*.test.ts', 'test/tokens/tokenizer.test.ts'];
/** A worker for each: a database where there is none, a part that counts how often it is rendered, code that is counted. */
const alone = [
  'test/react/{default,refused}Store.test.tsx',
  'test/demo/renders.test.tsx',
  'test/store/many.test.ts',
];
/** As apps ship, and the demo: with the React Compiler and on React's production build, which is also half the work. */
const compiled = ['test/apps/{compiled,fuzz,planted,suite}.test.tsx', 'test/demo/**/*.test.tsx'];
const productionJsx = { find: 'react/jsx-dev-runtime', replacement: `${root}/test/support/jsx.ts` };
/**
 * Told of chats on a page. `CHATS: 'app'` tells them of the chats of an app: on AI SDK 5, 6 and 7 through the React Compiler,
 * and those in which a browser has a part on 7 in Chromium. Without it they are told of bare chats, which people may also have:
 * once, on 7.
 */
const chats = 'test/ai/*.test.ts';
/** Locks, tabs and pages of messages, in which no version of the SDK has a part, and React's own pages: told on the newest. */
const alike = [
  'test/ai/{elsewhere,laptop,list,relay,reminders,unread,world}.test.ts',
  'test/apps/{panel,react}.test.tsx',
];
/** What is other in one version than in the next (approvals, results, what a stream may say, resuming), and the app as a whole. */
const unlike = [
  'test/ai/{asked,badInput,local,resume,tools}.test.ts',
  'test/apps/{fuzz,same,suite}.test.tsx',
];
/** In which a browser has a part: files, streams that break, pages that are hidden. The others take three times as long there. */
const inChromium = 'test/ai/{attachments,elsewhere,local,resume,transport}.test.ts';
const elsewhere = ['test/browser/**', 'test/bench/**', 'test/package/**', 'test/e2e/**'];
const resolve = { alias: aliases };

/**
 * Packages as users have them. Vitest asks Node for their developers' builds, and that of the parser of Markdown takes
 * a fifth longer; what React warns of depends on NODE_ENV, and stays.
 */
const asPublished: Plugin = {
  name: 'as-published',
  configResolved: ({ ssr }) => {
    if (ssr.resolve) ssr.resolve.conditions = ['node'];
  },
};
const plugins = [asPublished];

/** In a thread instead of a process of its own, a worker begins in half the time: Node is there already. */
const pool = 'threads';

/** A machine that runs everything at once is slow, not wrong. */
const patience = 60_000;
/** How long what comes by itself is waited for; it was a second. `test/support/patience.ts` says so to other waits. */
const slowly = { poll: { timeout: 15_000 } };

// Bundled for the browser before the first test: a dependency that is met later reloads the page under a test.
const optimizeDeps = {
  include: [
    '@ai-sdk/openai-compatible',
    '@ai-sdk/react',
    '@testing-library/react',
    '@testing-library/user-event',
    'ai',
    'ai/test',
    'fast-check',
    'gpt-tokenizer/encoding/o200k_base',
    'idb',
    'react',
    'react-dom',
    'react-dom/client',
    'react-dom/server',
    'react-dom/server.browser',
    'react-markdown',
    'react/jsx-dev-runtime',
    'react/jsx-runtime',
    'remark-gfm',
    'vitest-browser-react',
    'zod',
    'zustand',
    'zustand/vanilla',
  ],
};

/** Pages on React's production build: half the work. What its other build warns of, the projects without a browser see. */
const production = {
  define: { 'process.env.NODE_ENV': '"production"' },
  resolve: { alias: [...aliases, productionJsx] },
  optimizeDeps: {
    ...optimizeDeps,
    rolldownOptions: { transform: { define: { 'process.env.NODE_ENV': '"production"' } } },
  },
};

/** Whether a project was asked for. Finding a browser and reading the stories take seconds, so only then. */
function asked(project: string): boolean {
  const flag = process.argv.findIndex((arg) => arg.startsWith('--project'));
  return (
    flag < 0 || process.argv.slice(flag).some((arg) => arg.replace('--project=', '').startsWith(project))
  );
}

/** Each by itself: what a file among them imports is run for the first file of tests only. */
const onePage = ['page', 'ownPage'].map((name) => `${root}/test/support/${name}.ts`);

const isBench = process.argv.includes('bench');

/** The chat tests in an app on an older AI SDK: 5 and 6 are installed beside 7 under names of their own. */
function onSdk(major: 5 | 6): TestProjectInlineConfiguration {
  const [ai, hooks] = [`ai-v${major}`, `ai-sdk-react-v${major}`];
  const older = [
    { find: /^ai(?=$|\/)/, replacement: ai },
    { find: /^@ai-sdk\/react$/, replacement: hooks },
  ];
  return {
    resolve: { alias: [...aliases, ...older] },
    plugins: [asPublished, react({ compiler: true })],
    test: {
      name: `sdk${major}`,
      testTimeout: patience,
      expect: slowly,
      environment: 'happy-dom',
      pool,
      // Half the time: these files need nothing that another one of them leaves behind.
      isolate: false,
      setupFiles: `${root}/test/support/page.ts`,
      // All that a version has a part in on the oldest and the newest. Between them: what changed on the way.
      include: major === 6 ? unlike : ['test/{ai,apps}/**/*.test.{ts,tsx}'],
      // Types are checked against the one that is installed.
      exclude: ['test/ai/types.test.ts', ...alike],
      env: { AI_SDK: String(major), CHATS: 'app' },
      // Not left to Node, so that their own imports of `ai` are led to the same copy.
      server: { deps: { inline: [new RegExp(`/node_modules/(${ai}|${hooks})/`)] } },
    },
  };
}

function chromium(): BrowserConfigOptions {
  const executablePath = findBrowser();
  if (!executablePath) throw new Error('No browser for the tests: `node scripts/browser.mjs` installs one.');
  return {
    enabled: true,
    headless: true,
    screenshotFailures: false,
    provider: playwright({
      launchOptions: { executablePath, args: [...launchArgs(), ...(isBench ? [] : [briefPages])] },
    }),
    instances: [{ browser: 'chromium' }],
  };
}

function inBrowser(): TestProjectInlineConfiguration {
  return {
    resolve,
    optimizeDeps,
    // A cross-origin isolated page has a clock of microseconds; without these the benches measure its ticks.
    server: {
      headers: {
        'Cross-Origin-Opener-Policy': 'same-origin',
        'Cross-Origin-Embedder-Policy': 'require-corp',
      },
    },
    test: {
      name: 'browser',
      testTimeout: patience,
      expect: slowly,
      include: ['test/browser/**/*.test.{ts,tsx}', inChromium, 'test/apps/{panel,react,same,suite}.test.tsx'],
      setupFiles: isBench ? [] : `${root}/test/support/page.ts`,
      benchmark: { include: ['test/bench/**/*.bench.{ts,tsx}'] },
      browser: chromium(),
      env: { CHATS: 'app', ...handedOn('FIRST', 'STORIES') },
      // One page for all of a worker: to open one for each file takes a third longer. What is measured has its own.
      isolate: isBench,
    },
  };
}

/** These variables, where they are set. */
function handedOn(...names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
}

async function stories(): Promise<TestProjectInlineConfiguration> {
  const { storybookTest } = await import('@storybook/addon-vitest/vitest-plugin');
  return {
    plugins: [storybookTest({ configDir: `${root}/.storybook` })],
    ...production,
    // One page for all stories: each cleans up after itself.
    test: { name: 'storybook', testTimeout: patience, isolate: false, browser: chromium() },
  };
}

/**
 * What takes longest begins first, so that nobody waits for it in the end. Vitest knows from the last run what that is; in
 * a fresh clone it goes by the size of files, and the longest are the smallest: their tests lie in test/support.
 */
class SuitesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- it is no array
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => Number(isSuite(b)) - Number(isSuite(a)));
  }
}

function isSuite({ moduleId, project }: TestSpecification): boolean {
  return SUITES[project.name]?.test(moduleId) ?? false;
}

const SUITES: Readonly<Record<string, RegExp>> = {
  'browser (chromium)': /browser\/store\.test/,
  compiled: /apps\/fuzz\.test/,
  store: /store\/indexeddb\.test/,
};

export default defineConfig({
  test: {
    sequence: { sequencer: SuitesFirst },
    projects: [
      {
        resolve,
        plugins,
        test: {
          name: 'node',
          expect: slowly,
          environment: 'node',
          include: ['test/**/*.test.ts'],
          exclude: [...elsewhere, ...apart, chats],
          testTimeout: patience,
          // A quarter less work: these files leave nothing behind that another one minds.
          isolate: false,
        },
      },
      {
        resolve,
        plugins,
        test: {
          name: 'store',
          environment: 'node',
          include: apart,
          exclude: alone,
          isolate: false,
          testTimeout: patience,
          expect: slowly,
          // A quarter of the usual one, in kB: what spreads a long list into a call fails with a quarter of its length.
          execArgv: ['--stack-size=240'],
        },
      },
      {
        resolve,
        plugins,
        test: {
          name: 'happy',
          expect: slowly,
          // The panel's stories open and close it many times over.
          testTimeout: patience,
          environment: 'happy-dom',
          pool,
          isolate: false,
          setupFiles: onePage,
          include: ['test/**/*.test.tsx', chats],
          // On 7 the app is looked at in Chromium.
          exclude: [...elsewhere, ...alone, ...compiled, 'test/apps/**'],
          env: { AI_SDK: '7' },
        },
      },
      {
        resolve,
        plugins,
        test: {
          name: 'alone',
          testTimeout: patience,
          environment: 'happy-dom',
          pool,
          setupFiles: onePage,
          include: alone,
        },
      },
      {
        plugins: [react({ compiler: true })],
        resolve: { alias: [...aliases, productionJsx] },
        test: {
          name: 'compiled',
          testTimeout: patience,
          environment: 'happy-dom',
          pool,
          isolate: false,
          setupFiles: [`${root}/test/support/act.ts`, ...onePage],
          include: [...compiled, 'test/apps/react.test.tsx', chats],
          // A server in Node, what is only typed, and what is told in Chromium.
          exclude: [...alone, 'test/ai/{http,types}.test.ts', inChromium],
          env: { AI_SDK: '7', CHATS: 'app', NODE_ENV: 'production' },
        },
      },
      onSdk(6),
      onSdk(5),
      {
        test: {
          name: 'package',
          environment: 'node',
          // In one process, so that all that is bundled to be weighed is bundled once.
          isolate: false,
          fileParallelism: false,
          globalSetup: `${root}/test/package/setup.ts`,
          include: ['test/package/**/*.test.ts'],
          testTimeout: 60_000,
        },
      },
      ...(asked('browser') ? [inBrowser()] : []),
      ...(asked('storybook') ? [await stories()] : []),
    ],
    coverage: {
      provider: 'v8',
      include: ['src/**', 'devtools/**'],
      reporter: ['text-summary', 'json-summary'],
    },
  },
});
