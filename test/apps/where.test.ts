import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { root } from '../../scripts/entries.mjs';

/**
 * The stories of test/ai are told of the app of this folder on AI SDK 5, 6 and 7 in happy-dom, and on 7 in Chromium. What stays
 * away from it stands here with the reason, all of it: what is left out elsewhere without a word is found by these tests.
 */

/** Where the app is driven: by the React Compiler on 5 and 6 in development and on 7 as it ships, and as it is written in Chromium. */
const IN_APP = ['sdk5', 'sdk6', 'compiled', 'browser (chromium)'];
/** Where bare chats are, for people who have no component or keep their own: once, on AI SDK 7. */
const BARE = ['happy'];

const PURE = 'Opens no chat.';
const OWN_APP = 'Has components of its own, for what an app may do otherwise than the one of this folder.';
const NEEDS_ACT = 'Waits with act(), which only the development build of React has; runs on it in happy.';
const NO_SCREEN = 'A fuzzer of bare chats. fuzz.test.tsx, and appFuzz.test.tsx in Chromium, drive the app.';

/** The files that never open the app. */
const WITHOUT_APP: Readonly<Record<string, string>> = {
  'example.test.tsx': OWN_APP,
  'useContextChat.test.tsx': OWN_APP,
  'verbs.test.tsx': OWN_APP,
  'fuzz.test.ts': NO_SCREEN,
  'http.test.ts': 'Has a server in Node, where there is no page. test/browser/http.test.ts has another one.',
  'plan.test.ts': PURE,
  'prompt.test.ts': PURE,
  'seam.test.ts': PURE,
  'types.test.ts': PURE,
};

/** The files that are not run where the app is driven. */
const AWAY: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'example.test.tsx': { compiled: NEEDS_ACT },
  'useContextChat.test.tsx': { compiled: NEEDS_ACT },
  'verbs.test.tsx': { compiled: NEEDS_ACT },
  'fuzz.test.ts': { compiled: NO_SCREEN, 'browser (chromium)': NO_SCREEN },
  'http.test.ts': { 'browser (chromium)': 'There is no Node in a page.' },
  'types.test.ts': Object.fromEntries(
    IN_APP.map((project) => [
      project,
      'Types are checked against the one AI SDK that is installed, in happy.',
    ]),
  ),
};

/** How often files that open the app make bare chats beside it. */
const BESIDE: Readonly<Record<string, readonly [number, string]>> = {
  'chats.test.ts': [8, 'createContextChats(): asked twice, let go, for what is no engine, of another user.'],
  'reminders.test.ts': [1, 'withContext(), around a transport of a chat of one’s own.'],
  'tools.test.ts': [1, 'Makes a long chat in no time, which the app opens then.'],
  'transport.test.ts': [2, 'withContext(), around a transport of a chat of one’s own.'],
  'world.test.ts': [1, 'Makes a long chat in no time, which the app opens then.'],
};

const LEAVE = 'A person’s word on a tool came with AI SDK 6.';

/** The tests that not every AI SDK can be asked for: under which conditions they run, one for each. */
const CONDITIONS: Readonly<Record<string, readonly [conditions: string, why: string]>> = {
  'ai/badInput.test.ts': ['SDK > 6', 'Steps that are taken back came with 7.'],
  'ai/chats.test.ts': ['SDK > 6', 'The queue came with 7.'],
  'ai/local.test.ts': ['SDK > 5, SDK > 5, SDK > 5', `${LEAVE} So did agents and their transport.`],
  'ai/queue.test.ts': [
    'SDK < 6, globalThis.document',
    `${LEAVE} Nobody comes back to a page where there is none.`,
  ],
  'ai/resume.test.ts': [
    'SDK === 5, SDK > 5',
    '5 takes a look for a request: nothing follows or goes on meanwhile.',
  ],
  'ai/socket.test.ts': ['SDK > 6', 'The transport came with 7.'],
  'ai/tools.test.ts': ['SDK > 5, SDK > 5, SDK < 6', LEAVE],
  'ai/transport.test.ts': [
    "typeof window !== 'undefined'",
    'There is nothing to leave where there is no page.',
  ],
  'ai/verbs.test.tsx': ['SDK > 5, SDK > 5', LEAVE],
  'apps/fuzz.test.tsx': ['SEEDS >= 500', 'A few sequences need not do everything.'],
  'apps/planted.test.tsx': ['SDK === 7', 'What finds the bugs is the same on each.'],
  'apps/same.test.tsx': ['SDK > 5, SDK > 5', LEAVE],
  'apps/stories.test.tsx': [
    'SDK > 5, SDK > 5, SDK === 7',
    `${LEAVE} Transports: one came with 6, one with 7, and the model of the third speaks the language of 7.`,
  ],
};

const read = (path: string): string => readFileSync(join(root, 'test', path), 'utf8');
const filesIn = (folder: string): string[] =>
  readdirSync(join(root, 'test', folder)).filter((name) => /\.test\.tsx?$/.test(name));

it('opens the app in every file of test/ai but these', () => {
  const apart = filesIn('ai').filter((name) => {
    const text = read(`ai/${name}`);
    return !text.includes('openPage(') || text.includes('@vitest-environment node');
  });
  expect(apart.toSorted()).toEqual(Object.keys(WITHOUT_APP).toSorted());
});

it('makes bare chats beside the app only here', () => {
  const made = filesIn('ai').flatMap((name) => {
    const count = read(`ai/${name}`).match(
      /\b(openPlainly\(|createContextChats\(|withContext\((?!\)))/g,
    )?.length;
    return count && !(name in WITHOUT_APP) ? [[name, count]] : [];
  });
  expect(Object.fromEntries(made)).toEqual(
    Object.fromEntries(Object.entries(BESIDE).map(([name, [count]]) => [name, count])),
  );
});

it('leaves out tests of an AI SDK only under these conditions', () => {
  const found = ['ai', 'apps'].flatMap((folder) =>
    filesIn(folder).flatMap((name): [string, string][] => {
      if (name === basename(import.meta.filename)) return [];
      const all = read(`${folder}/${name}`).matchAll(
        /\b(?:runIf|skipIf)\(([^)]+)\)|\.(?:skip|todo|only)\b|(SDK [<>=]+ \d) \? \[/g,
      );
      const conditions = [...all].map(([whole, run, chosen]) => run ?? chosen ?? whole);
      return conditions.length > 0 ? [[`${folder}/${name}`, conditions.join(', ')]] : [];
    }),
  );
  expect(Object.fromEntries(found)).toEqual(
    Object.fromEntries(Object.entries(CONDITIONS).map(([name, [conditions]]) => [name, conditions])),
  );
});

it('runs every file of test/ai on each AI SDK and in Chromium, but for these', { timeout: 60_000 }, () => {
  const runs = filesByProject();
  const away = IN_APP.flatMap((project) =>
    filesIn('ai').flatMap((name) => (runs.get(project)?.has(name) ? [] : [`${name} in ${project}`])),
  );
  expect(away.toSorted()).toEqual(
    Object.entries(AWAY)
      .flatMap(([name, projects]) => Object.keys(projects).map((project) => `${name} in ${project}`))
      .toSorted(),
  );
  for (const project of IN_APP) expect(runs.get(project)).toContain('suite.test.tsx');
  for (const project of BARE)
    expect(filesIn('ai').filter((name) => !runs.get(project)?.has(name))).toEqual(['fuzz.test.ts']);
  expect(runs.get('node')).toContain('fuzz.test.ts');
});

/** What Vitest would run of the files of chats, by their names: as its configuration says, not as we read it. */
function filesByProject(): Map<string, Set<string>> {
  const folder = mkdtempSync(join(tmpdir(), 'contextree-where-'));
  const list = join(folder, 'list.json');
  const projects = ['node', 'happy', 'compiled', 'sdk5', 'sdk6', 'browser'].map(
    (name) => `--project=${name}`,
  );
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const args = [vitest, 'list', '--filesOnly', `--json=${list}`, ...projects, 'test/ai', 'test/apps'];
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
  const byProject = new Map<string, Set<string>>();
  const listed = JSON.parse(readFileSync(list, 'utf8')) as { file: string; projectName: string }[];
  for (const { file, projectName } of listed)
    if (/^(ai|apps)$/.test(basename(dirname(file))))
      byProject.set(projectName, (byProject.get(projectName) ?? new Set()).add(basename(file)));
  rmSync(folder, { recursive: true });
  return byProject;
}
