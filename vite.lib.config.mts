import { defineConfig, type Plugin, type Rolldown } from 'vite';
import { aliases, clientEntries, entries, root, workers } from './scripts/entries.mjs';
import { reach } from './scripts/reach.mjs';

interface Part {
  readonly name: string;
  /** Sources: what they import at once is in this part. */
  readonly loadedBy: readonly string[];
  /** An entry: of that, only what it needs as well, at once or later. */
  readonly sharedWith?: string;
}

// What is loaded together is one file of dist, so that an app makes few requests, however it is bundled. What is not
// needed until somebody asks for it (search, repair, prices) stays a file of its own, by its `import()`. All entries
// share these files, so there is one React context and one engine registry; and what `contextree/core` or `ai/local`
// needs is apart from what needs React, so that no React gets into a server.
// A module belongs to the first part that takes it.
const parts: readonly Part[] = [
  { name: 'fragments', loadedBy: ['src/core.ts'], sharedWith: 'src/reminders.ts' },
  { name: 'folds', loadedBy: ['src/engine/session.ts'], sharedWith: 'src/reminders.ts' },
  { name: 'prompt', loadedBy: ['src/ai/index.ts'], sharedWith: 'src/ai/local.ts' },
  { name: 'messages', loadedBy: ['src/ai/request.ts'], sharedWith: 'src/ai/local.ts' },
  { name: 'usage', loadedBy: ['src/engine/session.ts'], sharedWith: 'src/tokens/index.ts' },
  { name: 'core', loadedBy: ['src/index.ts'], sharedWith: 'src/core.ts' },
  { name: 'react', loadedBy: ['src/index.ts'] },
  { name: 'ai', loadedBy: ['src/ai/index.ts'] },
  // Whoever loads the session is about to load the store.
  { name: 'chat', loadedBy: ['src/engine/session.ts', 'src/store/indexeddb/connection.ts'] },
  { name: 'turns', loadedBy: ['src/ai/request.ts'] },
];

function groupOf({ name, loadedBy, sharedWith }: Part, at: number): Rolldown.CodeSplittingGroup {
  return {
    debugName: name,
    priority: parts.length - at,
    name: (module, graph) => {
      if (sources.includes(module)) return null; // an entry is a file of its own
      const isLoaded = loadedBy.some((source) => reach(source, graph).has(module));
      return isLoaded && (!sharedWith || reach(sharedWith, graph, 'later too').has(module)) ? name : null;
    },
  };
}

const sources = Object.values(entries).map((source) => `${root}/${source}`);
const clientSources = new Set(
  clientEntries.map((entry) => `${root}/${entries[entry as keyof typeof entries]}`),
);

/**
 * Leaves `new Worker(new URL('./x.worker.ts', import.meta.url))` to the bundler of whoever uses the package, under the
 * name that the file has in dist. Vite would bundle the Worker here, gpt-tokenizer and all.
 */
const workersApart: Plugin = {
  name: 'workers-apart',
  enforce: 'pre',
  transform: {
    filter: { code: /\.worker\.ts'/ },
    handler: (code) => ({ code: code.replace(/'(\.\/\w+\.worker)\.ts'/, "workerFile('$1.js')"), map: null }),
  },
  renderChunk: (code) => ({ code: code.replace(/workerFile\((['"][^'"]+['"])\)/, '$1'), map: null }),
};

/**
 * `createElement(type, props, ...children)` in place of `jsx(type, { children: [...] })`: what comes to the same for React is 0.7 kB
 * less for all views of the devtools, gzipped. The import stands on the first line, so that source maps hold.
 */
const elements: Plugin = {
  name: 'elements',
  enforce: 'pre',
  transform: {
    filter: { id: /\.tsx$/ },
    handler: (code) => ({ code: `import { createElement, Fragment } from 'react';${code}`, map: null }),
  },
};

export default defineConfig({
  publicDir: false,
  plugins: [workersApart, elements],
  resolve: { alias: aliases },
  oxc: { jsx: { runtime: 'classic', pragma: 'createElement', pragmaFrag: 'Fragment' } },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2022',
    minify: false,
    sourcemap: true,
    lib: {
      entry: Object.fromEntries(
        [...Object.values(entries), ...workers].map((source) => [
          source.replace(/\.tsx?$/, ''),
          `${root}/${source}`,
        ]),
      ),
      formats: ['es'],
    },
    rolldownOptions: {
      external: /^(?!contextree(\/|$))(@[\w-]+\/)?[\w-]+(\/|$)/,
      output: {
        entryFileNames: '[name].js',
        chunkFileNames: 'src/parts/[name].js',
        // Compressed, but neither renamed nor on one line: a user reads it, and bundles it with less than a minifier would leave.
        minify: { compress: true, mangle: false, codegen: { removeWhitespace: false } },
        codeSplitting: { groups: parts.map(groupOf) },
        banner: (chunk) => (clientSources.has(chunk.facadeModuleId ?? '') ? "'use client';" : ''),
      },
    },
  },
});
