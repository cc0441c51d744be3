import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
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

/** Runs these files, by name; gives what became of each. */
function run(texts: Readonly<Record<string, string>>): Record<string, unknown> {
  for (const [name, text] of Object.entries(texts)) writeFileSync(join(folder, `${name}.test.ts`), text);
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const config = ['--config', join(folder, 'vitest.config.mjs')];
  const told = ['--reporter=json', `--outputFile=${join(folder, 'report.json')}`];
  spawnSync(process.execPath, [vitest, 'run', ...config, ...told, '--maxWorkers=1'], {
    cwd: folder,
    env: { ...process.env, CI: '1' },
  });
  const report = JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8')) as {
    readonly testResults: readonly FileResult[];
  };
  return Object.fromEntries(
    report.testResults.map(({ name, assertionResults }) => [
      basename(name, '.test.ts'),
      assertionResults.map(({ status }) => status).join(),
    ]),
  );
}

interface FileResult {
  readonly name: string;
  readonly assertionResults: readonly { readonly status: string }[];
}

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

/** The fixture of an answer that failed. */
async function failed(): Promise<string> {
  const page = await openPlainly(undefined, { onError: () => {} });
  page.engine.record();
  const sent = page.chats.active.sendMessage({ text: 'One?' });
  const exchange = await page.script.next();
  await exchange.say('Well');
  await exchange.fail('503: overloaded');
  await sent;
  return fixtureOf(page.engine.requests()[0]!);
}

it(
  'a saved fixture passes as it is, of a failed or continued answer too, and fails for another answer',
  { timeout: 60_000 },
  async () => {
    const page = await openPlainly();
    const key = `sk-ant-api03-${'aB3dE5gH7jK9mN1p'.repeat(5)}-AA`;
    page.engine.record();
    await page.ask('Which key?', 'It is ', key.slice(0, 30), key.slice(30), '.');
    const whole = await fixtureOf(page.engine.requests()[0]!);
    expect(whole).not.toContain(key.slice(30, 70));
    const other = whole.replace('"delta": "It is ', '"delta": "It was ');
    const went = { whole, failed: await failed(), continued: await fixtureOf(continued()), other };
    expect(run(went)).toEqual({
      whole: 'passed',
      failed: 'passed',
      continued: 'passed',
      other: 'failed',
    });
  },
);
