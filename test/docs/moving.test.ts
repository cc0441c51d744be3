import { stripReminders } from 'contextree/reminders';
import { expect, test } from 'vitest';
import { message } from '../../src/fragment/message.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import { branchesIn, engineOn, said } from '../support/engine.ts';

/** Rows as @deepagents/context keeps them: a version of an answer has the id of the first one inside. */
const main = ['q1', 'a1', 'q2'].map((id) => ({ id, data: said(id) }));
const edited = [{ id: 'a9', data: said('a1', 'better') }];

test('a stored chat moves with its branches as the page tells it', async () => {
  const store = new InMemoryContextStore();
  const engine = engineOn(store);
  engine.set(...main.map((row) => message({ ...row.data, id: row.id })));
  await engine.save();
  await engine.rewind('q1');
  engine.set(...edited.map((row) => message({ ...row.data, id: row.id })));
  await engine.save();
  expect(await branchesIn(store)).toEqual({ main: 'q1 > a1 > q2', 'main-v2': 'q1 > better' });
  expect(engine.headMessageId).toBe('a9');
});

test('and the reminders in it are known as such', () => {
  const note = '<system-reminder>Be brief.</system-reminder>';
  const reminders = [
    { id: 'r', text: 'Be brief.', partIndex: 0, start: 2, end: 2 + note.length, mode: 'inline' },
  ];
  const stored = { ...said('q1', `Hi${note}`), metadata: { reminders } };
  expect(stripReminders(stored).parts).toEqual([{ type: 'text', text: 'Hi' }]);
});
