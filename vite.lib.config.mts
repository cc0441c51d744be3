import { defineConfig } from 'vite';
import { aliases, clientEntries, entries, root } from './scripts/entries.mjs';

// One file of dist for each file of source. So every entry shares its modules with the others (one React
// context, one engine registry), and what `contextree/core` reaches is what its sources reach: no chunk that
// a bundler mixed can carry React or a 'use client' line into a server.
const clientSources = new Set(
  clientEntries.map((entry) => `${root}/${entries[entry as keyof typeof entries]}`),
);

export default defineConfig({
  publicDir: false,
  resolve: { alias: aliases },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2022',
    minify: false,
    sourcemap: true,
    lib: { entry: Object.values(entries).map((source) => `${root}/${source}`), formats: ['es'] },
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
