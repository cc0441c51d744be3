import type { ContextEngine, ContextEvent } from 'contextree';
import { expect, test } from 'vitest';
import { eventLine, keyOfEvent } from '../../devtools/eventLine.ts';
import { EventLog } from '../../devtools/events.ts';

/** An engine that tells what a test says, and to how many. */
function teller() {
  const listeners = new Set<(event: ContextEvent) => void>();
  const subscribe = (listener: (event: ContextEvent) => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  return {
    engine: { subscribe } as unknown as ContextEngine,
    tell: (event: Partial<ContextEvent>) => {
      for (const listener of listeners) listener({ at: 0, ms: 0, ...event } as ContextEvent);
    },
    listeners,
  };
}

const draft = (id: string) =>
  ({ type: 'stream', phase: 'draft', branch: 'main', id, status: 'streaming' }) as const;
const set = { type: 'set', fragments: 1, messages: 0 } as const;

test('counts the drafts of one message that follow each other as one', () => {
  const { engine, tell } = teller();
  const log = new EventLog(engine);
  log.listen();
  tell(draft('a1'));
  for (let i = 0; i < 99; i += 1) tell(draft('a1'));
  tell(draft('a2'));
  tell(draft('a1'));
  expect(log.list().map(({ count, number }) => [count, number])).toEqual([
    [100, 1],
    [1, 2],
    [1, 3],
  ]);
});

test('keeps the last thousand, which weigh less than 2 MB', () => {
  const { engine, tell } = teller();
  const log = new EventLog(engine);
  log.listen();
  for (let i = 0; i < 1_200; i += 1) tell({ ...draft(crypto.randomUUID()), phase: 'end' });
  expect(log.list().map(({ number }) => number)).toEqual(Array.from({ length: 1_000 }, (_, i) => i + 201));
  expect(JSON.stringify(log.list()).length).toBeLessThan(2e6);
});

test('every event says what it is about, and leads to a message that is known', () => {
  const about = { at: 0, ms: 0 };
  const events: readonly [event: ContextEvent, line: string, key?: string][] = [
    [{ ...about, ...set }, 'fragments 1, messages 0'],
    [
      { ...about, type: 'resolve', branch: 'main', messages: 2, characters: 1_234 },
      'messages 2, characters 1234, main',
    ],
    [{ ...about, type: 'save', branch: 'main', ids: ['q1', 'a1'] }, 'ids 2, main', 'key:a1'],
    [{ ...about, type: 'switch', from: 'main', to: 'other' }, 'from main, to How much salt?', 'key:head'],
    [
      { ...about, type: 'branch', action: 'create', name: 'other', id: 'b' },
      'create, How much salt?',
      'key:head',
    ],
    [
      { ...about, type: 'checkpoint', action: 'delete', name: 'other', messageId: 'a1' },
      'delete, other',
      'key:a1',
    ],
    [
      { ...about, type: 'stream', phase: 'end', branch: 'main', id: 'a1', status: 'interrupted' },
      'end, interrupted, main',
      'key:a1',
    ],
    [
      { ...about, type: 'request', phase: 'end', id: 'r', answerId: 'a1', branchId: 'b', status: 'failed' },
      'end, failed',
      'key:a1',
    ],
    [
      { ...about, type: 'request', phase: 'told', id: 'r', answerId: 'a9', branchId: 'b', status: 'open' },
      'told, open',
      'key:head',
    ],
    [
      { ...about, type: 'conflict', policy: 'fork', from: 'main', to: 'other', toId: 'b' },
      'fork, from main, to How much salt?',
      'key:head',
    ],
    [
      { ...about, type: 'error', code: 'data-loss', message: 'Gone\u202e' },
      String.raw`data-loss, Gone\u{202e}`,
    ],
    [{ ...about, type: 'of a later version', lost: 3 } as never, 'lost 3'],
  ];
  const engine = { node: (id: string) => (id === 'a1' ? { key: 'key:a1' } : undefined) } as never;
  const branches = [{ id: 'b', name: 'other', label: 'How much salt?', headKey: 'key:head' }] as never;
  for (const [event, line, key] of events) {
    expect(eventLine(event, branches)).toBe(line);
    expect(keyOfEvent(event, engine, { branches })).toBe(key);
  }
});
