import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../../scripts/entries.mjs';

// What holds without installing them; `npm run test:guides` builds and drives them.

type Versions = Readonly<Record<string, string>>;
interface Manifest {
  readonly name: string;
  readonly version?: string;
  readonly private?: boolean;
  readonly dependencies: Versions;
  readonly devDependencies: Versions;
}

const home = join(root, 'guides');
const manifestIn = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
const names = readdirSync(home, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

it('there are eight guides, and their table of contents names each', () => {
  const contents = readFileSync(join(home, 'README.md'), 'utf8');
  expect(names).toHaveLength(8);
  expect(names.filter((name) => !contents.includes(`[\`${name}\`](${name})`))).toEqual([]);
});

describe.each(names)('%s', (name) => {
  const guide = manifestIn(join(home, name));
  const named = { ...guide.dependencies, ...guide.devDependencies };
  const sources = readdirSync(join(home, name), { recursive: true, encoding: 'utf8' }).filter((file) =>
    /\.tsx?$/.test(file),
  );

  it('stands alone: a manifest of its own, a README, and no import from around it', () => {
    expect(guide).toMatchObject({ name: `contextree-guide-${name}`, private: true });
    expect(existsSync(join(home, name, 'README.md'))).toBe(true);
    const imports = sources.flatMap((file) =>
      [...readFileSync(join(home, name, file), 'utf8').matchAll(/from '([^']+)'/g)].map(
        ([, from = '']) => from,
      ),
    );
    const packages = imports
      .filter((from) => !from.startsWith('.'))
      .map((from) => /^(?:@[^/]+\/)?[^/]+/.exec(from)?.[0] ?? from);
    expect(imports.filter((from) => from.startsWith('../../'))).toEqual([]);
    expect(packages.filter((from) => !(from in guide.dependencies))).toEqual([]);
  });

  it('asks for the versions that this project is tested with', () => {
    const ours = manifestIn(root);
    const tested: Versions = { ...ours.devDependencies, contextree: ours.version ?? '' };
    const major = (version: string | undefined): string => version?.replace(/^\D*(0\.\d+|\d+).*/, '$1') ?? '';
    const other = Object.entries(named).filter(([from, version]) => {
      return tested[from] !== undefined && major(tested[from]) !== major(version);
    });
    expect(other).toEqual([]);
  });
});
