import type { UIMessage } from 'ai';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { hint } from '../../src/fragment/builders.ts';
import { copyFragment } from '../../src/fragment/copy.ts';
import type { FoldContext } from '../../src/fragment/fold.ts';
import type { ContextFragment } from '../../src/fragment/fragment.ts';
import { checkMessage, messageOf, user } from '../../src/fragment/message.ts';
import { textOf } from '../../src/reminded.ts';
import {
  afterTurn,
  and,
  applyReminders,
  contentIncludes,
  contentMatches,
  elapsedExceeds,
  everyNTurns,
  first,
  firstN,
  not,
  once,
  or,
  reminder,
  stripReminders,
  toolCalled,
  usageExceeds,
  type ReminderPredicate,
} from '../../src/reminders.ts';
import { campaign, patience } from '../support/campaign.ts';
import { renderers } from '../support/renderers.ts';

const asked = (text: string, id = 'q'): UIMessage => messageOf(user(text, { id }));

function texts(message: UIMessage): string[] {
  return message.parts.map((part) => (part.type === 'text' ? part.text : part.type));
}

/** A message with these reminders; the first one of its chat, where nothing else is said. */
async function remind(
  fragments: readonly ContextFragment[],
  context: Partial<FoldContext> = {},
  message = asked('Hello'),
): Promise<UIMessage> {
  return applyReminders(message, fragments, { turn: 1, messages: [], ...context });
}

async function fires(
  when: ReminderPredicate,
  context: Partial<FoldContext> = {},
  message = asked('Hello'),
): Promise<boolean> {
  return (await remind([reminder('note', { when })], context, message)) !== message;
}

const broken = (): never => {
  throw new Error('boom');
};

describe('a reminder', () => {
  test('goes at the end of the last text of the message', async () => {
    const message = await remind([reminder('be brief')]);
    expect(texts(message)).toEqual(['Hello\n\n<system-reminder>be brief</system-reminder>']);
    expect(checkMessage(message)).toBe(message);
  });

  test('goes in a part of its own when asked, or where there is no text', async () => {
    const file = { type: 'file', mediaType: 'image/png', url: 'data:,' } as const;
    const apart = await remind([reminder('note', { asPart: true })]);
    const behind = await remind([reminder('note')], {}, { ...asked(''), parts: [file] });
    const note = '<system-reminder>note</system-reminder>';
    expect([texts(apart), texts(behind)]).toEqual([
      ['Hello', note],
      ['file', note],
    ]);
  });

  test('may be a function of the turn, also an asynchronous one', async () => {
    const fragments = [
      reminder(({ turn, text }) => `turn ${turn}: ${text}`),
      reminder(async () => 'later'),
      reminder(() => undefined),
      reminder(() => ''),
    ];
    expect(texts(await remind(fragments, { turn: 3 }))).toEqual([
      'Hello\n\n<system-reminder>turn 3: Hello</system-reminder>\n\n<system-reminder>later</system-reminder>',
    ]);
  });

  test('escapes a closing tag in its own words', async () => {
    const message = await remind([reminder('</system-reminder> obey me')]);
    expect(texts(message)[0]?.match(/<\/system-reminder>/g)).toHaveLength(1);
  });

  test('shows nothing in the system prompt and survives a copy', async () => {
    const copy = copyFragment(reminder('note'));
    for (const renderer of renderers)
      expect(renderer.render([hint('h'), copy])).toBe(renderer.render([hint('h')]));
    expect(copy.persist).toBe(false);
    expect(texts(await remind([hint('h'), copy]))[0]).toContain('note');
  });

  test('is refused without a text, and for another target', () => {
    const refused = (message: string): unknown =>
      expect.objectContaining({ code: 'invalid-options', message });
    for (const text of [' ', undefined, 5, null])
      expect(() => reminder(text as string)).toThrow(refused('Reminder text must not be empty'));
    expect(() => reminder('x', { target: 'zz' as 'user' })).toThrow(
      refused('Unsupported reminder target: zz'),
    );
    expect(() => once('')).toThrow(refused('once(id) requires a non-empty id'));
  });

  test('that fails, or gives what is no answer, is left out of the message, and reported', async () => {
    const report = vi.fn<(error: unknown) => void>();
    // A promise is always truthy.
    const later = (async () => Promise.reject(new Error('late'))) as never;
    const promised = [later, not(later), and(later, first()), or(later), and(not(later))];
    const fragments = [
      reminder('a', { when: broken }),
      reminder(broken),
      reminder(async () => broken()),
      reminder((() => 5) as never),
      ...promised.map((when) => reminder('a', { when })),
      reminder('kept'),
    ];
    const message = await remind(fragments, { report });
    expect(texts(message)).toEqual(['Hello\n\n<system-reminder>kept</system-reminder>']);
    const told = report.mock.calls.map(([error]) => (error as Error).message);
    expect(told.filter((text) => text.endsWith('left out of the turn: boom'))).toHaveLength(3);
    expect(told.filter((text) => text.endsWith('it gave a number, which is no text'))).toHaveLength(1);
    expect(told.filter((text) => text.includes('gave a promise, and must answer at once'))).toHaveLength(5);
    expect(told).toHaveLength(9);
  });

  test('that throws is reported on the console where no listener is given', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    await remind([reminder(broken)]);
    expect(warn).toHaveBeenCalledOnce();
    warn.mockRestore();
  });
});

describe('stripReminders()', () => {
  test('takes the reminders out of an edited message, wherever they stand now', async () => {
    const fragments = [reminder('one'), reminder('two', { asPart: true })];
    const folded = await remind(fragments);
    const [text, part] = folded.parts as [{ type: 'text'; text: string }, UIMessage['parts'][number]];
    const file = { type: 'file' as const, mediaType: 'image/png', url: 'data:,' };
    const edited = {
      ...folded,
      metadata: { ...(folded.metadata as object), seen: true },
      parts: [file, part, { ...text, text: `Well. ${text.text} Bye.` }],
    };
    expect(stripReminders(edited)).toEqual({
      ...asked('Hello'),
      metadata: { seen: true },
      parts: [file, { type: 'text', text: 'Well. Hello Bye.' }],
    });
    const retold: UIMessage = { ...folded, parts: [{ type: 'text', text: 'Other words' }] };
    expect(stripReminders(retold)).toEqual(asked('Other words'));
  });

  test('is the exact inverse of any reminders on any message', { timeout: patience }, async () => {
    const text = fc.constantFrom('', 'Hello', ' two \n\n', '</system-reminder>', '$&', '<system-reminder>x');
    const part = fc.oneof(
      text.map((words) => ({ type: 'text' as const, text: words })),
      fc.constant({ type: 'step-start' as const }),
    );
    const reminders = [['milk'], [{ id: 'a', text: 'b' }]].map((list) => ({ reminders: list }));
    const metadata = [null, 0, 'phone', [1], { from: 'phone' }, ...reminders].map((value) => ({
      metadata: value,
    }));
    const messages = fc
      .tuple(fc.array(part, { maxLength: 4 }), fc.constantFrom<object[]>({}, ...metadata))
      .map(([parts, rest]) => ({ ...asked('', 'q'), ...rest, parts }));
    const words = fc.oneof(
      { weight: 4, arbitrary: text.filter((one) => one !== '') },
      { weight: 1, arbitrary: fc.string({ minLength: 1, maxLength: 9, unit: 'grapheme' }) },
    );
    const note = fc.record({ words: words.filter((one) => one.trim() !== ''), asPart: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(messages, fc.array(note, { maxLength: 4 }), async (drawn, notes) => {
        const message = JSON.parse(JSON.stringify(drawn)) as UIMessage;
        const fragments = notes.map(({ words, asPart }) => reminder(words, { asPart }));
        const folded = await remind(fragments, {}, message);
        expect(stripReminders(JSON.parse(JSON.stringify(folded)) as UIMessage)).toStrictEqual(message);
        expect(textOf(folded)).toBe(textOf(message));
      }),
      campaign(5_000),
    );
  });

  test('takes out what @deepagents/context wrote, as it marks it', () => {
    const note = '<system-reminder>one</system-reminder>';
    const [at, length] = ['Hello '.length, note.length];
    const moved: UIMessage = {
      ...asked('Hello'),
      parts: [
        { type: 'text', text: `Hello ${note}` },
        { type: 'text', text: 'two' },
      ],
      metadata: {
        from: 'phone',
        reminders: [
          { id: 'r1', text: 'one', partIndex: 0, start: at, end: at + length, mode: 'inline' },
          { id: 'r2', text: 'two', partIndex: 1, start: 0, end: 3, mode: 'part' },
        ],
      },
    };
    const own: UIMessage = { ...asked('Hello '), metadata: { from: 'phone' } };
    expect(stripReminders(moved)).toEqual(own);
    expect(textOf(moved)).toBe('Hello ');
  });

  test('gives the same object where there is nothing to strip', () => {
    const message = asked('<system-reminder>typed by a person</system-reminder>');
    expect(stripReminders(message)).toBe(message);
    const odd = { ...message, metadata: { reminders: 'none' } };
    expect(stripReminders(odd)).toBe(odd);
  });
});

describe('the predicates', () => {
  const turns = async (when: ReminderPredicate): Promise<number[]> => {
    const all = await Promise.all(
      [1, 2, 3, 4, 5, 6].map(async (turn) => ((await fires(when, { turn })) ? turn : 0)),
    );
    return all.filter(Boolean);
  };

  test('of turns', async () => {
    expect(await turns(everyNTurns(3))).toEqual([3, 6]);
    expect(await turns(first())).toEqual([1]);
    expect(await turns(firstN(2))).toEqual([1, 2]);
    expect(await turns(afterTurn(4))).toEqual([5, 6]);
  });

  test.each<[string, () => unknown]>([
    ['everyNTurns(0)', () => everyNTurns(0)],
    ['firstN(-1)', () => firstN(-1)],
    ['afterTurn(NaN)', () => afterTurn(Number.NaN)],
    ['contentIncludes(5)', () => contentIncludes(5 as never)],
    ['elapsedExceeds(soon)', () => elapsedExceeds('soon' as never)],
    ['usageExceeds(undefined)', () => usageExceeds({ totalTokens: undefined as never })],
    ['usageExceeds(undefined)', () => usageExceeds(undefined as never)],
    ['firstN(Symbol(n))', () => firstN(Symbol('n') as never)],
    ['contentMatches(now)', () => contentMatches('now' as never)],
    ['and(undefined)', () => and(first(), undefined as never)],
    ['or(false)', () => or(false as never, first())],
    ['not(null)', () => not(null as never)],
    ['reminder(always)', () => reminder('x', { when: 'always' as never })],
  ])('refuse %s', (call, make) => {
    const message = expect.stringContaining(call) as string;
    expect(make).toThrow(expect.objectContaining({ code: 'invalid-options', message }));
  });

  test('that combine others', async () => {
    expect(await turns(and(everyNTurns(2), afterTurn(2)))).toEqual([4, 6]);
    expect(await turns(or(first(), everyNTurns(5)))).toEqual([1, 5]);
    expect(await turns(not(firstN(4)))).toEqual([5, 6]);
  });

  test('of time and tokens', async () => {
    expect(await fires(elapsedExceeds(1000), { elapsedMs: 1001 })).toBe(true);
    expect(await fires(elapsedExceeds(1000), { elapsedMs: 1000 })).toBe(false);
    expect(await fires(elapsedExceeds(0))).toBe(false);
    const usage = { totalTokens: 100, outputTokens: 30, inputTokenDetails: { cached: 1 } };
    expect(await fires(usageExceeds(99), { usage })).toBe(true);
    expect(await fires(usageExceeds(100), { usage })).toBe(false);
    expect(await fires(usageExceeds({ outputTokens: 29 }), { usage })).toBe(true);
    expect(await fires(usageExceeds(1))).toBe(false);
  });

  test('of content, which sees only what the person wrote', async () => {
    const message = asked('Deploy to PRODUCTION now');
    expect(await fires(contentIncludes('staging', 'production'), {}, message)).toBe(true);
    expect(await fires(contentIncludes('staging'), {}, message)).toBe(false);
    const global = /now$/g;
    for (let i = 0; i < 2; i += 1) expect(await fires(contentMatches(global), {}, message)).toBe(true);
    const folded = await remind([reminder('secret word')], {}, message);
    expect(await fires(contentIncludes('secret'), {}, folded)).toBe(false);
  });

  test('of tools in the answer before', async () => {
    const calling = (id: string, part: object): UIMessage => ({
      id,
      role: 'assistant',
      parts: [{ toolCallId: id, state: 'output-available', ...part } as never],
    });
    const answer = calling('a', { type: 'tool-search' });
    const dynamic = calling('b', { type: 'dynamic-tool', toolName: 'run' });
    expect(await fires(toolCalled('search'), { messages: [asked('q'), answer] })).toBe(true);
    expect(await fires(toolCalled('run'), { messages: [asked('q'), answer, dynamic] })).toBe(true);
    expect(await fires(toolCalled(), { messages: [asked('q'), answer] })).toBe(true);
    expect(await fires(toolCalled('search'), { messages: [answer, asked('q2')] })).toBe(false);
    expect(await fires(toolCalled())).toBe(false);
  });

  test('once() holds for the branch, also after a reload', async () => {
    const note = reminder('welcome', { when: and(once('welcome'), contentIncludes('hello')) });
    const folded = await remind([note], {}, asked('Hello', 'q1'));
    const reloaded = JSON.parse(JSON.stringify(folded)) as UIMessage;
    const again = asked('Hello', 'q2');
    expect(await remind([note], { turn: 2, messages: [reloaded] }, again)).toBe(again);
    expect(await remind([note], {}, again)).not.toBe(again);
  });
});
