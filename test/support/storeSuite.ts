import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { recordAt } from '../../src/graph/graph.ts';
import { createChat, join, recordsOf } from '../../src/graph/join.ts';
import { markId } from '../../src/graph/marks.ts';
import { getMessage } from '../../src/store/reads.ts';
import type {
  CommitOptions,
  ContextStore,
  Readable,
  StoreDelta,
  StoreNotice,
} from '../../src/store/store.ts';
import { blobUrl } from '../../src/store/tables/files.ts';
import {
  asRead,
  beginning,
  begun,
  CHAT,
  endsOf,
  mark,
  me,
  message,
  oneMore,
  only,
  reserved,
  said,
  underKey,
  versionOf,
  words,
} from './storeRecords.ts';

/** What a suite is run on: a store, and another one on the same database, as a second tab has it. */
export interface Opened {
  readonly store: ContextStore;
  /** In memory, where there are no tabs, the store itself. */
  readonly other: () => Promise<ContextStore>;
}

/** What is asked by an id alone. */
const BY_ID = [
  ...(['load', 'held', 'getChat', 'getMessages', 'listBranches', 'listCheckpoints', 'getGraph'] as const),
  ...(['deleteChat', 'restoreChat', 'getBlob', 'putBlob', 'get', 'delete'] as const),
];

/**
 * The store's contract, as what a person or an app sees of it; the same for every store. `open` gives an empty database;
 * the suite closes what it is given.
 */
export function storeSuite(name: string, open: () => Promise<Opened>): void {
  describe(`${name} keeps the contract`, () => {
    let opened: Opened;
    let store: ContextStore;

    beforeEach(async () => {
      opened = await open();
      store = opened.store;
    });
    afterEach(async () => {
      vi.useRealTimers();
      await store.close();
    });

    const write = (delta: StoreDelta, options: Partial<CommitOptions> = {}) =>
      store.commit('c', delta, { ...me, ...options });
    const keys = async () => (await store.load('c')).messages.map(({ key }) => key).toSorted();
    const body = async (id: string, chatId = 'c') =>
      (await store.bodies(chatId, [`key:${id}`])).get(`key:${id}`);
    const text = async (id: string, chatId = 'c') =>
      (await body(id, chatId))?.message.parts.map((part) => (part as { text: string }).text).join();
    const rewritten = (id: string, parent: string | null, rev: number, text: string, by = 'tab-1') =>
      only({ messages: [said(id, parent, { versions: [words(id, text, { rev, by })] })] });
    const refusal = async (work: Promise<unknown>) => {
      try {
        await work;
      } catch (error) {
        const { code, message, details } = error as { code: string; message: string; details: unknown };
        return { code, message, details };
      }
      return { code: 'none', message: 'it was not refused', details: {} };
    };
    const codeOf = async (work: Promise<unknown>) => (await refusal(work)).code;
    const snapshot = async () =>
      JSON.stringify([await store.load('c'), await store.changesSince(0), await store.getChat('c')]);
    /** A second tab, closed with the test. */
    const otherTab = async () => {
      const other = await opened.other();
      onTestFinished(() => other.close());
      return other;
    };

    it('knows nothing when it is new', async () => {
      expect(await store.load('c')).toMatchObject({
        seq: 0,
        messages: [],
        ends: [],
        marks: [],
        growing: [],
        deleted: [],
      });
      expect(await store.bodies('c', ['key:q1'])).toEqual(new Map());
      expect(await store.revisions('c', 'key:q1')).toEqual([]);
      expect(await store.getChat('c')).toBeUndefined();
      expect(await store.listChats()).toEqual([]);
      expect(await store.searchMessages('c', 'word')).toEqual([]);
      expect(await store.changesSince(0)).toEqual([]);
      expect(await store.held('c')).toEqual(new Set());
      expect(await store.getMessage('c', 'q1')).toBeUndefined();
      for (const none of [
        store.getMessageChain('c', 'q1'),
        store.listBranches('c'),
        store.listCheckpoints('c'),
      ])
        expect(await none).toEqual([]);
      expect(await store.getGraph('c')).toEqual({ chatId: 'c', nodes: [], branches: [], checkpoints: [] });
      expect(await refusal(store.getMessages('c'))).toMatchObject({
        code: 'chat-missing',
        message: 'Chat "c" not found',
      });
    });

    describe('a commit', () => {
      it('is read back: places, words, ends and marks, without bodies among the records', async () => {
        const { seq } = await write(begun('me', 'q1 > a1', 'q1 > b1'));
        const records = await store.load('c');
        expect(records).toMatchObject({ seq, generation: 0, growing: [], deleted: [] });
        expect(records.database).not.toBe('');
        expect(records.messages.map(({ id, parent }) => `${parent} > ${id}`).toSorted()).toEqual([
          'key:q1 > a1',
          'key:q1 > b1',
          'null > q1',
        ]);
        expect(records.messages.every(({ versions }) => versions.length === 1 && !versions[0]!.body)).toBe(
          true,
        );
        expect(records.ends.map(({ id, keys }) => `${id} ${keys.join()}`).toSorted()).toEqual([
          'main key:a1',
          'r1 key:b1',
        ]);
        expect(records.marks).toMatchObject([{ id: `beginning ${CHAT}`, value: { userId: 'me' } }]);
        expect(await text('a1')).toBe('a1');
        expect(await keys()).toHaveLength(3);
      });

      it('is there once, however often, however late and in what pieces it is sent', async () => {
        const whole = begun('me', 'q1 > a1 > q2 > a2', 'q1 > b1');
        await write(whole);
        const before = await snapshot();
        await write(whole);
        await write(only({ messages: whole.messages.slice(0, 2), ends: [endsOf('main', ['a1'])] }));
        await write(
          only({ messages: [said('q1', null, { seq: 1e9 })], ends: [endsOf('r1', ['b1'], { seq: 1e9 })] }),
        );
        await write(only({ marks: whole.marks }));
        expect(await snapshot()).toBe(before);
      });

      it('may say the same thing twice', async () => {
        const { messages, ends, marks } = begun('me', 'q1 > a1');
        const usage = mark(markId.usage('a'), { tokens: 5 });
        await write({
          messages: [...messages, ...messages],
          ends: [...ends, ...ends],
          marks: [...marks, usage, usage],
        });
        expect(await store.getChat('c')).toMatchObject({
          messageCount: 2,
          branchCount: 1,
          metadata: { usage: { tokens: 5 } },
        });
        const { messages: read } = await store.load('c');
        expect(read.map(({ id }) => id).toSorted()).toEqual(['a1', 'q1']);
        expect((await store.changesSince(0)).filter(({ kind }) => kind === 'message')).toHaveLength(2);
      });

      it('tells only what changed since the caller read, and where what was handed in lies', async () => {
        const first = await write(begun('me', 'q1 > a1'));
        const here = await asRead(store);
        await write(oneMore('q2', 'a1'), here);
        const second = await write(oneMore('b1', 'q1', { record: 'r1' }), here);
        expect(second.seq).toBeGreaterThan(first.seq);
        expect(second.messages.map(({ id }) => id).toSorted()).toEqual(['b1', 'q2']);
        expect(second.messages.every(({ seq = 0 }) => seq > here.since)).toBe(true);
        expect(second.ends.map(({ id }) => id).toSorted()).toEqual(['main', 'r1']);
        const { seq = 0 } = (await store.load('c')).messages.find(({ id }) => id === 'q1') ?? {};
        const again = await write(only({ messages: [said('q1', null, { seq })] }), {
          ...here,
          since: second.seq,
        });
        expect(again.messages).toMatchObject([{ key: 'key:q1', seq: expect.any(Number) }]);
        expect((await store.load('c', second.seq)).messages).toEqual([]);
        // Where it lies in another database says nothing here.
        const far = { seq: 1e9 };
        await write(only({ messages: [said('c1', 'q1', far)], ends: [endsOf('r2', ['c1'], far)] }), here);
        const read = await store.load('c', second.seq);
        expect([...read.messages, ...read.ends].map(({ seq = 0 }) => seq <= read.seq)).toEqual([true, true]);
      });
    });

    describe('what is joined', () => {
      it('shows the greatest version with words, whichever comes last', async () => {
        await write(begun('me', 'q1 > a1'));
        await write(rewritten('a1', 'q1', 3, 'third'));
        await write(rewritten('a1', 'q1', 2, 'second'));
        expect(await text('a1')).toBe('third');
        await write(rewritten('a1', 'q1', 3, 'also third', 'tab-2'));
        expect(await text('a1')).toBe('also third');
        expect(await store.getChat('c')).toMatchObject({ messageCount: 2 });
        await write(
          only({ messages: [said('a1', 'q1', { versions: [{ ...reserved, rev: 9, gone: true }] })] }),
        );
        expect(await text('a1')).toBe('also third');
      });

      it('keeps the words that were lost when somebody who has them comes', async () => {
        const { body: _body, ...stub } = words('a1');
        await write(begun('me', 'q1'));
        await write(only({ messages: [said('a1', 'q1', { versions: [stub] })] }));
        expect(await text('a1')).toBeUndefined();
        const { seq } = await store.load('c');
        await write(only({ messages: [said('a1', 'q1')] }));
        expect(await text('a1')).toBe('a1');
        expect((await store.load('c', seq)).messages).toMatchObject([{ id: 'a1' }]);
      });

      it('unites the ends of a branch record, and takes out those that a turn leaves behind', async () => {
        await write(begun('me', 'q1 > a1'));
        await write(oneMore('b1', 'q1'));
        await write(only({ messages: [said('q2', 'a1'), said('a2', 'q2')], ends: [endsOf('main', ['a2'])] }));
        const [main] = (await store.load('c')).ends;
        expect(main?.keys.toSorted()).toEqual(['key:a2', 'key:b1']);
        expect(await store.getChat('c')).toMatchObject({ messageCount: 5 });
      });

      it('lets the greatest mark count', async () => {
        await write(begun('me', 'q1'));
        await write(only({ marks: [mark('title', 'Trees', { rev: 2, by: 'a' })] }));
        await write(only({ marks: [mark('title', 'Stones', { rev: 2, by: 'b' })] }));
        await write(only({ marks: [mark('title', 'Old', { rev: 1, by: 'z' })] }));
        expect(await store.getChat('c')).toMatchObject({ title: 'Stones' });
        await write(only({ marks: [mark('title', null, { rev: 3 })] }));
        expect((await store.getChat('c'))?.title).toBeUndefined();
      });

      it('is what join() makes of the same deltas, in whatever order two tabs write', async () => {
        const deltas = [
          begun('me', 'q1 > a1 > q2', 'q1 > b1'),
          rewritten('a1', 'q1', 2, 'again'),
          only({ messages: [said('a2', 'q2')], ends: [endsOf('main', ['a2'], { at: 1 })] }),
          only({ marks: [mark(markId.deletion('r1', 'key:b1'), { on: true, at: 5 })] }),
          oneMore('c1', 'q1', { versions: [reserved], record: 'r2' }),
        ];
        const chat = createChat();
        for (const delta of deltas) join(chat, delta);
        const other = await otherTab();
        for (const [i, delta] of deltas.toReversed().entries())
          await (i % 2 === 0 ? store : other).commit('c', delta, me);
        const read = createChat(await store.load('c'));
        for (const { key, parent, at, versions } of recordsOf(chat).messages) {
          expect(recordAt(read, key)).toMatchObject({ parent, at });
          expect(recordAt(read, key)?.versions.at(-1)?.sum).toBe(versions.at(-1)?.sum);
        }
        expect(read.messages.size).toBe(chat.messages.size);
        for (const id of ['main', 'r1', 'r2'])
          expect(read.ends.get(id)?.keys).toEqual(expect.arrayContaining([...chat.ends.get(id)!.keys]));
        expect([...read.marks.values()].map(({ id, value }) => [id, value])).toEqual(
          expect.arrayContaining([...chat.marks.values()].map(({ id, value }) => [id, value])),
        );
      });

      it('keeps fields and kinds of marks that it does not know, and ids as they come', async () => {
        const odd = ['a/b:c', 'Ä', '😀', ' ', 'x'.repeat(2000), 'key:not', '__proto__', 'constructor'];
        const messages = odd.map((id, i) => ({ ...said(`m${i}`, null, { id }), later: { than: ['us'] } }));
        const marks = [
          beginning('me'),
          mark('reaction key:m0 me', { emoji: '👍', n: [1, null] }),
          mark('field __proto__', 'safe'),
          mark('constructor', 1),
        ];
        await write({ messages, ends: [{ ...endsOf('main', ['m1']), later: 1 }], marks } as never);
        const records = await store.load('c');
        expect(records.messages.map(({ id }) => id).toSorted()).toEqual(odd.toSorted());
        expect(records.messages[0]).toMatchObject({ later: { than: ['us'] } });
        expect(records.ends[0]).toMatchObject({ later: 1 });
        expect(records.marks.map(({ id }) => id).toSorted()).toEqual(marks.map(({ id }) => id).toSorted());
        expect(Object.entries((await store.getChat('c'))?.metadata ?? {})).toEqual([['__proto__', 'safe']]);
      });

      it('takes messages without their parents, and parents that lead in a ring', async () => {
        await write(
          only({ messages: [said('a1', 'q1'), said('x', 'y'), said('y', 'x')], marks: [beginning('me')] }),
        );
        expect(await keys()).toEqual(['key:a1', 'key:x', 'key:y']);
        expect(await text('x')).toBe('x');
      });

      it('keeps chats apart', async () => {
        await write(begun('me', 'q1 > a1'));
        await store.commit('d', underKey('other', begun('me', 'q1')), me);
        await store.commit('d', underKey('other', rewritten('q1', null, 2, 'of d')), me);
        expect([await text('q1'), await text('q1', 'd')]).toEqual(['q1', 'of d']);
        expect((await store.load('d')).messages).toHaveLength(1);
      });

      it('is apart from what the caller goes on using', async () => {
        const delta = begun('me', 'q1');
        const writing = write(delta);
        Object.assign(delta.messages[0]!.versions[0]!.body!.parts[0]!, { text: 'changed since' });
        await writing;
        expect(await text('q1')).toBe('q1');
      });

      it('is of everybody, where many write at once', async () => {
        await write(begun('me', 'q1'));
        const other = await otherTab();
        const turns = Array.from({ length: 20 }, (_, i) =>
          (i % 2 === 0 ? store : other).commit('c', oneMore(`x${i}`, 'q1'), me),
        );
        await Promise.all(turns);
        const { messages, ends } = await store.load('c');
        expect(messages).toHaveLength(21);
        expect(new Set(messages.map(({ seq }) => seq)).size).toBe(21);
        expect(ends[0]?.keys).toHaveLength(20);
      });
    });

    describe('what is refused', () => {
      it('is refused whole, and nothing of it is known', async () => {
        await write(begun('me', 'q1'));
        const before = await snapshot();
        const bad = only({ messages: [said('a1', 'q1'), said('a2', 'a1', { at: 1.5 })], local: { view: 1 } });
        expect(await refusal(write(bad))).toMatchObject({ code: 'invalid-options' });
        expect(await snapshot()).toBe(before);
        expect(await body('a1')).toBeUndefined();
      });

      const record = said('m', null);
      const version = words('m');
      const withVersion = (fields: object) =>
        only({ messages: [{ ...record, versions: [{ ...version, ...fields }] }] });
      type Hostile = Readonly<Record<string, (value: never) => unknown>>;
      /** The fields of a record, each with another value in its place. */
      const fields = (names: string, made: (fields: never) => unknown, of = ''): Hostile =>
        Object.fromEntries(
          names.split(' ').map((name) => [`${name}${of}`, (value) => made({ [name]: value } as never)]),
        );
      const inMessage = (one: object) => only({ messages: [{ ...record, ...one }] });
      const inBody = (one: object) => withVersion({ body: { ...message('m'), ...one } });
      const inEnds = (one: object) => only({ ends: [{ ...endsOf('main', ['m']), ...one }] });
      const inMark = (one: object) => only({ marks: [mark('title', 'T', one)] });
      const ofMark = (id: string, value: unknown) => only({ marks: [mark(id, value)] });
      const hostile: Hostile = {
        delta: (value) => value,
        ...fields('messages ends marks', only),
        'list of a message': (value) => only({ messages: [value] }),
        ...fields('key id parent role at createdAt chat sources versions', inMessage),
        version: (value) => inMessage({ versions: [value] }),
        ...fields('rev by status sum gone parts preview body', withVersion),
        ...fields('role parts', inBody, ' of a body'),
        'part of a body': (part) => inBody({ parts: [part] }),
        ...fields('id at keys', inEnds, ' of ends'),
        'key of ends': (key) => inEnds({ keys: [key] }),
        ...fields('id rev by', inMark, ' of a mark'),
        beginning: (value) => ofMark(markId.beginning(CHAT), value),
        name: (name) => ofMark(markId.name('main', null), { name }),
        deletion: (on) => ofMark(markId.deletion('main', null), { on, at: 1 }),
        checkpoint: (key) => ofMark(markId.checkpoint('k'), { name: 'k', key, createdAt: 1, at: 1 }),
      };
      /** Which of the odd values are right in some places. */
      const isNone = (value: unknown) => value === undefined;
      const isEmpty = (value: unknown) => Array.isArray(value) && value.length === 0;
      const fits: readonly (readonly [places: RegExp, isRight: (value: unknown) => boolean])[] = [
        [/^(messages|ends|marks|parts of a body|keys of ends|sources)$/, isEmpty],
        [/^(id|chat|id of ends|id of a mark)$/, (value) => value === 'odd'],
        [/^(at|rev|parts|at of ends|rev of a mark)$/, (value) => value === 7],
        [/^(by|sum|preview|by of a mark|name)$/, (value) => typeof value === 'string'],
        [/^(sources|gone|body)$/, isNone],
        [/^(gone|deletion)$/, (value) => value === true],
        [/^parent$/, (value) => value === null],
        [/^createdAt$/, Number.isFinite],
      ];
      const isRight = (place: string, value: unknown) =>
        fits.some(([places, isIt]) => places.test(place) && isIt(value));
      const numbers: readonly unknown[] = [7, -1, 0.5, 2 ** 53, Number.NaN];
      const texts: readonly unknown[] = [undefined, null, true, '', 'odd', () => 1, 1n, Symbol('s')];
      const objects: readonly unknown[] = [[], [null], {}];
      const odd: readonly unknown[] = [...numbers, ...texts, ...objects];

      it.each(Object.entries(hostile))('is whatever is no %s', async (place, deltaOf) => {
        for (const value of odd) {
          if (isRight(place, value)) continue;
          const { code } = await refusal(write(deltaOf(value as never) as never));
          expect([value, code]).toEqual([value, 'invalid-options']);
        }
        expect(await store.getChat('c')).toBeUndefined();
        expect(await store.load('c')).toMatchObject({ seq: 0, messages: [], ends: [], marks: [] });
      });

      it('are numbers from 2^52 on', async () => {
        for (const rev of [2 ** 52, Infinity])
          for (const delta of [
            withVersion({ rev }),
            only({ messages: [{ ...record, at: rev }] }),
            only({ ends: [endsOf('main', [], { at: rev })] }),
            only({ marks: [mark('title', 'T', { rev })] }),
          ])
            expect(await codeOf(write(delta))).toBe('invalid-options');
        await write(withVersion({ rev: 2 ** 52 - 1 }));
      });

      const throwing = (words: string) => (): never => {
        throw new Error(words);
      };

      it('are getters that throw, proxies, rings and four thousand levels, in few words', async () => {
        const ring: unknown[] = [];
        ring.push(ring);
        let deep: unknown = 'deep';
        for (let i = 0; i < 4000; i += 1) deep = [deep];
        const thrown = new Proxy({}, { ownKeys: throwing('no') });
        const revoked = Proxy.revocable({}, {});
        revoked.revoke();
        const get = throwing('x'.repeat(9999));
        const getter = Object.defineProperty({}, 'title', { enumerable: true, get });
        for (const value of [ring, deep, thrown, revoked.proxy, getter, new Map(), 'x'.repeat(9999)]) {
          const isText = typeof value === 'string';
          const inMark = mark(isText ? 'title' : 'reaction', isText ? [value] : value);
          const bad = [only({ marks: [inMark] }), only({ messages: value as never }), value as never];
          for (const delta of bad) {
            const { code, message } = await refusal(write(delta));
            expect(code).toBe('invalid-options');
            expect(message.length).toBeLessThan(400);
          }
          for (const call of [
            store.saveDraft('c', value as never),
            store.listChats({ metadata: value as never }),
            store.listChats({ userId: value === 'x'.repeat(9999) ? (5 as never) : (value as never) }),
          ])
            expect(await codeOf(call)).toBe('invalid-options');
        }
      });

      it.each(['userId', 'database', 'generation', 'since', 'branchCount', 'expect'])(
        'is another %s of a commit',
        async (name) => {
          for (const value of [
            null,
            [7],
            true,
            Number.NaN,
            ...(name === 'expect' ? [{ main: 7 }, { main: ['m'] }] : [{}]),
          ])
            expect(await codeOf(write(begun('me', 'q1'), { [name]: value }))).toBe('invalid-options');
          expect(await codeOf(store.commit('c', begun('me', 'q1'), null as never))).toBe('invalid-options');
          expect(await store.getChat('c')).toBeUndefined();
        },
      );

      it('is a beginning of another user, and another chat key than its own', async () => {
        expect(await codeOf(write(begun('you', 'q1')))).toBe('invalid-options');
        const bad = mark(markId.beginning('other'), { userId: 'me', createdAt: 1 });
        expect(await codeOf(write(only({ marks: [bad] })))).toBe('invalid-options');
      });

      it('is an id, a number or options of another shape at any door', async () => {
        const refuses = async (values: readonly unknown[], callsOf: (value: never) => Promise<unknown>[]) => {
          for (const value of values as never[])
            for (const call of callsOf(value).map(codeOf))
              expect([value, await call]).toEqual([value, 'invalid-options']);
        };
        const draft = { key: 'key:q1', rev: 1, by: 'a', message: message('q1') };
        await refuses([7, null, {}, [5], true, Number.NaN], (value) => [
          ...BY_ID.map((name) => (store[name] as (id: string) => Promise<unknown>)(value)),
          store.bodies(value, []),
          store.bodies('c', value),
          store.bodies('c', [value]),
          store.revisions(value, 'key:q1'),
          store.revisions('c', value),
          store.commit(value, only({}), me),
          store.saveDraft(value, draft),
          store.saveDraft('c', { ...draft, key: value }),
          store.getMessage(value, 'q1'),
          store.getMessage('c', value),
          store.getMessageChain(value, 'q1'),
          store.searchMessages(value, 'x'),
          store.hold(value, 'key:q1'),
          store.hold('c', value),
          store.set(value, 1),
          store.listChats({ userId: value }),
        ]);
        await refuses(['1', null, {}, Number.NaN], (value) => [
          store.load('c', value),
          store.changesSince(value),
          store.changesSince(0, value),
          store.getMessageChain('c', 'q1', { limit: value }),
          store.listChats({ limit: value }),
          store.listChats({ offset: value }),
          store.searchMessages('c', 'x', { limit: value }),
          store.deleteChat('c', { keepFor: value }),
        ]);
        await refuses([null, 7, 'limit', []], (value) => [
          store.listChats(value),
          store.searchMessages('c', 'x', value),
          store.deleteChat('c', value),
          store.saveDraft('c', draft, value),
        ]);
        for (const metadata of [{}, { pinned: true }, { key: 5, value: 5 }] as never[])
          expect(await codeOf(store.listChats({ metadata }))).toBe('invalid-options');
        for (const value of [undefined, null, 5, 'listener', {}] as never[])
          expect(() => store.subscribe(value)).toThrow('A listener must be a function');
      });

      it('is another user’s chat', async () => {
        await write(begun('me', 'q1'));
        const before = await snapshot();
        const late = only({ messages: [said('a1', 'q1')] });
        expect(await refusal(write(late, { userId: 'other' }))).toMatchObject({
          code: 'wrong-user',
          message: 'chat "c" belongs to user "me", not "other"',
        });
        expect(await snapshot()).toBe(before);
      });
    });

    describe('who expects ends', () => {
      const turn = oneMore('q2', 'a1');

      it('is told when a branch is elsewhere by now, and nothing is written', async () => {
        await write(begun('me', 'q1 > a1'));
        await write(oneMore('x', 'a1'));
        const before = await snapshot();
        expect(await refusal(write(turn, { expect: { main: ['key:a1'] } }))).toMatchObject({
          code: 'head-moved',
          details: { ends: { main: ['key:x'] } },
        });
        expect(await refusal(write(turn, { expect: { nowhere: ['key:a1'] } }))).toMatchObject({
          code: 'head-moved',
        });
        expect(await snapshot()).toBe(before);
        await write(turn, { expect: { main: ['key:x'], nowhere: [] } });
      });

      it('succeeds with what is there already, whatever was expected, also when the branch went on', async () => {
        await write(begun('me', 'q1 > a1'));
        await write(turn, { expect: { main: ['key:a1'] } });
        await write(turn, { expect: { main: ['key:a1'] } });
        await write(oneMore('a2', 'q2'));
        const before = await snapshot();
        await write(turn, { expect: { main: ['key:a1'] } });
        expect(await snapshot()).toBe(before);
      });
    });

    describe('which database it is', () => {
      it('is told, and words that were read in another one are refused', async () => {
        await write(begun('me', 'q1'));
        const { database, generation } = await store.load('c');
        const before = await snapshot();
        expect(await refusal(write(begun('me', 'q1 > a1'), { database: 'gone' }))).toMatchObject({
          code: 'data-loss',
          details: { database, generation },
        });
        expect(await snapshot()).toBe(before);
        await write(begun('me', 'q1 > a1'), { database, generation });
        expect((await (await otherTab()).load('c')).database).toBe(database);
      });

      it('has another generation when everything was cleared', async () => {
        await write(begun('me', 'q1'));
        const here = await asRead(store);
        await store.set('mine', 1);
        await store.clear();
        expect(await store.listChats()).toEqual([]);
        expect(await store.get('mine')).toBeUndefined();
        expect(await store.changesSince(0)).toEqual([]);
        const cleared = await store.load('c');
        expect(cleared).toMatchObject({
          database: here.database,
          generation: here.generation + 1,
          messages: [],
        });
        expect(cleared.seq).toBeGreaterThan(here.since);
        expect(await refusal(write(begun('me', 'q1'), here))).toMatchObject({
          code: 'chat-deleted',
          details: { generation: here.generation + 1 },
        });
        expect(await store.listChats()).toEqual([]);
        await write(underKey('anew', begun('me', 'q1')), await asRead(store));
        expect(await keys()).toEqual(['key:q1']);
      });
    });

    describe('deleting a chat', () => {
      beforeEach(async () => {
        await write(begun('me', 'q1 > a1', 'q1 > b1'));
      });
      const isGone = async () => {
        expect(await store.getChat('c')).toBeUndefined();
        expect(await store.load('c')).toMatchObject({
          messages: [],
          ends: [],
          marks: [],
          growing: [],
          deleted: [CHAT],
        });
        expect(await store.bodies('c', ['key:q1'])).toEqual(new Map());
        expect(await store.revisions('c', 'key:q1')).toEqual([]);
        expect(await store.listChats()).toEqual([]);
        expect(await store.searchMessages('c', 'q1')).toEqual([]);
      };
      const late = () => write(only({ messages: [said('q2', 'a1')] }));

      it('keeps its keys and nothing else', async () => {
        const { seq } = await store.load('c');
        expect(await store.deleteChat('c')).toBe(true);
        await isGone();
        expect(await store.changesSince(seq)).toMatchObject([{ kind: 'chat', op: 'delete', chatId: 'c' }]);
        expect((await store.changesSince(0)).filter(({ op }) => op === 'put')).toEqual([]);
        expect([await store.deleteChat('c'), await store.restoreChat('c')]).toEqual([false, false]);
      });

      it('is not for other users, nor of a chat that never was', async () => {
        expect(await store.deleteChat('c', { userId: 'other' })).toBe(false);
        expect(await store.deleteChat('nope')).toBe(false);
        expect(await store.deleteChat('c', { userId: 'me' })).toBe(true);
      });

      it('keeps late writers out, and lets the chat begin anew under another key', async () => {
        await store.deleteChat('c');
        expect(await refusal(late())).toMatchObject({ code: 'chat-deleted' });
        await write(underKey('anew', begun('you', 'n1')), { userId: 'you' });
        expect(
          await refusal(late().catch(() => write(begun('me', 'q1'), { userId: 'you' }))),
        ).not.toMatchObject({ code: 'none' });
        expect(await keys()).toEqual(['key:n1']);
        expect(await store.load('c')).toMatchObject({ deleted: [CHAT] });
        expect(await store.getChat('c')).toMatchObject({ userId: 'you', messageCount: 1 });
      });

      it('can wait: the chat disappears at once, and comes back whole, also in another tab', async () => {
        const row = await store.getChat('c');
        const { seq } = await store.load('c');
        expect(await store.deleteChat('c', { keepFor: 60_000 })).toBe(true);
        await isGone();
        expect(await codeOf(late())).toBe('chat-deleted');
        expect(await (await otherTab()).restoreChat('c')).toBe(true);
        expect(await store.getChat('c')).toEqual(row);
        expect(await text('a1')).toBe('a1');
        expect(await store.load('c')).toMatchObject({ deleted: [] });
        // Who had read the chat, and saw it go, is told all of it again.
        expect((await store.load('c', seq)).messages).toHaveLength(3);
        await late();
        expect(await keys()).toContain('key:q2');
        expect(await store.restoreChat('c')).toBe(false);
      });

      it('can wait for ever, until somebody deletes it for good', async () => {
        expect(await store.deleteChat('c', { keepFor: Infinity })).toBe(true);
        await isGone();
        expect(await store.restoreChat('c')).toBe(true);
        await store.deleteChat('c', { keepFor: Infinity });
        expect(await store.deleteChat('c')).toBe(true);
        expect(await store.restoreChat('c')).toBe(false);
        await isGone();
      });

      it('waits for nothing where it is told less, and no longer than it is told', async () => {
        expect(await store.deleteChat('c', { keepFor: -Infinity })).toBe(true);
        expect(await store.restoreChat('c')).toBe(false);
        await store.commit('c', underKey('two', begun('me', 'q1')), me);
        await store.deleteChat('c', { keepFor: 20 });
        await new Promise((resolve) => setTimeout(resolve, 40));
        expect(await store.restoreChat('c')).toBe(false);
        expect((await store.load('c')).deleted.toSorted()).toEqual([CHAT, 'two']);
      });

      it('brings both back where another one began meanwhile', async () => {
        await store.deleteChat('c', { keepFor: 60_000 });
        await write(underKey('two', only({ ...begun('me', 'n1'), ends: [endsOf('r9', ['n1'])] })));
        expect(await keys()).toEqual(['key:n1']);
        expect(await store.restoreChat('c')).toBe(true);
        expect(await keys()).toEqual(['key:a1', 'key:b1', 'key:n1', 'key:q1']);
        expect(await text('a1')).toBe('a1');
        expect(await store.getChat('c')).toMatchObject({ messageCount: 4 });
      });
    });

    describe('an answer that grows', () => {
      const draft = (text: string, fields = {}) => ({
        key: 'key:a1',
        rev: 1,
        by: 'tab-1',
        message: message('a1', text),
        ...fields,
      });
      const settled = (text: string) => rewritten('a1', 'q1', 2, text);
      beforeEach(async () => {
        await write(begun('me', 'q1'));
        await write(oneMore('a1', 'q1', { versions: [reserved] }));
      });

      it('is reserved and not counted until it says something', async () => {
        expect(await store.getChat('c')).toMatchObject({ messageCount: 1 });
        expect(await body('a1')).toBeUndefined();
        await write(settled('done'));
        expect(await store.getChat('c')).toMatchObject({ messageCount: 2 });
      });

      it('shows the words of its draft, and counts no change', async () => {
        const { seq } = await store.load('c');
        await store.saveDraft('c', draft('On'));
        await store.saveDraft('c', draft('One oak'));
        expect(await body('a1')).toMatchObject({
          rev: 1,
          by: 'tab-1',
          sum: '',
          isDraft: true,
          message: message('a1', 'One oak'),
        });
        const records = await (await otherTab()).load('c', seq);
        expect(records).toMatchObject({ seq, messages: [] });
        expect(records.growing).toEqual([
          { key: 'key:a1', rev: 1, by: 'tab-1', parts: 1, preview: 'One oak' },
        ]);
      });

      it('is read with its words while it ends: a reader that had seen it grow looks again', async () => {
        await store.saveDraft('c', draft('One'));
        let isEnding = true;
        const reader: Readable = {
          load: (...args) => store.load(...args),
          bodies: async (...args) => {
            if (isEnding) await write(settled('One oak.'));
            isEnding = false;
            return store.bodies(...args);
          },
        };
        expect(await getMessage(reader, 'c', 'a1')).toMatchObject({
          status: 'complete',
          data: message('a1', 'One oak.'),
        });
      });

      it('ends with its last words, and forgets its draft', async () => {
        await store.saveDraft('c', draft('One'));
        await write(settled('One oak.'));
        expect(await text('a1')).toBe('One oak.');
        expect((await body('a1'))?.isDraft).toBeUndefined();
        expect((await store.load('c')).growing).toEqual([]);
        await store.saveDraft('c', draft('late'));
        expect(await text('a1')).toBe('One oak.');
      });

      it('takes no draft of another version, of another message, or in a chat that is gone, and says so where it is asked', async () => {
        for (const fields of [{ rev: 2 }, { by: 'tab-2' }, { key: 'key:none' }]) {
          const bad = draft('x', fields);
          await store.saveDraft('c', bad);
          expect(await codeOf(store.saveDraft('c', bad, { isDurable: true }))).toBe('message-not-found');
        }
        expect(await text('a1')).toBeUndefined();
        await store.saveDraft('c', draft('kept'), { isDurable: true });
        expect(await text('a1')).toBe('kept');
        await store.deleteChat('c');
        expect(await codeOf(store.saveDraft('c', draft('x'), { isDurable: true }))).toBe('message-not-found');
        await store.saveDraft('c', draft('x'), { isLeaving: true });
        expect(await body('a1')).toBeUndefined();
      });

      it('keeps the last words of a page that goes', async () => {
        await store.saveDraft('c', draft('One'));
        await store.saveDraft('c', draft('One oak'), { isLeaving: true });
        expect(await text('a1')).toBe('One oak');
        await write(settled('Done'));
        await store.saveDraft('c', draft('too late'), { isLeaving: true });
        expect(await text('a1')).toBe('Done');
        const next = rewritten('a1', 'q1', 3, 'Begun');
        await store.saveDraft('c', draft('not known', { rev: 3 }));
        await write(next);
        expect(await text('a1')).toBe('Begun');
        await store.saveDraft('c', draft('Begun before', { rev: 4 }), { isLeaving: true });
        await write(rewritten('a1', 'q1', 4, 'Begun'));
        expect(await text('a1')).toBe('Begun before');
      });

      it('is no message where it was taken back, and one where something was said after all', async () => {
        const takenBack = said('a1', 'q1', { versions: [{ ...reserved, rev: 2, gone: true }] });
        await write(only({ messages: [takenBack] }));
        expect((await store.load('c')).messages.find(({ id }) => id === 'a1')?.versions.at(-1)).toMatchObject(
          { gone: true },
        );
        expect(await store.getChat('c')).toMatchObject({ messageCount: 1 });
        await write(oneMore('q2', 'q1'));
        expect(await store.getChat('c')).toMatchObject({ messageCount: 2 });
        expect((await store.getMessageChain('c', 'key:a1')).map(({ id }) => id)).toEqual(['q1']);
        await write(rewritten('a1', 'q1', 1, 'said after all'));
        expect(await text('a1')).toBe('said after all');
        expect(await store.getChat('c')).toMatchObject({ messageCount: 3 });
      });

      it('refuses a draft whose message is none', async () => {
        const [parts, role] = [{ parts: 'hello' }, { role: 'odd' }].map((odd) => ({
          ...message('a1'),
          ...odd,
        }));
        for (const bad of [7, null, {}, { role: 'user' }, parts, role])
          expect(await codeOf(store.saveDraft('c', draft('', { message: bad })))).toBe('invalid-messages');
      });
    });

    describe('earlier versions', () => {
      const versionsOf = async () =>
        (await store.revisions('c', 'key:a1')).map(
          ({ rev, message }) => `${rev} ${(message.parts[0] as { text: string }).text}`,
        );

      it('are kept where they were settled, oldest first, however late they come', async () => {
        await write(begun('me', 'q1 > a1'));
        await write(rewritten('a1', 'q1', 3, 'third'));
        await write(
          only({
            messages: [
              said('a1', 'q1', { versions: [words('a1', 'growing', { rev: 4, status: 'streaming' })] }),
            ],
          }),
        );
        await write(rewritten('a1', 'q1', 5, 'fifth'));
        await write(rewritten('a1', 'q1', 2, 'second'));
        expect(await versionsOf()).toEqual(['1 a1', '2 second', '3 third']);
        expect(await store.revisions('c', 'key:q1')).toEqual([]);
      });

      it('are the last twenty', async () => {
        await write(begun('me', 'q1 > a1'));
        for (let rev = 2; rev <= 24; rev += 1) await write(rewritten('a1', 'q1', rev, 'v'));
        expect(await versionsOf()).toEqual(Array.from({ length: 20 }, (_, i) => `${i + 4} v`));
      });
    });

    describe('local records', () => {
      it('are kept in the same transaction, by name, and told when all is read', async () => {
        const { seq } = await write({
          ...begun('me', 'q1'),
          local: { view: { key: 'key:q1' }, operations: [1] },
        });
        await write(only({ local: { view: null, operations: undefined } }));
        expect(Object.entries((await store.load('c')).local ?? {})).toEqual([['view', null]]);
        expect((await store.load('c', seq)).local).toBeUndefined();
        await store.deleteChat('c', { keepFor: 60_000 });
        expect((await store.load('c')).local ?? {}).toEqual({});
        await store.restoreChat('c');
        expect((await store.load('c')).local).toEqual({ view: null });
      });

      it('make no chat, and no change', async () => {
        await write(only({ local: { view: 1 } }));
        expect(await store.getChat('c')).toBeUndefined();
        await write(begun('me', 'q1'));
        const [{ seq }, row] = [await store.load('c'), await store.getChat('c')];
        await write(only({ local: { view: 2 } }));
        expect(await store.load('c')).toMatchObject({ seq, local: { view: 2 } });
        expect(await store.getChat('c')).toEqual(row);
      });
    });

    describe('changes', () => {
      it('are numbered in the order in which they came, each record once', async () => {
        await write(begun('me', 'q1 > a1'));
        await store.commit('d', underKey('other', begun('me', 'q1')), me);
        await write(rewritten('q1', null, 2, 'new'));
        const changes = await store.changesSince(0);
        const seqs = changes.map(({ seq }) => seq);
        expect(seqs).toEqual([...new Set(seqs)].toSorted((a, b) => a - b));
        const names = changes.map(({ chatId, kind, id, op }) => `${op} ${chatId} ${kind} ${id}`);
        expect(names.toSorted()).toEqual([
          'put c chat c',
          'put c ends main',
          `put c mark beginning ${CHAT}`,
          'put c message key:a1',
          'put c message key:q1',
          'put d chat d',
          'put d ends main',
          'put d mark beginning other',
          'put d message key:q1',
        ]);
        expect(names.slice(-2)).toContain('put c message key:q1');
        expect((await store.load('c')).seq).toBe(seqs.at(-1));
      });

      it('can be read from anywhere, so many at a time', async () => {
        await write(begun('me', 'q1 > a1'));
        const { seq } = await store.load('c');
        await store.commit('d', begun('me', 'q1'), me);
        const later = await store.changesSince(seq);
        expect(later.every(({ chatId }) => chatId === 'd')).toBe(true);
        expect(await store.changesSince(seq, 2)).toEqual(later.slice(0, 2));
        expect(await store.changesSince(later.at(-1)!.seq)).toEqual([]);
        expect(await store.changesSince(0, 0)).toEqual([]);
        expect(await store.changesSince(0, -1)).toEqual([]);
      });
    });

    describe('listing chats', () => {
      const fields = (tag: string) => [mark('field tag', tag), mark('field done', true), mark('field n', 0)];
      const chat = (id: string, userId: string, tag: string) =>
        store.commit(
          id,
          { ...begun(userId, 'q1'), marks: [beginning(userId), mark('title', `Chat ${id}`), ...fields(tag)] },
          { ...me, userId },
        );
      const more = (id: string, userId: string, message: string) =>
        store.commit(id, only({ messages: [said(message, 'q1')] }), { ...me, userId });
      const ids = async (filter = {}) => (await store.listChats(filter)).map(({ id }) => id);
      beforeEach(async () => {
        await chat('one', 'ann', 'x');
        await chat('two', 'bob', 'y');
        await chat('three', 'ann', 'y');
      });

      it('shows the last saved first, also when the clock was set back meanwhile', async () => {
        expect(await ids()).toEqual(['three', 'two', 'one']);
        await more('one', 'ann', 'a1');
        expect(await ids()).toEqual(['one', 'three', 'two']);
        vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 3_600_000 });
        await more('two', 'bob', 'a1');
        expect(await ids()).toEqual(['two', 'one', 'three']);
      });

      it('filters, limits and skips, each on its own and together', async () => {
        expect(await ids({ userId: 'ann' })).toEqual(['three', 'one']);
        expect(await ids({ metadata: { key: 'tag', value: 'y' } })).toEqual(['three', 'two']);
        expect(await ids({ metadata: { key: 'done', value: 1 } })).toEqual([]);
        expect(await ids({ metadata: { key: 'done', value: true } })).toHaveLength(3);
        expect(await ids({ metadata: { key: 'toString', value: null } })).toEqual([]);
        expect(await ids({ limit: 2 })).toEqual(['three', 'two']);
        for (const limit of [0, -1, -Infinity]) expect(await ids({ limit })).toEqual([]);
        for (const limit of [2 ** 31, 2 ** 53, Infinity]) expect(await ids({ limit })).toHaveLength(3);
        expect(await ids({ offset: 1 })).toEqual(['two', 'one']);
        expect(await ids({ offset: 9 })).toEqual([]);
        expect(await ids({ offset: -1, limit: 1 })).toEqual(['three']);
        expect(await ids({ metadata: { key: 'n', value: 0 }, offset: 1, limit: 1 })).toEqual(['two']);
        expect(await ids({ userId: 'ann', offset: 1, limit: 5 })).toEqual(['one']);
        expect(await ids({ userId: 'nobody' })).toEqual([]);
      });

      it('tells what a list shows', async () => {
        const before = Date.now();
        await more('two', 'bob', 'a1');
        await store.commit('two', oneMore('b1', 'q1', { record: 'r1' }), {
          ...me,
          userId: 'bob',
          branchCount: 2,
        });
        const [two] = await store.listChats({ userId: 'bob' });
        expect(two).toEqual({
          id: 'two',
          userId: 'bob',
          title: 'Chat two',
          metadata: { tag: 'y', done: true, n: 0 },
          messageCount: 3,
          branchCount: 2,
          createdAt: 1000,
          updatedAt: expect.any(Number),
        });
        expect(two!.updatedAt).toBeGreaterThanOrEqual(before);
        expect(await store.getChat('two')).toEqual(two);
        expect((await store.getChat('one'))?.metadata).toEqual({ tag: 'x', done: true, n: 0 });
      });

      it('tells as many branches as the page that wrote last shows, and one where none told', async () => {
        const count = async () => (await store.getChat('c'))?.branchCount;
        await write(begun('me', 'q1 > a1', 'q1 > b1'));
        expect(await count()).toBe(1);
        await write(only({ ends: [endsOf('r2', [])] }), { branchCount: 3 });
        expect(await count()).toBe(3);
        await write(only({ marks: [mark('title', 'Trees')] }));
        expect(await count()).toBe(3);
        await write(only({ ends: [endsOf('r3', [])] }), { branchCount: 2 });
        expect(await count()).toBe(2);
      });

      it('sums the usage that authors counted', async () => {
        await write(begun('me', 'q1'));
        const usage = (author: string, rev: number, tokens: number, deep: number) =>
          write(
            only({
              marks: [mark(markId.usage(author), { tokens, details: { deep }, raw: author }, { rev })],
            }),
          );
        await usage('a', 1, 5, 1);
        await usage('b', 1, 10, 1);
        await usage('a', 2, 7, 2);
        await usage('a', 1, 99, 99);
        expect((await store.getChat('c'))?.metadata).toEqual({
          usage: { tokens: 17, details: { deep: 3 }, raw: 'a' },
        });
      });
    });

    describe('searching', () => {
      const found = async (query: string, options = {}) =>
        (await store.searchMessages('c', query, options)).map(({ message }) => message.id);
      beforeEach(async () => {
        await write(begun('me', 'q1 > a1', 'q1 > b1'));
        await write(rewritten('q1', null, 2, 'How old can an oak tree grow in the forest?'));
        await write(
          rewritten('a1', 'q1', 2, 'An oak can grow for a thousand years. The oldest OAK is here.'),
        );
        await write(rewritten('b1', 'q1', 2, 'Trees of <b>café</b> parks grow faster.'));
      });

      it('leaves out what only deleted branches hold, unless it is asked for', async () => {
        const deletion = (on: boolean, rev: number) =>
          write(only({ marks: [mark(markId.deletion('r1', 'key:b1'), { on, at: rev }, { rev })] }));
        await deletion(true, 1);
        expect(await found('cafe')).toEqual([]);
        expect(await found('forest')).toEqual(['q1']);
        expect(await found('cafe', { deleted: true })).toEqual(['b1']);
        await deletion(false, 2);
        expect(await found('cafe')).toEqual(['b1']);
      });

      it('knows no word of a chat that was deleted, when its id begins another one', async () => {
        expect(await found('oak', { limit: 1, deleted: true })).toEqual(['a1']);
        await store.deleteChat('c');
        const { messages, ...rest } = begun('me', 'n1');
        const body = message('n1', 'Of all that is told here of many other things, an oak is the least.');
        await write(
          underKey('anew', { ...rest, messages: [{ ...messages[0]!, versions: [versionOf(body)] }] }),
        );
        expect(await found('oak', { limit: 1, deleted: true })).toEqual(['n1']);
      });

      it('follows each change: new words, answers that grow, chats that go and come back', async () => {
        expect(await found('zebra')).toEqual([]);
        await write(rewritten('a1', 'q1', 3, 'A zebra now.'));
        expect(await found('zebra')).toEqual(['a1']);
        expect(await found('thousand')).toEqual([]);
        await write(oneMore('c1', 'a1', { versions: [reserved] }));
        for (const animal of ['giraffe', 'lion']) {
          await store.saveDraft('c', { key: 'key:c1', rev: 1, by: 'tab-1', message: message('c1', animal) });
          expect(await found(animal)).toEqual(['c1']);
        }
        await write(rewritten('c1', 'a1', 2, 'Only a tiger'));
        expect([await found('tiger'), await found('lion')]).toEqual([['c1'], []]);
        await store.deleteChat('c', { keepFor: 60_000 });
        expect(await found('zebra')).toEqual([]);
        await store.restoreChat('c');
        expect(await found('zebra')).toEqual(['a1']);
        await store.clear();
        expect(await found('zebra')).toEqual([]);
        await write(underKey('anew', begun('me', 'elm')));
        expect(await found('elm')).toEqual(['elm']);
      });
    });

    describe('reads without an engine', () => {
      const ids = async (from: string, options?: { limit: number }) =>
        (await store.getMessageChain('c', from, options)).map(({ id }) => id);
      const named = (record: string, key: string, name: string, rev = 1) =>
        mark(markId.name(record, `key:${key}`), { name }, { rev });
      const checkpoint = (id: string, key: string, at: number, fields = {}) =>
        mark(markId.checkpoint(id), { name: id, key: `key:${key}`, createdAt: at, at, ...fields });

      it('give a message and its chain, by key or id', async () => {
        await write(begun('me', 'q1 > a1 > q2', 'q1 > b1'));
        expect(await store.getMessage('c', 'a1')).toMatchObject({
          id: 'a1',
          key: 'key:a1',
          chatId: 'c',
          parentId: 'q1',
          parentKey: 'key:q1',
          name: 'assistant',
          type: 'message',
          data: message('a1'),
          createdAt: 1000,
          status: 'complete',
          depth: 2,
          rev: 1,
        });
        expect(await ids('q2')).toEqual(['q1', 'a1', 'q2']);
        expect(await ids('key:b1')).toEqual(['q1', 'b1']);
        expect(await ids('q2', { limit: 2 })).toEqual(['a1', 'q2']);
        for (const limit of [0, -1]) expect(await ids('q2', { limit })).toEqual([]);
        expect(await ids('none')).toEqual([]);
      });

      it('mean by an id the message on the branch shown last, else the newest', async () => {
        const twin = said('b1', 'q1', { id: 'a1', at: 9 });
        await write(begun('me', 'q1 > a1'));
        await write(
          only({
            messages: [twin],
            ends: [endsOf('r1', ['b1'], { at: 9 })],
            local: { view: { used: ['key:a1'] } },
          }),
        );
        expect((await store.getMessage('c', 'a1'))?.key).toBe('key:a1');
        await write(only({ local: { view: { used: ['key:b1'] } } }));
        expect((await store.getMessage('c', 'a1'))?.key).toBe('key:b1');
      });

      it('list branches under the names by which they are shown, and the messages of the one shown last', async () => {
        const names = [named('main', 'a1', 'main'), named('r1', 'b1', 'aside')];
        const { messages, ends, marks } = begun('me', 'q1 > a1', 'q1 > b1');
        await write({ messages, ends, marks: [...marks, ...names], local: { view: { used: ['key:a1'] } } });
        expect(await store.listBranches('c')).toMatchObject([
          { name: 'main', headKey: 'key:a1', headMessageId: 'a1', isActive: true, messageCount: 2 },
          { name: 'aside', headKey: 'key:b1', headMessageId: 'b1', isActive: false, messageCount: 2 },
        ]);
        expect((await store.getMessages('c')).map(({ id }) => id)).toEqual(['q1', 'a1']);
        await write(
          only({
            messages: [said('q2', 'b1')],
            ends: [endsOf('r1', ['q2'])],
            local: { view: { used: ['key:b1'] } },
          }),
        );
        expect((await store.getMessages('c')).map(({ id }) => id)).toEqual(['q1', 'b1', 'q2']);
        await write(only({ marks: [mark(markId.deletion('r1', 'key:q2'), { on: true, at: 5 })] }));
        expect((await store.listBranches('c')).map(({ name }) => name)).toEqual(['main']);
        expect((await store.getMessages('c')).map(({ id }) => id)).toEqual(['q1', 'a1']);
      });

      it('show the branch that ends where somebody last looked, else the newest', async () => {
        const { messages, marks } = begun('me', 'q1 > a1');
        const ends = [
          endsOf('main', ['a1']),
          endsOf('r1', ['q1'], { at: 4 }),
          endsOf('r2', ['a1'], { at: 9 }),
        ];
        const active = async () =>
          (await store.listBranches('c')).filter(({ isActive }) => isActive).map(({ id }) => id);
        await write({ messages, ends, marks });
        expect(await active()).toEqual(['r2']);
        await write(only({ local: { view: { used: ['key:gone', 'key:q1'] } } }));
        expect(await active()).toEqual(['r1']);
      });

      it('list checkpoints, newest first, without those that are deleted', async () => {
        await write(begun('me', 'q1 > a1'));
        const marks = [
          checkpoint('one', 'q1', 5),
          checkpoint('two', 'a1', 7),
          checkpoint('gone', 'a1', 9, { isDeleted: true }),
        ];
        await write(only({ marks }));
        expect(await store.listCheckpoints('c')).toEqual([
          { id: 'two', name: 'two', messageId: 'a1', messageKey: 'key:a1', createdAt: 7 },
          { id: 'one', name: 'one', messageId: 'q1', messageKey: 'key:q1', createdAt: 5 },
        ]);
      });

      it('show words that grow, nothing of what was taken back, and keep the place of words that were lost', async () => {
        const { body: _body, ...lost } = words('a1');
        await write(begun('me', 'q1'));
        await write(
          only({
            messages: [said('a1', 'q1', { versions: [lost] }), said('a2', 'a1', { versions: [reserved] })],
            ends: [endsOf('main', ['a2'])],
          }),
        );
        await store.saveDraft('c', { key: 'key:a2', rev: 1, by: 'tab-1', message: message('a2', 'growing') });
        expect((await store.getMessages('c')).map(({ data }) => data.parts.length)).toEqual([1, 0, 1]);
        expect((await store.getGraph('c')).nodes.find(({ id }) => id === 'a2')?.content).toBe('growing');
        await write(
          only({ messages: [said('a2', 'a1', { versions: [{ ...reserved, rev: 2, gone: true }] })] }),
        );
        expect((await store.getMessages('c')).map(({ id }) => id)).toEqual(['q1', 'a1']);
      });

      it('give the graph as previews', async () => {
        await write(begun('me', 'q1 > a1', 'q1 > b1'));
        await write(only({ marks: [checkpoint('k', 'q1', 5)], local: { view: { used: ['key:b1'] } } }));
        const graph = await store.getGraph('c');
        const nodes = graph.nodes.map(
          ({ id, parentId, role, content }) => `${parentId} > ${id} ${role} ${content}`,
        );
        expect(nodes.toSorted()).toEqual([
          'null > q1 user q1',
          'q1 > a1 assistant a1',
          'q1 > b1 assistant b1',
        ]);
        expect(graph.branches).toMatchObject([
          { headMessageId: 'a1', isActive: false },
          { headMessageId: 'b1', isActive: true },
        ]);
        expect(graph.checkpoints).toEqual([{ name: 'k', messageId: 'q1', messageKey: 'key:q1' }]);
      });
    });

    describe('notices', () => {
      const listen = (to: ContextStore = store) => {
        const notices: StoreNotice[] = [];
        const stop = to.subscribe((notice) => notices.push(notice));
        return { notices, stop };
      };

      it('tell of each write that changed something, once it is there, in order', async () => {
        const { notices, stop } = listen();
        const seen: unknown[] = [];
        store.subscribe(
          ({ kind }) => void store.load('c').then(({ messages }) => seen.push([kind, messages.length])),
        );
        const { seq } = await write(begun('me', 'q1'));
        expect(notices).toEqual([{ kind: 'change', chatId: 'c', seq, remote: false }]);
        await expect.poll(() => seen).toEqual([['change', 1]]);
        await write(begun('me', 'q1'));
        await refusal(write(only({ messages: 7 as never })));
        await store.set('mine', 1);
        expect(notices).toHaveLength(1);
        await store.deleteChat('c', { keepFor: 60_000 });
        await store.restoreChat('c');
        await store.clear();
        expect(notices.map(({ kind, chatId }) => `${kind} ${chatId}`)).toEqual([
          'change c',
          'change c',
          'change c',
          'clear undefined',
        ]);
        const seqs = notices.map((notice) => notice.seq);
        expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
        stop();
        await write(begun('me', 'q1'));
        expect(notices).toHaveLength(4);
      });

      it('tell of drafts that count', async () => {
        await write(begun('me', 'q1'));
        await write(only({ messages: [said('a1', 'q1', { versions: [reserved] })] }));
        const { notices } = listen();
        await store.saveDraft('c', { key: 'key:a1', rev: 1, by: 'tab-1', message: message('a1', 'w') });
        expect(notices).toMatchObject([{ kind: 'draft', chatId: 'c', key: 'key:a1', remote: false }]);
        await store.saveDraft('c', { key: 'key:none', rev: 1, by: 'tab-1', message: message('none', 'w') });
        expect(notices).toHaveLength(1);
      });

      it('reach other tabs', async () => {
        const other = await otherTab();
        const { notices } = listen(other);
        const { seq } = await write(begun('me', 'q1'));
        await expect
          .poll(() => notices)
          .toMatchObject([{ kind: 'change', chatId: 'c', seq, remote: other !== store }]);
        expect((await other.load('c')).messages).toHaveLength(1);
      });

      it('reach the others where one who listens throws', async () => {
        const { notices } = listen();
        const thrown: unknown[] = [];
        const spy = vi.spyOn(globalThis, 'queueMicrotask');
        spy.mockImplementation((task) => void thrown.push(task));
        store.subscribe(() => {
          throw new Error('bad listener');
        });
        const after = listen();
        await write(begun('me', 'q1'));
        spy.mockRestore();
        expect([notices.length, after.notices.length, thrown.length]).toEqual([1, 1, 1]);
      });

      it('come no more when it is closed, and it opens again when it is used', async () => {
        await write(begun('me', 'q1 > a1'));
        const before = listen();
        await store.close();
        expect(await text('a1')).toBe('a1');
        const { notices } = listen();
        await write(rewritten('a1', 'q1', 2, 'new'));
        expect([before.notices.length, notices.length]).toEqual([0, 1]);
      });
    });

    describe('holding a message', () => {
      it('shows until it is let go, once per holder, in every tab', async () => {
        const first = await store.hold('c', 'key:a1');
        const second = await store.hold('c', 'key:a1');
        const other = await store.hold('d', 'key:a1');
        expect(await (await otherTab()).held('c')).toEqual(new Set(['key:a1']));
        first();
        first();
        expect(await store.held('c')).toEqual(new Set(['key:a1']));
        second();
        await expect.poll(() => store.held('c')).toEqual(new Set());
        expect(await store.held('d')).toEqual(new Set(['key:a1']));
        other();
      });

      it.each(['%', 'a:b', '%25', '%uD800', 'é', '\ud800', 'x\udfff'])(
        'shows whatever its chat is called: %j',
        async (id) => {
          const release = await store.hold(id, `key:${id}`);
          expect(await store.held(id)).toEqual(new Set([`key:${id}`]));
          expect(await store.held(`${id}\ud801`)).toEqual(new Set());
          release();
          await expect.poll(() => store.held(id)).toEqual(new Set());
        },
      );
    });

    describe('values of the app', () => {
      it('are kept, copied, replaced and deleted', async () => {
        const value = { when: new Date(5), map: new Map([['a', 1]]) };
        const keeping = store.set('mine', value);
        value.map.set('a', 2);
        await keeping;
        expect(await store.get('mine')).toEqual({ when: new Date(5), map: new Map([['a', 1]]) });
        await store.set('mine', 'other');
        expect(await (await otherTab()).get<string>('mine')).toBe('other');
        await store.delete('mine');
        expect(await store.get('mine')).toBeUndefined();
        await store.delete('never');
        expect(await codeOf(store.set('mine', () => 1))).toBe('invalid-options');
      });
    });

    describe('bytes beside messages', () => {
      const picture = new Uint8Array([1, 2, 3]);
      const hash = '039058c6f2c0cb492c533b0a4d14ef77cc0f78abccced5287d84a1a2011cfb81';
      const showing = (id: string, url = blobUrl(hash)) => {
        const body = { ...message(id), parts: [{ type: 'file' as const, mediaType: 'image/png', url }] };
        return only({
          messages: [said(id, null, { versions: [versionOf(body)] })],
          marks: [beginning('me')],
        });
      };
      const isThere = async () => (await store.getBlob(hash)) !== undefined;

      it('are kept once, by the hash of what they are, apart from the caller’s', async () => {
        const mine = picture.slice();
        const putting = store.putBlob(mine);
        mine[0] = 9;
        expect(await putting).toBe(hash);
        expect([...((await store.getBlob(hash)) ?? [])]).toEqual([1, 2, 3]);
        expect(await store.putBlob(picture)).toBe(hash);
        (await store.getBlob(hash))?.fill(0);
        expect([...((await store.getBlob(hash)) ?? [])]).toEqual([1, 2, 3]);
        expect(await store.getBlob('00')).toBeUndefined();
        expect(await store.putBlob(new Uint8Array())).toMatch(/^e3b0c442/);
      });

      it('stay while a chat has, or had, a message that refers to them, and go with the last one', async () => {
        vi.useFakeTimers({ toFake: ['Date'] });
        await store.putBlob(picture);
        await write(showing('u1'));
        await store.commit('d', underKey('two', showing('u1')), me);
        await write(rewritten('u1', null, 2, 'no picture'));
        vi.setSystemTime(Date.now() + 25 * 3_600_000);
        await store.deleteChat('d');
        expect(await isThere()).toBe(true);
        await store.deleteChat('c', { keepFor: 60_000 });
        expect(await isThere()).toBe(true);
        await store.restoreChat('c');
        await store.deleteChat('c');
        await expect.poll(isThere).toBe(false);
      });

      it('wait a day for their message', async () => {
        vi.useFakeTimers({ toFake: ['Date'] });
        await store.putBlob(picture);
        vi.setSystemTime(Date.now() + 23 * 3_600_000);
        await store.listChats();
        expect(await isThere()).toBe(true);
        vi.setSystemTime(Date.now() + 2 * 3_600_000);
        await store.listChats();
        await expect.poll(isThere).toBe(false);
      });

      it('are refused on a page that is not secure, where files stay in their messages', async () => {
        onTestFinished(() => void vi.restoreAllMocks());
        vi.spyOn(crypto, 'subtle', 'get').mockReturnValue(undefined as never);
        expect(await codeOf(store.putBlob(picture))).toBe('invalid-options');
        const url = `data:image/png;base64,${btoa('x'.repeat(6000))}`;
        await write(showing('u1', url));
        expect((await body('u1'))?.message.parts).toEqual([{ type: 'file', mediaType: 'image/png', url }]);
      });

      it('are read as they came, where they came in a message', async () => {
        const url = `data:image/png;base64,${btoa('x'.repeat(3000))}`;
        await write(showing('u1', url));
        expect((await body('u1'))?.message.parts).toEqual([{ type: 'file', mediaType: 'image/png', url }]);
      });
    });
  });
}
