import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root } from '../../scripts/entries.mjs';
import { firstAnswer } from '../../scripts/firstAnswer.mjs';
import { readmeBlock, readmeTable, sizes } from '../../scripts/sizes.mjs';

// What the README says of the package is what one gets. `npm run sizes -- --readme` writes the table.

const readme = readFileSync(join(root, 'README.md'), 'utf8');

it('names the bytes of a first answer and of each entry as they are, to a hundred', async () => {
  expect(readmeBlock.exec(readme)?.[1]).toBe(readmeTable(await sizes(), await firstAnswer()));
});

it('names two command lines that are there, and a picture that is there', () => {
  const scripts = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts as Record<
    string,
    string
  >;
  for (const command of ['start', 'test']) {
    expect(readme).toContain(`npm ci && npm ${command}`);
    expect(scripts).toHaveProperty(command);
  }
  const picture = /!\[[^\]]+\]\(([^)]+)\)/.exec(readme)?.[1] ?? '';
  expect(readFileSync(join(root, picture)).subarray(1, 4).toString()).toBe('PNG');
});
