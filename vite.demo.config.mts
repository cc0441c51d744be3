import { readFileSync } from 'node:fs';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { aliases, root } from './scripts/entries.mjs';
import { PICTURE } from './scripts/firstPicture.mjs';

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

/** Puts the picture of the first chat into the page. */
function firstPicture(): Plugin {
  return {
    name: 'picture of the first chat',
    transformIndexHtml: {
      order: 'post',
      handler: (html) =>
        html.replace(/(<div id="first-picture"[^>]*>)/, (tag) => tag + readFileSync(PICTURE, 'utf8')),
    },
  };
}

/**
 * Has the page fetch at once what its first chat asks for by and by: each import that waits for the one before would cost
 * a way to the server and back.
 */
function asked(...modules: readonly string[]): Plugin {
  return {
    name: 'asked by the first chat',
    transformIndexHtml: {
      order: 'post',
      handler: (html, { bundle = {} }) => {
        const chunks = Object.values(bundle).filter((file) => file.type === 'chunk');
        const files = new Set<string>();
        const add = (file: string): void => {
          if (files.has(file)) return;
          files.add(file);
          for (const next of chunks.find(({ fileName }) => fileName === file)?.imports ?? []) add(next);
        };
        for (const module of modules) {
          const chunk = chunks.find(({ moduleIds }) => moduleIds.includes(`${root}/${module}`));
          if (chunk) add(chunk.fileName);
        }
        return [...files]
          .filter((file) => !html.includes(`/${file}"`))
          .map((file) => ({ tag: 'link', attrs: { ...PRELOAD, href: `/${file}` }, injectTo: 'head' }));
      },
    },
  };
}

const PRELOAD = { rel: 'modulepreload', crossorigin: '' };

/** What runs until the first chat is on screen, and comes in a file of its own. */
const FIRST = [
  'src/store/indexeddb/connection.ts',
  'src/store/tables/usual.ts',
  'src/engine/session.ts',
  'src/store/tables/rarely.ts',
  'stories/demo/firstChat.ts',
  'src/ai/begin.ts',
];

// The demo is compiled with the React Compiler, hooks of the package included: they must survive it.
export default defineConfig({
  root: `${root}/stories/demo`,
  plugins: [apart(), readOnlyMarkdown(), react({ compiler: true }), firstPicture(), asked(...FIRST)],
  resolve: { alias: aliases },
  build: { outDir: `${root}/node_modules/.cache/demo`, emptyOutDir: true, target: 'es2022' },
});
