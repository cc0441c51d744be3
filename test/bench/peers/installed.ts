import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where what we compare with is installed: a folder of its own, so that `npm ci` of the project brings none of it. */
export const modules: string = fileURLToPath(new URL('node_modules', import.meta.url));

const here = fileURLToPath(new URL('.', import.meta.url));

/** Installs what the lockfile of this folder names, if one of these packages is not there in the version it names. */
export function install(...names: readonly string[]): void {
  if (names.every(isInstalled)) return;
  const npm = ['ci', '--ignore-scripts', '--omit=peer', '--silent'];
  const { status } = spawnSync('npm', npm, {
    cwd: here,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (status !== 0) throw new Error(`npm ci in ${here} failed: see what it says above.`);
}

/** The version of an installed peer. */
export function versionOf(name: string): string {
  return (JSON.parse(readFileSync(join(modules, name, 'package.json'), 'utf8')) as { version: string })
    .version;
}

function isInstalled(name: string): boolean {
  try {
    return versionOf(name) === locked(name);
  } catch {
    return false;
  }
}

function locked(name: string): string | undefined {
  const { packages } = JSON.parse(readFileSync(join(here, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { version?: string }>;
  };
  return packages[`node_modules/${name}`]?.version;
}
