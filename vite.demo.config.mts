import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { aliases, root } from './scripts/entries.mjs';

/**
 * Gives generation copies of its own of the packages that it shares with the chat.
 *
 * The AI SDK is one file, and a bundler can't take a file apart: the chat would wait for all that the models need, which
 * is three times as much. With a copy for each, the page loads what a chat needs, and the rest when it is there.
 */
function apart(): Plugin {
  const roots = /\/(?:stories\/demo\/(?:answers|model|settings)[/.]|src\/ai\/local\.ts$)/;
  const isShared = /\/node_modules\/(?:ai|@ai-sdk\/[\w-]+|zod)\//;
  return {
    name: 'generation apart',
    apply: 'build',
    enforce: 'pre',
    async resolveId(source, importer = '', options) {
      if (!importer.endsWith(COPY) && !roots.test(importer)) return null;
      const found = await this.resolve(source, importer.replace(COPY, ''), { ...options, skipSelf: true });
      return found && isShared.test(found.id) ? { ...found, id: found.id + COPY } : null;
    },
  };
}

const COPY = '?apart';

/**
 * Leaves out what the demo never does with Markdown, and a bundler can't know: it writes none, and its answers have no
 * SVG in them.
 */
function readOnlyMarkdown(): Plugin {
  return {
    name: 'read-only Markdown',
    apply: 'build',
    transform: (code, id) => {
      if (id.includes('/remark-gfm/')) return code.replace(/toMarkdownExtensions\.push\(.*\)/, '');
      if (id.endsWith('/property-information/index.js'))
        return code.replace(/export const svg = .*/, 'export const svg = html');
      return null;
    },
  };
}

// The demo is compiled with the React Compiler, hooks of the package included: they must survive it.
export default defineConfig({
  root: `${root}/stories/demo`,
  plugins: [apart(), readOnlyMarkdown(), react({ compiler: true })],
  resolve: { alias: aliases },
  build: { outDir: `${root}/node_modules/.cache/demo`, emptyOutDir: true, target: 'es2022' },
});
