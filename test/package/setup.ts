import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { root } from '../../scripts/entries.mjs';

declare module 'vitest' {
  interface ProvidedContext {
    /** A folder whose node_modules holds the package as npm would unpack it, and what it depends on. */
    installed: string;
  }
}

/** Packs the built package and unpacks it where the tests import it from, as in an app of its own. */
export default function install(project: TestProject): () => void {
  const app = mkdtempSync(join(tmpdir(), 'contextree-app-'));
  const modules = join(app, 'node_modules');
  mkdirSync(join(modules, 'contextree'), { recursive: true });
  execFileSync('tar', ['-xzf', pack(app), '--strip-components=1', '-C', join(modules, 'contextree')]);
  for (const name of ['react', 'react-dom', 'zustand', 'diff', 'ai', '@ai-sdk', 'gpt-tokenizer', 'zod']) {
    symlinkSync(join(root, 'node_modules', name), join(modules, name), 'junction');
  }
  project.provide('installed', app);
  return () => rmSync(app, { recursive: true, force: true });
}

function pack(destination: string): string {
  execFileSync('npm', ['pack', '--ignore-scripts', '--pack-destination', destination], {
    cwd: root,
    stdio: 'ignore',
    shell: process.platform === 'win32',
  });
  const tarball = readdirSync(destination).find((file) => file.endsWith('.tgz'));
  if (!tarball) throw new Error(`npm pack left no tarball in ${destination}.`);
  return join(destination, tarball);
}
