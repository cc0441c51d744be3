import { defineConfig, type Plugin } from 'vite';
import { aliases, clientEntries, entries, root, workers } from './scripts/entries.mjs';

// One file of dist for each file of source. So every entry shares its modules with the others (one React
// context, one engine registry), and what `contextree/core` reaches is what its sources reach: no chunk that
// a bundler mixed can carry React or a 'use client' line into a server.
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

export default defineConfig({
  publicDir: false,
  plugins: [workersApart],
  resolve: { alias: aliases },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2022',
    minify: false,
    sourcemap: true,
    lib: {
      entry: [...Object.values(entries), ...workers].map((source) => `${root}/${source}`),
      formats: ['es'],
    },
    rolldownOptions: {
      external: /^(?!contextree(\/|$))(@[\w-]+\/)?[\w-]+(\/|$)/,
      output: {
        preserveModules: true,
        preserveModulesRoot: root,
        entryFileNames: '[name].js',
        banner: (chunk) => (clientSources.has(chunk.facadeModuleId ?? '') ? "'use client';" : ''),
      },
    },
  },
});
