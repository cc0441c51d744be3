import { readFileSync } from 'node:fs';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin, type Rolldown } from 'vite';
import { aliases, root } from './scripts/entries.mjs';
import { reach } from './scripts/reach.mjs';

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
 * Leaves out what the demo never does with Markdown, and a bundler can't know: it writes none, its answers have no SVG in
 * them, and its browsers can clone.
 */
function readOnlyMarkdown(): Plugin {
  return {
    name: 'read-only Markdown',
    apply: 'build',
    transform: (code, id) => {
      if (id.includes('/remark-gfm/')) return code.replace(/toMarkdownExtensions\.push\(.*\)/, '');
      if (id.includes('/@ungap/structured-clone/')) return 'export default structuredClone';
      if (id.endsWith('/property-information/index.js'))
        return code.replace(/export const svg = .*/, 'export const svg = html');
      return null;
    },
  };
}

/**
 * Puts the picture of the first chat into the page as it is built, and has first.js begin the app, so that the picture is painted
 * before. While the app is written there is no picture: its styles would come too late.
 */
function firstPicture(): Plugin {
  return {
    name: 'picture of the first chat',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler: (html) =>
        html
          .replace(
            /<div id="first-picture"[^>]*>/,
            (tag) => tag + readFileSync(`${root}/stories/demo/first.html`, 'utf8'),
          )
          .replace(
            /<script src="(\S*first\.js)"><\/script>(\s*)<script type="module" crossorigin src="([^"]*)"><\/script>/,
            '<script src="$1" data-app="$3"></script>$2<link rel="modulepreload" crossorigin href="$3">',
          ),
    },
  };
}

/**
 * Puts all that runs until the first chat is on screen into one file: a file for each import that waits for the one before
 * costs a way to the server and back, and many small ones compress less.
 */
function first(module: string, graph: Rolldown.ChunkingContext): string | null {
  reached ??= new Set(FIRST.flatMap((source) => [...reach(source, graph)]));
  return reached.has(module) ? 'first' : null;
}

let reached: Set<string> | undefined;

/** What runs until the first chat is on screen. */
const FIRST = [
  'stories/demo/main.tsx',
  'src/store/indexeddb/connection.ts',
  'src/store/tables/usual.ts',
  'src/engine/session.ts',
  'src/store/tables/rarely.ts',
  'src/ai/request.ts',
];

// The demo is compiled with the React Compiler, hooks of the package included: they must survive it.
export default defineConfig({
  root: `${root}/stories/demo`,
  plugins: [apart(), readOnlyMarkdown(), react({ compiler: true }), firstPicture()],
  resolve: { alias: aliases },
  build: {
    outDir: `${root}/node_modules/.cache/demo`,
    emptyOutDir: true,
    target: 'es2022',
    rolldownOptions: { output: { codeSplitting: { groups: [{ debugName: 'first', name: first }] } } },
  },
});
