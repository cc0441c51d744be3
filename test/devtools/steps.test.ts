import { expect, test } from 'vitest';
import { stepsOf } from '../../devtools/steps.ts';
import { engineOn, say } from '../support/engine.ts';

test('messages and operations are steps, in the order in which they were made', async () => {
  const engine = engineOn();
  await say(engine, 'q1', 'a1');
  await engine.checkpoint('here');
  await say(engine, 'q2');
  await engine.renameBranch('main', 'ideas');
  await engine.undo();
  const steps = stepsOf(engine.graph().nodes, engine.operations());
  expect(steps.map(({ kind, label, state }) => [kind, label, state])).toEqual([
    ['user', 'q1', undefined],
    ['assistant', 'a1', undefined],
    ['set checkpoint', 'here', 'undoable'],
    ['user', 'q2', undefined],
    ['renamed branch', 'main → ideas', 'undone'],
  ]);
  expect(steps.map(({ at }) => at)).toEqual(steps.map(({ at }) => at).toSorted((a, b) => a - b));
});
