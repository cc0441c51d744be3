import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'vite';
import { expect, inject, it } from 'vitest';

// An app that counts in a Worker: its bundler must find the Worker's file and put the table into it, not into the page.

const installed = inject('installed');

it('hands its Worker to the bundler of the app', async () => {
  const entry = join(installed, 'counts.js');
  writeFileSync(entry, `export { createWorkerTokenizer } from 'contextree/tokenizers/o200k-worker';`);
  const result = await build({
    root: installed,
    configFile: false,
    logLevel: 'silent',
    build: {
      write: false,
      minify: true,
      rolldownOptions: { input: entry, preserveEntrySignatures: 'strict' },
    },
  });
  const { output } = (Array.isArray(result) ? result[0] : result) as {
    output: { fileName: string; code?: string; source?: string | Uint8Array; isEntry?: boolean }[];
  };
  const page = output.find(({ isEntry }) => isEntry)?.code ?? '';
  const worker = output.find(({ fileName }) => /o200k\.worker-.*\.js$/.test(fileName));
  expect(page).toContain(worker?.fileName.split('/').pop());
  expect(page.length).toBeLessThan(20_000);
  expect(String(worker?.code ?? worker?.source).length).toBeGreaterThan(1_000_000);
});

it('names the Worker in dist by the file that is there', () => {
  const home = join(installed, 'node_modules/contextree/dist/src/tokenizers');
  for (const name of ['o200k', 'cl100k']) {
    const [, file = ''] = /new URL\("\.\/([^"]+)", import\.meta\.url\)/.exec(
      readFileSync(join(home, `${name}-worker.js`), 'utf8'),
    )!;
    expect(readFileSync(join(home, file), 'utf8')).toContain(`gpt-tokenizer/encoding/${name}_base`);
  }
});
