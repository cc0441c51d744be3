import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build as esbuild } from 'esbuild';
import { build as vite } from 'vite';
import { describe, expect, inject, it } from 'vitest';

// An app leaves <ContextDevtools /> in its source and must ship none of it. Built here with two bundlers from the
// packed package, with and without the devtools, and weighed.

const installed = inject('installed');

const appWithout = `
  import { createElement } from 'react';
  import { ContextEngineProvider } from 'contextree';
  export const app = createElement(ContextEngineProvider, { chatId: 'demo' }, createElement('main'));
`;
const appWith = appWithout
  .replace('export', `import { ContextDevtools, ContextDevtoolsPanel } from 'contextree/devtools';\nexport`)
  .replace(
    `createElement('main')`,
    `createElement('main'), createElement(ContextDevtools), createElement(ContextDevtoolsPanel)`,
  );

const external = ['react', 'react-dom', 'react/jsx-runtime'];

type Files = Map<string, string>;
type Bundler = (name: string, source: string, mode: 'production' | 'development') => Promise<Files>;

const withEsbuild: Bundler = async (_name, source, mode) => {
  const { outputFiles } = await esbuild({
    stdin: { contents: source, resolveDir: installed },
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    write: false,
    outdir: join(installed, 'out'),
    define: { 'process.env.NODE_ENV': JSON.stringify(mode) },
    external,
  });
  return new Map(outputFiles.map(({ path, text }) => [path, text]));
};

const withVite: Bundler = async (name, source, mode) => {
  const entry = join(installed, `${name}.js`);
  writeFileSync(entry, source);
  const result = await vite({
    root: installed,
    configFile: false,
    logLevel: 'silent',
    mode,
    define: { 'process.env.NODE_ENV': JSON.stringify(mode) },
    build: {
      write: false,
      minify: true,
      lib: { entry, formats: ['es'] },
      rolldownOptions: { external, output: { minify: true } },
    },
  });
  const [bundle] = Array.isArray(result) ? result : [result];
  if (!bundle || !('output' in bundle)) throw new Error('Vite returned no bundle.');
  return new Map(
    bundle.output.flatMap((file) => (file.type === 'chunk' ? [[file.fileName, file.code]] : [])),
  );
};

const text = (files: Files): string => [...files.values()].join('\n');
const weight = (files: Files): number => gzipSync(text(files), { level: 9 }).length;

describe.each([
  ['esbuild', withEsbuild],
  ['Vite', withVite],
])('devtools in an app built with %s', (bundler, bundle) => {
  it('weigh at most 60 bytes in production', async () => {
    const before = await bundle(`${bundler}-without`, appWithout, 'production');
    const after = await bundle(`${bundler}-with`, appWith, 'production');
    expect(weight(before)).toBeGreaterThan(1000);
    expect(weight(after) - weight(before)).toBeLessThanOrEqual(60);
    expect(after.size).toBe(before.size);
  });

  it('leave none of the words of the panel in production, all of them in development', async () => {
    const shipped = text(await bundle(`${bundler}-shipped`, appWith, 'production'));
    const developed = text(await bundle(`${bundler}-developed`, appWith, 'development'));
    for (const word of ['treegrid', 'attachShadow', '__CONTEXTREE__', 'contextree-session']) {
      expect(developed).toContain(word);
      expect(shipped).not.toContain(word);
    }
  });

  it('leave a plugin of TanStack Devtools without a panel in production', async () => {
    const source = `
      import { contextreePlugin } from 'contextree/devtools/tanstack';
      export const plugins = [contextreePlugin()];
    `;
    const shipped = text(await bundle(`${bundler}-plugin-shipped`, source, 'production'));
    const developed = text(await bundle(`${bundler}-plugin-developed`, source, 'development'));
    expect(developed).toContain('treegrid');
    expect(shipped).toContain('contextree');
    expect(shipped).not.toContain('treegrid');
  });
});
