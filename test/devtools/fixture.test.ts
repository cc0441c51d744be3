import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root } from '../../scripts/entries.mjs';
import { fixtureOf } from '../../devtools/fixture.ts';
import { openPlainly } from '../ai/story.ts';

// A fixture is a file that a person puts into a project of their own. So it is written into a folder of its own here, and
// run as that person would run it; where a word of it is changed, it has to fail.

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(root, 'node_modules/.fixture-'));
  const config = {
    root: folder,
    resolve: { alias: { 'contextree/ai/replay': join(root, 'src/record/replay.ts') } },
    test: { include: ['*.test.ts'], exclude: [] },
  };
  writeFileSync(join(folder, 'vitest.config.mjs'), `export default ${JSON.stringify(config)};`);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs one file; gives what Vitest says of it. */
function run(name: string, text: string): { readonly passes: boolean; readonly output: string } {
  writeFileSync(join(folder, `${name}.test.ts`), text);
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const args = ['run', '--config', join(folder, 'vitest.config.mjs'), `${name}.test.ts`];
  const { status, stdout, stderr } = spawnSync(process.execPath, [vitest, ...args], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, CI: '1' },
  });
  return { passes: status === 0, output: stdout + stderr };
}

describe('a saved fixture', () => {
  it('passes as it is, and fails for another answer', { timeout: 60_000 }, async () => {
    const page = await openPlainly();
    const key = `sk-ant-api03-${'aB3dE5gH7jK9mN1p'.repeat(5)}-AA`;
    page.engine.record();
    await page.ask('Which key?', 'It is ', key.slice(0, 30), key.slice(30), '.');
    const text = await fixtureOf(page.engine.requests()[0]!);
    expect(text).not.toContain(key.slice(30, 70));
    const whole = run('whole', text);
    expect(whole.output).toContain('1 passed');
    expect(whole.passes).toBe(true);
    expect(run('other', text.replace('"delta": "It is ', '"delta": "It was ')).passes).toBe(false);
  });

  it('passes for an answer that failed', { timeout: 60_000 }, async () => {
    const page = await openPlainly(undefined, { onError: () => {} });
    page.engine.record();
    const sent = page.chats.active.sendMessage({ text: 'One?' });
    const exchange = await page.script.next();
    await exchange.say('Well');
    await exchange.fail('503: overloaded');
    await sent;
    const { output, passes } = run('failed', await fixtureOf(page.engine.requests()[0]!));
    expect(output).toContain('1 passed');
    expect(passes).toBe(true);
  });
});
