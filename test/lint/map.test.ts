import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root } from '../../scripts/entries.mjs';

// The linter holds the map of rooms. Here each of its walls is run into once: a copy of the project's folders,
// one planted import per file, linted with the project's own configuration.

const refused: Record<string, string> = {
  // One direction between the rooms of src.
  'src/errors.ts': `import './graph/graph.ts';`,
  'src/copy.ts': `import './fragment/fragment.ts';`,
  'src/fragment/a.ts': `import '../render/xml.ts';`,
  'src/fragment/b.ts': `import '../graph/graph.ts';`,
  'src/render/a.ts': `import '../engine/engine.ts';`,
  'src/render/b.ts': `import '../tokens/tokenizer.ts';`,
  'src/graph/a.ts': `import '../fragment/fragment.ts';`,
  'src/graph/b.ts': `import type { ContextStore } from '../store/store.ts';`,
  'src/tokens/a.ts': `import '../store/store.ts';`,
  'src/store/a.ts': `import '../engine/engine.ts';`,
  'src/store/indexeddb/a.ts': `import '../../engine/engine.ts';`,
  'src/store/indexeddb/b.ts': `export const engine = () => import('../../engine/engine.ts');`,
  'src/record/a.ts': `import '../engine/engine.ts';`,
  'src/tokens/c.ts': `import '../record/record.ts';`,
  'src/engine/a.ts': `import '../react/provider.tsx';`,
  'src/engine/b.ts': `import '../ai/transport.ts';`,
  'src/engine/c.ts': `import '../reminders.ts';`,
  'src/react/a.tsx': `import '../ai/contextChat.ts';`,
  'src/react/b.tsx': `import '../index.ts';`,
  'src/core.ts': `export * from './react/provider.tsx';`,
  'src/index.ts': `export * from './ai/index.ts';`,
  'src/session.ts': `import './react/provider.tsx';`,
  'src/store/f.ts': `import '../session.ts';`,
  'src/reminders.ts': `import './engine/engine.ts';`,
  'src/tokenizers/o200k.ts': `import '../engine/engine.ts';`,
  'src/engine/d.ts': `import '../../devtools/lanes.ts';`,
  'src/engine/e.ts': `import 'contextree';`,
  // Each package in its place.
  'src/store/c.ts': `import 'idb';`,
  'src/engine/f.ts': `import 'idb';`,
  'src/store/indexeddb/d.ts': `import 'idb';`,
  'src/engine/g.ts': `import 'zustand';`,
  'src/store/indexeddb/c.ts': `import 'zustand/vanilla';`,
  'src/graph/c.ts': `import 'zustand/vanilla';`,
  'src/engine/h.ts': `import 'react';`,
  'src/engine/i.ts': `import type { ReactNode } from 'react';`,
  'src/engine/j.ts': `import { generateId } from 'ai';`,
  'src/engine/k.ts': `export const sdk = () => import('ai');`,
  'src/react/c.tsx': `import { useChat } from '@ai-sdk/react';`,
  'src/core/a.ts': `import 'react';`,
  'src/tokens/b.ts': `import 'gpt-tokenizer';`,
  // The guests.
  'devtools/a.tsx': `import '../src/index.ts';`,
  'devtools/views/a.tsx': `import type { Graph } from '../../src/graph/graph.ts';`,
  'devtools/b.tsx': `import 'contextree/core';`,
  'devtools/c.tsx': `import 'idb';`,
  'devtools/e.tsx': `import type { StoreDelta } from 'contextree/store';`,
  'stories/a.stories.tsx': `import '../src/index.ts';`,
  'stories/panel/a.stories.tsx': `import '../../devtools/Panel.tsx';`,
  'stories/demo/deep/a.tsx': `import '../../../src/index.ts';`,
  // Names.
  'src/graph/d.ts': `import './utils.ts';`,
  'src/graph/e.ts': `import type { Node } from '../types.ts';`,
  'devtools/d.tsx': `import './helpers/format.ts';`,
};

const welcome: Record<string, string> = {
  'src/fragment/ok.ts': `import '../errors.ts'; import type { UIMessage } from 'ai';`,
  'src/render/ok.ts': `import '../fragment/fragment.ts';`,
  'src/store/ok.ts': `import '../graph/graph.ts'; import './memory.ts';`,
  'src/store/indexeddb/ok.ts': `import '../store.ts'; import '../../graph/graph.ts'; import '../../errors.ts';`,
  'src/record/ok.ts': `import '../tokens/count.ts'; import type { UIMessage } from 'ai';`,
  'src/engine/ok.ts': `import 'zustand/vanilla'; import '../store/memory.ts'; import './save.ts'; import '../record/record.ts';`,
  'src/react/ok.tsx': `import 'react'; import 'zustand'; import '../engine/engine.ts';`,
  'src/ai/ok.ts': `import 'ai'; import '@ai-sdk/react'; import 'react'; import '../react/provider.tsx';`,
  'devtools/ok.tsx': `import 'react'; import 'contextree'; import type { Share } from 'contextree/tokens'; import './views/graph.tsx'; import type { UIMessage } from 'ai';`,
  'stories/ok.stories.tsx': `import 'contextree'; import 'contextree/devtools'; import './demo/model.ts';`,
  'stories/demo/ok.tsx': `import '../devtools/fixture.ts'; import 'contextree/ai/local';`,
};

let folder: string;
let found: Map<string, string[]>;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'contextree-map-'));
  plant('oxlint.config.ts', `export { default } from '${root}/oxlint.config.ts';`);
  for (const [file, source] of Object.entries({ ...refused, ...welcome })) plant(file, source);
  found = restrictedImports();
}, 60_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function plant(file: string, source: string): void {
  const path = join(folder, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${source}\n`);
}

/** Messages of the map's rule by file. */
function restrictedImports(): Map<string, string[]> {
  const oxlint = join(root, 'node_modules/oxlint/bin/oxlint');
  const { stdout } = spawnSync(process.execPath, [oxlint, '--format', 'json'], {
    cwd: folder,
    encoding: 'utf8',
  });
  const { diagnostics } = JSON.parse(stdout) as {
    diagnostics: { code: string; filename: string; message: string; help?: string }[];
  };
  const byFile = new Map<string, string[]>();
  for (const { code, filename, message, help } of diagnostics) {
    if (!code.includes('no-restricted-imports')) continue;
    byFile.set(filename, [...(byFile.get(filename) ?? []), `${message} ${help ?? ''}`]);
  }
  return byFile;
}

describe('the map of rooms', () => {
  it.each(Object.entries(refused))('refuses in %s: %s', (file) => {
    expect(found.get(file)).toHaveLength(1);
  });

  it.each(Object.entries(welcome))('allows in %s: %s', (file) => {
    expect(found.get(file)).toBeUndefined();
  });
});
