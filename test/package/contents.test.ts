import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { entries } from '../../scripts/entries.mjs';

// What npm hands to a user: the doors that the documentation names, and nothing that weighs without being used.

const home = join(inject('installed'), 'node_modules/contextree');
const manifest = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as {
  exports: Record<string, string | { types: string; default: string }>;
  dependencies: Record<string, string>;
  peerDependencies: Record<string, string>;
  peerDependenciesMeta: Record<string, { optional: boolean }>;
};

describe('the packed package', () => {
  it('has a door for each entry and no other', () => {
    const doors = Object.keys(entries).map((entry) => (entry === '' ? '.' : `./${entry}`));
    expect(Object.keys(manifest.exports)).toEqual([...doors, './package.json']);
  });

  it.each(Object.entries(manifest.exports))('holds the files behind %s', (_door, target) => {
    const files = typeof target === 'string' ? [target] : [target.types, target.default];
    expect(files.filter((file) => !existsSync(join(home, file)))).toEqual([]);
  });

  it('ships dist and its papers only', () => {
    const papers = ['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json'];
    const shipped = readdirSync(home).filter((file) => !papers.includes(file));
    expect(shipped).toEqual(['dist']);
  });

  it('depends on zustand, in the devtools on what compares words, and every peer is optional', () => {
    expect(Object.keys(manifest.dependencies)).toEqual(['diff', 'zustand']);
    const mandatory = Object.keys(manifest.peerDependencies).filter(
      (peer) => !manifest.peerDependenciesMeta[peer]?.optional,
    );
    expect(mandatory).toEqual([]);
  });

  it('says nothing of the machine it was built on', () => {
    // The folder's name as a whole: the project may lie in a folder called /work, and a file be called /worker.
    const here = new RegExp(`${process.cwd().replaceAll(/\W/g, '\\$&')}(?!\\w)`);
    const files = readdirSync(join(home, 'dist'), { recursive: true, encoding: 'utf8' });
    const telling = files
      .filter((file) => /\.(js|map|ts)$/.test(file))
      .filter((file) => here.test(readFileSync(join(home, 'dist', file), 'utf8')));
    expect(telling).toEqual([]);
  });
});
