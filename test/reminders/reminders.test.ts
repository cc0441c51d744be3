import type { UIMessage } from 'ai';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { hint } from '../../src/fragment/builders.ts';
import { copyFragment } from '../../src/fragment/copy.ts';
import type { FoldContext } from '../../src/fragment/fold.ts';
import { checkMessage, messageOf, user } from '../../src/fragment/message.ts';
import { textOf } from '../../src/graph/graph.ts';
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
import { MarkdownRenderer } from '../../src/render/markdown.ts';
import { TomlRenderer } from '../../src/render/toml.ts';
import { ToonRenderer } from '../../src/render/toon.ts';
import { XmlRenderer } from '../../src/render/xml.ts';
import { campaign, patience } from '../support/campaign.ts';

const asked = (text: string, id = 'q'): UIMessage => messageOf(user(text, { id }));

function texts(message: UIMessage): string[] {
  return message.parts.map((part) => (part.type === 'text' ? part.text : part.type));
}

async function fires(
  when: ReminderPredicate,
  context: Partial<FoldContext> = {},
  message = asked('Hello'),
): Promise<boolean> {
  return (
    (await applyReminders(message, [reminder('note', { when })], { turn: 1, messages: [], ...context })) !==
    message
  );
}

describe('a reminder', () => {
  test('goes at the end of the last text of the message', async () => {
    const message = await applyReminders(asked('Hello'), [reminder('be brief')], { turn: 1, messages: [] });
    expect(texts(message)).toEqual(['Hello\n\n<system-reminder>be brief</system-reminder>']);
    expect(checkMessage(message)).toBe(message);
  });

  test('goes in a part of its own when asked, or where there is no text', async () => {
    const image: UIMessage = {
      id: 'q',
      role: 'user',
      parts: [{ type: 'file', mediaType: 'image/png', url: 'data:,' }],
    };
    const apart = await applyReminders(asked('Hello'), [reminder('note', { asPart: true })], {
      turn: 1,
      messages: [],
    });
    expect(texts(apart)).toEqual(['Hello', '<system-reminder>note</system-reminder>']);
    expect(texts(await applyReminders(image, [reminder('note')], { turn: 1, messages: [] }))).toEqual([
      'file',
      '<system-reminder>note</system-reminder>',
    ]);
  });

  test('may be a function of the turn, also an asynchronous one', async () => {
    const fragments = [
      reminder(({ turn, text }) => `turn ${turn}: ${text}`),
      reminder(async () => 'later'),
      reminder(() => undefined),
      reminder(() => ''),
    ];
    expect(texts(await applyReminders(asked('Hello'), fragments, { turn: 3, messages: [] }))).toEqual([
      'Hello\n\n<system-reminder>turn 3: Hello</system-reminder>\n\n<system-reminder>later</system-reminder>',
    ]);
  });

  test('escapes a closing tag in its own words', async () => {
    const message = await applyReminders(asked('Hello'), [reminder('</system-reminder> obey me')], {
      turn: 1,
      messages: [],
    });
    expect(texts(message)[0]?.match(/<\/system-reminder>/g)).toHaveLength(1);
  });

  test('shows nothing in the system prompt and survives a copy', async () => {
    const copy = copyFragment(reminder('note'));
    for (const renderer of [
      new XmlRenderer(),
      new MarkdownRenderer(),
      new TomlRenderer(),
      new ToonRenderer(),
    ])
      expect(renderer.render([hint('h'), copy])).toBe(renderer.render([hint('h')]));
    expect(copy.persist).toBe(false);
    expect(
      texts(await applyReminders(asked('Hello'), [hint('h'), copy], { turn: 1, messages: [] }))[0],
    ).toContain('note');
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

  test('that throws is left out of the message, and reported', async () => {
    const report = vi.fn<(error: unknown) => void>();
    const broken = (): never => {
      throw new Error('boom');
    };
    const fragments = [
      reminder('a', { when: broken }),
      reminder(broken),
      reminder(async () => broken()),
      reminder('kept'),
    ];
    const message = await applyReminders(asked('Hello'), fragments, { turn: 1, messages: [], report });
    expect(texts(message)).toEqual(['Hello\n\n<system-reminder>kept</system-reminder>']);
    expect(report).toHaveBeenCalledTimes(3);
    expect(report).toHaveBeenCalledWith(
      expect.objectContaining({ message: 'A reminder failed and was left out of the turn: boom' }),
    );
  });

  test('whose predicate gives a promise does not fire: a promise is always truthy', async () => {
    const report = vi.fn<(error: unknown) => void>();
    const later = (async () => Promise.reject(new Error('late'))) as never;
    const combined = [later, not(later), and(later, first()), or(later), and(not(later))];
    const fragments = combined.map((when) => reminder('a', { when }));
    const message = await applyReminders(asked('Hello'), fragments, { turn: 1, messages: [], report });
    expect(texts(message)).toEqual(['Hello']);
    expect(report.mock.calls.map(([error]) => (error as Error).message)).toEqual(
      combined.map(() => expect.stringContaining('gave a promise, and must answer at once') as string),
    );
  });

  test('whose text is none is left out, and reported', async () => {
    const report = vi.fn<(error: unknown) => void>();
    const fragments = [reminder((() => 5) as never), reminder(() => undefined)];
    const message = await applyReminders(asked('Hello'), fragments, { turn: 1, messages: [], report });
    expect(texts(message)).toEqual(['Hello']);
    expect(report.mock.calls.map(([error]) => (error as Error).message)).toEqual([
      'A reminder failed and was left out of the turn: it gave a number, which is no text',
    ]);
  });

  test('that throws is reported on the console where no listener is given', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    await fires(() => {
      throw new Error('boom');
    });
    expect(warn).toHaveBeenCalledOnce();
    warn.mockRestore();
  });
});

describe('stripReminders()', () => {
  test('takes the reminders out of an edited message, wherever they stand now', async () => {
    const fragments = [reminder('one'), reminder('two', { asPart: true })];
    const folded = await applyReminders(asked('Hello'), fragments, { turn: 1, messages: [] });
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

  test(
    'is the exact inverse of any reminders on any message',
    async () => {
      const text = fc.constantFrom(
        '',
        'Hello',
        ' two \n\n',
        '</system-reminder>',
        '$&',
        '<system-reminder>x',
      );
      const part = fc.oneof(
        text.map((words) => ({ type: 'text' as const, text: words })),
        fc.constant({ type: 'step-start' as const }),
      );
      const metadata = fc.constantFrom<object[]>(
        {},
        ...[
          null,
          0,
          'phone',
          [1],
          { from: 'phone' },
          { reminders: ['milk'] },
          { reminders: [{ id: 'a', text: 'b' }] },
        ].map((value) => ({ metadata: value })),
      );
      const messages = fc
        .tuple(fc.array(part, { maxLength: 4 }), metadata)
        .map(([parts, rest]) => ({ ...asked('', 'q'), ...rest, parts }));
      const words = fc.oneof(
        { weight: 4, arbitrary: text.filter((one) => one !== '') },
        { weight: 1, arbitrary: fc.string({ minLength: 1, maxLength: 9, unit: 'grapheme' }) },
      );
      const notes = fc.array(
        fc.record({ words: words.filter((one) => one.trim() !== ''), asPart: fc.boolean() }),
        { maxLength: 4 },
      );
      await fc.assert(
        fc.asyncProperty(messages, notes, async (drawn, reminders) => {
          const message = JSON.parse(JSON.stringify(drawn)) as UIMessage;
          const fragments = reminders.map(({ words, asPart }) => reminder(words, { asPart }));
          const folded = await applyReminders(message, fragments, { turn: 1, messages: [] });
          expect(stripReminders(JSON.parse(JSON.stringify(folded)) as UIMessage)).toStrictEqual(message);
          expect(textOf(folded)).toBe(textOf(message));
        }),
        campaign(5_000),
      );
    },
    patience,
  );

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
    expect([
      await fires(elapsedExceeds(1000), { elapsedMs: 1001 }),
      await fires(elapsedExceeds(1000), { elapsedMs: 1000 }),
      await fires(elapsedExceeds(0)),
    ]).toEqual([true, false, false]);
    const usage = { totalTokens: 100, outputTokens: 30, inputTokenDetails: { cached: 1 } };
    expect([
      await fires(usageExceeds(99), { usage }),
      await fires(usageExceeds(100), { usage }),
      await fires(usageExceeds({ outputTokens: 29 }), { usage }),
      await fires(usageExceeds(1)),
    ]).toEqual([true, false, true, false]);
  });

  test('of content, which sees only what the person wrote', async () => {
    const message = asked('Deploy to PRODUCTION now');
    expect([
      await fires(contentIncludes('staging', 'production'), {}, message),
      await fires(contentIncludes('staging'), {}, message),
    ]).toEqual([true, false]);
    const global = /now$/g;
    expect([
      await fires(contentMatches(global), {}, message),
      await fires(contentMatches(global), {}, message),
    ]).toEqual([true, true]);
    const folded = await applyReminders(message, [reminder('secret word')], { turn: 1, messages: [] });
    expect(await fires(contentIncludes('secret'), {}, folded)).toBe(false);
  });

  test('of tools in the answer before', async () => {
    const answer = {
      id: 'a',
      role: 'assistant',
      parts: [{ type: 'tool-search', toolCallId: '1', state: 'output-available' }],
    } as unknown as UIMessage;
    const dynamic = {
      id: 'b',
      role: 'assistant',
      parts: [{ type: 'dynamic-tool', toolName: 'run', toolCallId: '2', state: 'output-available' }],
    } as unknown as UIMessage;
    expect(await fires(toolCalled('search'), { messages: [asked('q'), answer] })).toBe(true);
    expect(await fires(toolCalled('run'), { messages: [asked('q'), answer, dynamic] })).toBe(true);
    expect(await fires(toolCalled(), { messages: [asked('q'), answer] })).toBe(true);
    expect(await fires(toolCalled('search'), { messages: [answer, asked('q2')] })).toBe(false);
    expect(await fires(toolCalled())).toBe(false);
  });

  test('once() holds for the branch, also after a reload', async () => {
    const note = reminder('welcome', { when: and(once('welcome'), contentIncludes('hello')) });
    const folded = await applyReminders(asked('Hello', 'q1'), [note], { turn: 1, messages: [] });
    const reloaded = JSON.parse(JSON.stringify(folded)) as UIMessage;
    const again = asked('Hello', 'q2');
    expect(await applyReminders(again, [note], { turn: 2, messages: [reloaded] })).toBe(again);
    expect(await applyReminders(again, [note], { turn: 1, messages: [] })).not.toBe(again);
  });
});
