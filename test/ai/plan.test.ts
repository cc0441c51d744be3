import type { UIMessage } from 'ai';
import { describe, expect, it } from 'vitest';
import { planTurn, type Saved } from '../../src/ai/plan.ts';
import { sameContent } from '../../src/engine/same.ts';

/** `q1 a1 q2`: messages by id; `q1!` has another text than `q1`; `a1~` is empty. */
function list(line: string): UIMessage[] {
  return line
    .split(' ')
    .filter(Boolean)
    .map((word) => {
      const id = word.slice(0, 2);
      const text = word.endsWith('~') ? '' : word;
      return { id, role: id.startsWith('q') ? 'user' : 'assistant', parts: [{ type: 'text', text }] };
    });
}

function plan(asked: string, saved: string, messageId?: string): string {
  const { kept, fresh, answer, goesOn } = planTurn(list(asked), chain(list(saved)), messageId);
  const ids = (messages: readonly UIMessage[]): string => messages.map(({ id }) => id).join(' ');
  return [ids(kept), ids(fresh), answer ? `${answer.id}${HOW[goesOn]}` : ''].join(' / ');
}

const HOW = { 'in place': '', 'as a version': ' once more', anew: ' anew' } as const;

/** One saved conversation, under keys that equal its ids. */
function chain(saved: readonly UIMessage[]): Saved<UIMessage> {
  const find = (key: string | null): number => saved.findIndex(({ id }) => `key:${id}` === key);
  return {
    head: saved.length > 0 ? `key:${saved.at(-1)!.id}` : undefined,
    has: ({ id }) => find(`key:${id}`) !== -1,
    at: ({ id }, parentKey) => (saved[find(parentKey) + 1]?.id === id ? [`key:${id}`] : []),
    says: (key, message) => sameContent(saved[find(key)], message),
  };
}

describe('what a list asks for', () => {
  it.each([
    ['a first question', 'q1', '', ' / q1 / '],
    ['another question', 'q1 a1 q2', 'q1 a1', 'q1 a1 / q2 / '],
    ['the last question again', 'q1', 'q1 a1', 'q1 /  / '],
    ['a question again that was not answered', 'q1', 'q1', 'q1 /  / '],
    ['an older question again', 'q1', 'q1 a1 q2 a2', 'q1 /  / '],
    ['a question in place of another', 'q1 a1 q9', 'q1 a1 q2 a2', 'q1 a1 / q9 / '],
    ['a changed question', 'q1!', 'q1 a1', ' / q1 / '],
    ['a changed past', 'q1! a1 q2', 'q1 a1', ' / q1 a1 q2 / '],
    ['a shortened past', 'q1 q2', 'q1 a1', 'q1 / q2 / '],
    ['several new ones', 'q1 a1 q2 a2 q3', 'q1 a1', 'q1 a1 / q2 a2 q3 / '],
    ['an answer to go on', 'q1 a1', 'q1 a1', 'q1 /  / a1'],
    ['a changed answer to go on, as a tool leaves it', 'q1 a1!', 'q1 a1', 'q1 /  / a1'],
    ['an older answer to go on', 'q1 a1', 'q1 a1 q2 a2', 'q1 /  / a1 once more'],
    ['a changed older answer to go on', 'q1 a1!', 'q1 a1 q2 a2', 'q1 /  / a1 anew'],
    ['an answer of the app to go on', 'q1 a9', 'q1', 'q1 /  / a9 anew'],
    ['an answer that said nothing', 'q1 a1~ q2', 'q1', 'q1 / q2 / '],
  ])('%s', (_name, asked, saved, expected) => {
    expect(plan(asked, saved)).toBe(expected);
  });

  it('is one message where one stands twice', () => {
    const [question, answer] = list('q1 a1') as [UIMessage, UIMessage];
    const twice = [question, answer, question, answer, ...list('q2')];
    expect(planTurn(twice, chain(list(''))).fresh.map(({ id }) => id)).toEqual(['q1', 'a1', 'q2']);
  });

  it('lets the answer that is named go on, wherever it stands', () => {
    expect(plan('q1 a1! q2 a2', 'q1 a1 q2 a2', 'a1')).toBe('q1 /  / a1');
    expect(plan('q1', 'q1 a1', 'a1')).toBe('q1 /  / ');
  });
});
