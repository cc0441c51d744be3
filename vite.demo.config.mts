import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { aliases, root } from './scripts/entries.mjs';

// The demo is compiled with the React Compiler, hooks of the package included: they must survive it.
export default defineConfig({
  root: `${root}/stories/demo`,
  plugins: [react({ compiler: true })],
  resolve: { alias: aliases },
  build: { outDir: `${root}/node_modules/.cache/demo`, emptyOutDir: true, target: 'es2022' },
});
