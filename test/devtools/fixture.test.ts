import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root } from '../../scripts/entries.mjs';
import { fixtureOf } from '../../devtools/fixture.ts';
import type { RecordedRequest } from '../../devtools/requests.ts';
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

/** Runs some files; gives what Vitest says of them. */
function run(...texts: readonly string[]): { readonly passes: boolean; readonly output: string } {
  const files = texts.map((_, i) => `${i}.test.ts`);
  for (const [i, text] of texts.entries()) writeFileSync(join(folder, files[i] ?? ''), text);
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const args = ['run', '--config', join(folder, 'vitest.config.mjs'), ...files];
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
    const whole = run(text);
    expect(whole.output).toContain('1 passed');
    expect(whole.passes).toBe(true);
    expect(run(text.replace('"delta": "It is ', '"delta": "It was ')).passes).toBe(false);
  });

  it(
    'passes for an answer that failed, and for one that went on behind a tool',
    { timeout: 60_000 },
    async () => {
      const page = await openPlainly(undefined, { onError: () => {} });
      page.engine.record();
      const sent = page.chats.active.sendMessage({ text: 'One?' });
      const exchange = await page.script.next();
      await exchange.say('Well');
      await exchange.fail('503: overloaded');
      await sent;
      const failed = await fixtureOf(page.engine.requests()[0]!);
      const { output, passes } = run(failed, await fixtureOf(continued()));
      expect(output).toContain('2 passed');
      expect(passes).toBe(true);
    },
  );
});

/** An answer that had called a tool, and goes on with its result. */
function continued(): RecordedRequest {
  const call = { type: 'tool-dice', toolCallId: 'c', state: 'input-available', input: {} };
  const chunks = [
    { type: 'start' },
    { type: 'start-step' },
    { type: 'tool-output-available', toolCallId: 'c', output: 4 },
    { type: 'text-start', id: 't' },
    { type: 'text-delta', id: 't', delta: 'A four.' },
    { type: 'text-end', id: 't' },
    { type: 'finish' },
  ];
  const record = {
    at: 0,
    messages: [{ id: 'a', role: 'assistant', parts: [{ type: 'text', text: 'I roll. ' }, call] }],
    chunks: chunks.map((chunk) => ({ ms: 0, chunk })),
  };
  return { masked: () => Promise.resolve(record) } as unknown as RecordedRequest;
}
