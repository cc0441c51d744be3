import type { UIMessage } from 'ai';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { visualizeGraph } from '../../src/graph/visualize.ts';
import { blobUrl } from '../../src/store/blobs.ts';
import type { AppendResult, ContextStore, StoreNotice, StoreOp } from '../../src/store/store.ts';
import { given, givenChat, head, insert, me, message, turn } from './graph.ts';

/**
 * The store's contract as behaviours, the same for every store. `open` gives an empty store; the suite closes it.
 */
export function storeSuite(name: string, open: () => Promise<ContextStore>): void {
  describe(`${name} keeps the contract`, () => {
    let store: ContextStore;

    beforeEach(async () => {
      store = await open();
    });
    afterEach(async () => {
      await store.close();
    });

    const append = (ops: readonly StoreOp[], options = {}) => store.append('c', ops, { ...me, ...options });
    const chain = async (headId: string, chatId = 'c') =>
      (await store.getMessageChain(chatId, headId)).map((node) => node.id);
    const branchNamed = async (name: string) =>
      (await store.listBranches('c')).find((branch) => branch.name === name);
    const branchRecord = async (id: string) =>
      (await store.load('c')).branches.find((branch) => branch.id === id);
    const text = async (id: string) =>
      (await store.getMessage('c', id))?.data.parts.map((part) => part.type === 'text' && part.text);
    const refusal = async (work: Promise<unknown>) => {
      try {
        await work;
      } catch (error) {
        const { code, message, details } = error as { code: string; message: string; details: unknown };
        return { code, message, details };
      }
      return { code: 'none', message: 'it was not refused', details: {} };
    };
    const snapshot = async () => JSON.stringify([await store.load('c'), await store.changesSince(0)]);

    describe('what plain JavaScript hands in', () => {
      const odd: readonly unknown[] = [7, null, {}, ['m0'], true, Number.NaN];
      const writes = {
        parent: (value: never) => [{ ...insert('n', null), parentId: value }],
        status: (value: never) => [{ ...insert('n', null), status: value }],
        'branch of a head': (value: never) => [head('m1', 'm0', value)],
        'expected head': (value: never) => [{ ...head('m1', 'm0'), expected: value }],
        fork: (value: never) => [{ ...head('m0', 'm0'), forkId: value }],
        branch: (value: never) => [{ op: 'branch', id: value, name: 'new', messageId: 'm0' }],
        'name of a branch': (value: never) => [{ op: 'branch', id: 'b', name: value, messageId: 'm0' }],
        checkpoint: (value: never) => [{ op: 'checkpoint', id: value, name: 'here', messageId: 'm0' }],
        'name of a checkpoint': (value: never) => [
          { op: 'checkpoint', id: 'k', name: value, messageId: 'm0' },
        ],
        'new name': (value: never) => [{ op: 'rename-branch', id: 'b-main', name: value }],
        operation: (value: never) => [{ op: value, id: 'b-main' }],
        list: (value: never) => value,
      } satisfies Record<string, (value: never) => unknown>;

      it.each(Object.entries(writes))(
        'is refused where it is no %s, and nothing is written',
        async (name, ops) => {
          await given(store, 'm0 > m1');
          const before = await snapshot();
          for (const value of odd) {
            if (value === null && ['parent', 'expected head'].includes(name)) continue;
            expect([value, (await refusal(append(ops(value as never) as never))).code]).toEqual([
              value,
              'invalid-options',
            ]);
          }
          expect(await snapshot()).toBe(before);
        },
      );

      it.each(['userId', 'epoch', 'mainBranchId', 'onConflict', 'chatRev', 'asOf', 'chatCreatedAt'])(
        'is refused as %s of a write',
        async (name) => {
          for (const value of [null, {}, [7], true, Number.NaN])
            expect((await refusal(append([insert('m0', null)], { [name]: value }))).code).toBe(
              'invalid-options',
            );
          expect(await store.getChat('c')).toBeUndefined();
          expect((await refusal(store.append('c', [], null as never))).code).toBe('invalid-options');
        },
      );

      it.each([7, null, {}, { role: 'user' }, { role: 'user', parts: 'hello' }, { role: 'odd', parts: [] }])(
        'is refused as a message: %j',
        async (data) => {
          await given(store, 'm0');
          for (const op of [
            { ...insert('n', 'm0'), data },
            { op: 'replace', id: 'm0', data },
          ])
            expect((await refusal(append([op as never]))).code).toBe('invalid-messages');
          expect((await refusal(store.saveDraft('c', 'm0', data as never))).code).toBe('invalid-messages');
          for (const parts of [[null], ['hello'], [{}], [{ type: 7 }], [{ type: 'text', text: 7 }]])
            expect(
              (await refusal(append([{ ...insert('n', 'm0'), data: { ...message('n'), parts } } as never])))
                .code,
            ).toBe('invalid-messages');
          expect(await chain('m0')).toEqual(['m0']);
        },
      );

      it('is refused as an id or a number that something is asked for by', async () => {
        await given(store, 'm0 > m1');
        for (const value of odd as never[]) {
          const calls = [
            store.load(value),
            store.getChat(value),
            store.getMessage('c', value),
            store.getMessage(value, 'm0'),
            store.getMessageChain('c', value),
            store.getMessageChain(value, 'm0'),
            store.getNodes('c', [value]),
            store.getNodes('c', ['m0'], value),
            store.putBlob(value),
            store.getMessages(value),
            store.listBranches(value),
            store.listCheckpoints(value),
            store.getGraph(value),
            store.searchMessages(value, 'm0'),
            store.append(value, [], me),
            store.saveDraft(value, 'm0', message('m0')),
            store.deleteChat(value),
            store.restoreChat(value),
            store.hold(value, 'm0'),
            store.held(value),
            store.getBlob(value),
            store.listChats({ userId: value }),
          ];
          for (const call of calls) expect((await refusal(call)).code).toBe('invalid-options');
        }
        for (const value of ['1', null, {}, Number.NaN] as never[])
          for (const call of [
            store.load('c', value),
            store.changesSince(value),
            store.changesSince(0, value),
            store.getMessageChain('c', 'm1', { limit: value }),
            store.listChats({ limit: value }),
            store.listChats({ offset: value }),
            store.searchMessages('c', 'm0', { limit: value }),
          ])
            expect((await refusal(call)).code).toBe('invalid-options');
        expect((await refusal(store.changesSince(undefined as never))).code).toBe('invalid-options');
      });

      it('is refused as a limit that is half a thing; one below nothing is none, and one beyond all is all', async () => {
        await given(store, 'm0 > m1');
        const calls = (limit: number): Promise<readonly unknown[]>[] => [
          store.changesSince(0, limit),
          store.getMessageChain('c', 'm1', { limit }),
          store.listChats({ limit }),
          store.searchMessages('c', 'm0', { limit }),
        ];
        for (const call of [...calls(1.5), store.listChats({ offset: 0.5 })])
          expect((await refusal(call)).code).toBe('invalid-options');
        for (const limit of [0, -1, -Infinity])
          for (const call of calls(limit)) expect(await call).toEqual([]);
        const all = (await Promise.all(calls(Infinity))).map((found) => found.length);
        for (const limit of [2 ** 31, 2 ** 32, 2 ** 53])
          expect((await Promise.all(calls(limit))).map((found) => found.length)).toEqual(all);
      });

      it('is refused as a time that is none, and as a filter that asks for nothing', async () => {
        for (const createdAt of [Infinity, -Infinity, new Date(), '2026-11-22'] as never[])
          expect((await refusal(append([{ ...insert('m0', null), createdAt } as never]))).code).toBe(
            'invalid-options',
          );
        for (const metadata of [{}, { pinned: true }, { key: 5, value: 5 }] as never[])
          expect((await refusal(store.listChats({ metadata }))).code).toBe('invalid-options');
      });

      it('is refused as a listener, before it is told anything', async () => {
        for (const value of [undefined, null, 5, 'listener', {}] as never[])
          expect(() => store.subscribe(value)).toThrow('A listener must be a function');
      });

      it('is refused as options that are none', async () => {
        for (const value of [null, 7, 'limit', []] as never[])
          for (const call of [
            store.searchMessages('c', 'x', value),
            store.listChats(value),
            store.getMessageChain('c', 'm0', value),
            store.deleteChat('c', value),
            store.saveDraft('c', 'm0', message('m0'), value),
          ])
            expect((await refusal(call)).code).toBe('invalid-options');
      });
    });

    describe('an empty store', () => {
      it('knows no chat', async () => {
        expect(await store.getChat('c')).toBeUndefined();
        expect(await store.load('c')).toEqual({
          seq: 0,
          chat: undefined,
          branches: [],
          checkpoints: [],
          nodes: [],
          dropped: [],
        });
        expect(await store.getMessage('c', 'q1')).toBeUndefined();
        expect(await store.getMessageChain('c', 'q1')).toEqual([]);
        expect(await store.getNodes('c', ['q1'])).toEqual([]);
        expect(await store.listBranches('c')).toEqual([]);
        expect(await store.listCheckpoints('c')).toEqual([]);
        expect(await store.listChats()).toEqual([]);
        expect(await store.searchMessages('c', 'word')).toEqual([]);
        expect(await store.changesSince(0)).toEqual([]);
        expect(await store.getGraph('c')).toEqual({ chatId: 'c', nodes: [], branches: [], checkpoints: [] });
      });

      it('rejects the messages of an unknown chat', async () => {
        expect(await refusal(store.getMessages('c'))).toMatchObject({ message: 'Chat "c" not found' });
      });
    });

    describe('the first write', () => {
      it('creates the chat and its branch main, also when there is nothing to write', async () => {
        const result = await append([], { metadata: { topic: 'trees' } });
        expect(result.chat).toMatchObject({
          id: 'c',
          userId: 'me',
          metadata: { topic: 'trees' },
          activeBranchId: 'b-main',
          epoch: 0,
          rev: 1,
          messageCount: 0,
          nextSeq: 0,
        });
        expect(result.branches).toMatchObject([
          { id: 'b-main', name: 'main', headMessageId: null, messageCount: 0, rev: 1 },
        ]);
        expect(await store.getChat('c')).toEqual(result.chat);
        expect(await store.listBranches('c')).toMatchObject([{ id: 'b-main', name: 'main', isActive: true }]);
        expect(await store.getMessages('c')).toEqual([]);
      });

      it('keeps its metadata apart from the object that it was given', async () => {
        const metadata = { tags: ['a'], at: new Date(5) };
        await append([], { metadata });
        metadata.tags.push('b');
        expect((await store.getChat('c'))?.metadata).toEqual({ tags: ['a'], at: '1970-01-01T00:00:00.005Z' });
        expect((await refusal(store.append('d', [], { ...me, metadata: { big: 1n } }))).code).toBe(
          'invalid-messages',
        );
      });

      it('keeps the metadata that the chat was created with', async () => {
        await append([], { metadata: { topic: 'trees' } });
        await append(turn('q1', null), { metadata: { topic: 'stones' } });
        expect((await store.getChat('c'))?.metadata).toEqual({ topic: 'trees' });
      });
    });

    describe('messages', () => {
      it('are written in one go, with places, depths and a head', async () => {
        const result = await append([insert('q1', null), insert('a1', 'q1'), head(null, 'a1')]);
        expect(result.nodes).toMatchObject([
          {
            id: 'q1',
            chatId: 'c',
            parentId: null,
            name: 'user',
            type: 'message',
            status: 'complete',
            seq: 0,
            depth: 1,
            rev: 1,
            preview: 'q1',
            parts: 1,
          },
          { id: 'a1', parentId: 'q1', name: 'assistant', seq: 1, depth: 2, rev: 1 },
        ]);
        expect(result.written.map((node) => node.data)).toEqual([message('q1'), message('a1')]);
        expect(result.branches).toMatchObject([{ name: 'main', headMessageId: 'a1', messageCount: 2 }]);
        expect(result.chat).toMatchObject({ messageCount: 2, nextSeq: 2 });
        expect(await chain('a1')).toEqual(['q1', 'a1']);
        expect((await store.getMessages('c')).map((node) => node.id)).toEqual(['q1', 'a1']);
      });

      it('can be read one by one, many at once, and from the end', async () => {
        await given(store, 'q1 > a1 > q2 > a2', 'q1 > b1 > q3');
        expect((await store.getMessage('c', 'b1'))?.data).toEqual(message('b1'));
        expect((await store.getNodes('c', ['a2', 'nothing', 'q1', 'b1'])).map((node) => node.id)).toEqual([
          'a2',
          'q1',
          'b1',
        ]);
        for (const seqs of [
          [3, 0],
          [1, 99],
          [0, 1, 2, 3, 4, 5],
        ]) {
          const found = await store.getNodes('c', ['a2', 'nothing', 'q1'], seqs);
          expect(found.map(({ data }) => data)).toEqual([message('a2'), message('q1')]);
        }
        expect(await store.getNodes('other', ['q1'], [0])).toEqual([]);
        expect(await chain('q3')).toEqual(['q1', 'b1', 'q3']);
        expect((await store.getMessageChain('c', 'a2', { limit: 2 })).map((node) => node.id)).toEqual([
          'q2',
          'a2',
        ]);
        expect((await store.getMessageChain('c', 'a2', { limit: 9 })).map((node) => node.id)).toEqual([
          'q1',
          'a1',
          'q2',
          'a2',
        ]);
        expect(await store.getMessageChain('c', 'a2', { limit: 0 })).toEqual([]);
      });

      it('are kept apart from the objects that the caller goes on using', async () => {
        const mine = message('q1', 'before');
        await append([
          { op: 'insert', id: 'q1', parentId: null, data: mine, status: 'complete' },
          head(null, 'q1'),
        ]);
        (mine.parts[0] as { text: string }).text = 'after';
        expect(await text('q1')).toEqual(['before']);
      });

      it('keep what JSON keeps: unknown keys, odd characters, half surrogates', async () => {
        const odd = {
          ...message('q1', 'a\u0000b \ud800 \u202e 🌳'),
          metadata: { ['__proto__']: 1, deep: [{ n: null }] },
          extra: { kept: true },
        };
        await append([{ op: 'insert', id: 'q1', parentId: null, data: odd, status: 'complete' }]);
        const stored = (await store.getMessage('c', 'q1'))?.data;
        expect(JSON.stringify(stored)).toBe(JSON.stringify(odd));
      });

      it('carry the id that they are stored by', async () => {
        await append([
          { op: 'insert', id: 'q1', parentId: null, data: message('other'), status: 'complete' },
        ]);
        expect((await store.getMessage('c', 'q1'))?.data.id).toBe('q1');
      });

      it('take ids as they come: slashes, colons, case, spaces, emoji, very long', async () => {
        const ids = ['a/b', 'a:b', 'A', 'a', 'a ', '🌳', '\u0000', 'x'.repeat(5000)];
        await append(ids.map((id, i) => insert(id, ids[i - 1] ?? null)));
        expect(await chain(ids.at(-1) ?? '')).toEqual(ids);
      });

      it('are refused under a parent that is not there, and nothing else of the call happens', async () => {
        await given(store, 'q1 > a1');
        const before = await snapshot();
        const refused = await refusal(append([insert('q2', 'a1'), insert('a2', 'ghost'), head('a1', 'a2')]));
        expect(refused).toMatchObject({ code: 'message-not-found', message: 'Message "ghost" not found' });
        expect(await snapshot()).toBe(before);
      });

      it('are refused when JSON cannot hold them, and nothing is written', async () => {
        const cyclic: Record<string, unknown> = {};
        cyclic['self'] = cyclic;
        const data = { ...message('q1'), metadata: cyclic };
        const refused = await refusal(
          append([insert('q0', null), { op: 'insert', id: 'q1', parentId: 'q0', data, status: 'complete' }]),
        );
        expect(refused.code).toBe('invalid-messages');
        expect(await store.getChat('c')).toBeUndefined();
      });

      it('are refused without an id: no one could find them again', async () => {
        for (const id of ['', 5 as unknown as string])
          expect((await refusal(append([{ ...insert('q1', null), id } as StoreOp]))).code).toBe(
            'invalid-messages',
          );
        expect(await store.getChat('c')).toBeUndefined();
      });

      it('keep the time, the sources and the status that they are given', async () => {
        await given(store, 'q1 > a1', 'q1 > b1');
        await append([
          {
            op: 'insert',
            id: 'm',
            parentId: 'a1',
            data: message('m'),
            status: 'interrupted',
            createdAt: 7,
            sources: ['b1'],
          },
        ]);
        expect(await store.getMessage('c', 'm')).toMatchObject({
          createdAt: 7,
          sources: ['b1'],
          status: 'interrupted',
        });
      });
    });

    describe('chats are islands', () => {
      it('hold messages with the same ids without touching each other', async () => {
        await givenChat(store, 'c', 'q1 > a1');
        await store.append('d', [insert('q1', null, 'other'), head(null, 'q1')], me);
        expect(await text('q1')).toEqual(['q1']);
        expect(await chain('q1', 'd')).toEqual(['q1']);
        expect(await store.getMessage('d', 'a1')).toBeUndefined();
        expect((await refusal(store.append('d', [insert('x', 'a1')], me))).code).toBe('message-not-found');
      });

      it('are closed to other users', async () => {
        await given(store, 'q1');
        expect(await refusal(append(turn('q2', 'q1'), { userId: 'other' }))).toMatchObject({
          code: 'wrong-user',
          message: 'chat "c" belongs to user "me", not "other"',
        });
      });
    });

    describe('replacing', () => {
      it('changes body and status, counts the revision, and leaves place and head alone', async () => {
        await given(store, 'q1 > a1 > q2');
        const result = await append([{ op: 'replace', id: 'a1', data: message('a1', 'better') }]);
        expect(result.nodes).toMatchObject([{ id: 'a1', rev: 2, seq: 1, depth: 2, preview: 'better' }]);
        expect(await text('a1')).toEqual(['better']);
        expect(await chain('q2')).toEqual(['q1', 'a1', 'q2']);
        expect((await append([{ op: 'replace', id: 'a1', status: 'interrupted' }])).written).toMatchObject([
          { id: 'a1', rev: 3, status: 'interrupted', data: message('a1', 'better') },
        ]);
      });

      it('does nothing when nothing would change', async () => {
        await given(store, 'q1');
        const before = await snapshot();
        await append([{ op: 'replace', id: 'q1', data: message('q1'), status: 'complete' }]);
        expect(await snapshot()).toBe(before);
      });

      it('is refused when the revision is another one by now', async () => {
        await given(store, 'q1');
        await append([{ op: 'replace', id: 'q1', data: message('q1', 'two'), rev: 1 }]);
        const refused = await refusal(
          append([{ op: 'replace', id: 'q1', data: message('q1', 'three'), rev: 1 }]),
        );
        expect(refused).toMatchObject({ code: 'head-moved', details: { id: 'q1', expected: 1, actual: 2 } });
        expect(await text('q1')).toEqual(['two']);
      });

      it('can be repeated with the old revision, when it is done already', async () => {
        await given(store, 'q1');
        const op: StoreOp = { op: 'replace', id: 'q1', data: message('q1', 'two'), rev: 1 };
        await append([op]);
        expect((await append([op])).written).toMatchObject([{ id: 'q1', rev: 2 }]);
      });

      it('is refused for one who must know all that was written, and does not', async () => {
        await given(store, 'q1');
        const { rev: chatRev = 0 } = (await store.getChat('c')) ?? {};
        const op: StoreOp = { op: 'replace', id: 'q1', status: 'streaming' };
        await append([op], { chatRev });
        expect(await refusal(append([op], { chatRev }))).toMatchObject({
          code: 'head-moved',
          details: { reason: 'chat', expected: chatRev, actual: chatRev + 1 },
        });
        expect((await append([op], { chatRev: chatRev + 1 })).changed).toBe(false);
      });

      it('is refused for a message that is not there', async () => {
        await given(store, 'q1');
        expect((await refusal(append([{ op: 'replace', id: 'zzz', status: 'complete' }]))).message).toBe(
          'Message "zzz" not found',
        );
      });
    });

    describe('an answer that grows', () => {
      beforeEach(async () => {
        await append([insert('q1', null), insert('a1', 'q1', '', 'streaming'), head(null, 'a1')]);
      });

      it('is reserved and not counted until it says something', async () => {
        expect((await store.getChat('c'))?.messageCount).toBe(1);
        expect((await store.load('c')).nodes).toMatchObject([
          { id: 'q1' },
          { id: 'a1', parts: 0, status: 'streaming' },
        ]);
        expect((await store.getGraph('c')).nodes.map((node) => node.id)).toEqual(['q1']);
      });

      it('shows its draft wherever it is read', async () => {
        await store.saveDraft('c', 'a1', message('a1', 'half a sen'));
        expect((await store.getMessage('c', 'a1'))?.data).toEqual(message('a1', 'half a sen'));
        expect((await store.getMessageChain('c', 'a1')).at(-1)?.data).toEqual(message('a1', 'half a sen'));
        expect((await store.getNodes('c', ['a1']))[0]?.data).toEqual(message('a1', 'half a sen'));
        expect((await store.load('c')).nodes[1]).toMatchObject({ parts: 1, preview: 'half a sen', rev: 1 });
        expect((await store.getGraph('c')).nodes[1]).toMatchObject({ content: 'half a sen' });
      });

      it('leaves the change sequence alone while it grows', async () => {
        const { seq } = await store.load('c');
        await store.saveDraft('c', 'a1', message('a1', 'more'));
        expect((await store.load('c')).seq).toBe(seq);
      });

      it('ends with its last words, and counts then', async () => {
        await store.saveDraft('c', 'a1', message('a1', 'half a sen'));
        const result = await append([
          { op: 'replace', id: 'a1', data: message('a1', 'half a sentence'), status: 'complete' },
        ]);
        expect(result.chat.messageCount).toBe(2);
        expect(await text('a1')).toEqual(['half a sentence']);
      });

      it('shows the newest draft, however its words came', async () => {
        const said = (...parts: UIMessage['parts']): UIMessage => ({ id: 'a1', role: 'assistant', parts });
        const text = (words: string): UIMessage['parts'][number] => ({ type: 'text', text: words });
        const words = Array.from({ length: 15 }, (_, i) => `word ${i} "quoted"\n`);
        const grown = words.map((_, i) => said(text(words.slice(0, i + 1).join(''))));
        const drafts = [
          ...grown,
          said(text('word')),
          said(text('word'), { type: 'reasoning', text: '' }),
          said(text('word'), { type: 'reasoning', text: 'Hm' }),
          said(text('words'), { type: 'reasoning', text: 'Hm, well' }),
          { ...said(text('words'), text('more')), metadata: { model: 'm' } },
          { ...said(text('words'), text('more and more')), metadata: { model: 'n' } },
          { ...said(text('words'), text('more and more, done'), { type: 'step-start' }) },
          ...['{', '{"to', '{"to":"\\uD83D', '{"to":"\\uD83D\\uDE00"}'].map((input) =>
            said(text('more'), {
              type: 'tool-mail',
              toolCallId: 't1',
              state: 'input-streaming',
              input: { input },
            }),
          ),
          ...['\uD83D', '\uD83D\uDE00', '\uD83D\uDE01'].map((input) => said(text('more'), text(input))),
          said(),
        ] as UIMessage[];
        for (const draft of drafts) {
          await store.saveDraft('c', 'a1', draft);
          await store.saveDraft('c', 'a1', draft);
          expect((await store.getMessage('c', 'a1'))?.data).toEqual(draft);
        }
      });

      it('keeps words durably where it is asked to, and says where it can not', async () => {
        await store.saveDraft('c', 'a1', message('a1', 'half'), { isDurable: true });
        expect(await text('a1')).toEqual(['half']);
        await append([{ op: 'replace', id: 'a1', data: message('a1', 'whole'), status: 'interrupted' }]);
        const late = ['a1', 'a9'].map((id) =>
          store.saveDraft('c', id, message(id, 'late'), { isDurable: true }).catch((error: unknown) => error),
        );
        expect(await Promise.all(late)).toMatchObject([
          { code: 'message-not-found' },
          { code: 'message-not-found' },
        ]);
        expect(await text('a1')).toEqual(['whole']);
      });

      it('keeps the last words of a page that goes, and goes on from them should it come back', async () => {
        const last = { isLeaving: true };
        await store.saveDraft('c', 'a1', message('a1', 'half a sentence, all of it'), last);
        expect(await text('a1')).toEqual(['half a sentence, all of it']);
        for (const words of ['half a sentence, all of it, and more', 'half', 'half a', 'half a sen']) {
          await store.saveDraft('c', 'a1', message('a1', words));
          expect(await text('a1')).toEqual([words]);
        }
        await store.saveDraft('c', 'a1', message('a1', 'half a sentence'), last);
        await store.saveDraft('c', 'a1', message('a1', 'half a sentence, but'), last);
        expect(await text('a1')).toEqual(['half a sentence, but']);
        await append([{ op: 'replace', id: 'a1', data: message('a1', 'whole'), status: 'interrupted' }]);
        await store.saveDraft('c', 'a1', message('a1', 'half'), last);
        expect(await text('a1')).toEqual(['whole']);
        await append([{ op: 'replace', id: 'a1', data: message('a1', 'whole'), status: 'streaming' }]);
        expect(await text('a1')).toEqual(['whole']);
      });

      it('keeps its draft when it is marked as interrupted by someone else', async () => {
        await store.saveDraft('c', 'a1', message('a1', 'half a sen'));
        const result = await append([{ op: 'replace', id: 'a1', status: 'interrupted' }]);
        expect(result.written[0]).toMatchObject({ status: 'interrupted', data: message('a1', 'half a sen') });
        expect(await text('a1')).toEqual(['half a sen']);
      });

      it('takes no draft once it is settled, or gone, or in a chat that is gone', async () => {
        await append([{ op: 'replace', id: 'a1', data: message('a1', 'whole'), status: 'complete' }]);
        await store.saveDraft('c', 'a1', message('a1', 'late'));
        await store.saveDraft('c', 'zzz', message('zzz', 'late'));
        await store.saveDraft('nowhere', 'a1', message('a1', 'late'));
        expect(await text('a1')).toEqual(['whole']);
        expect(await store.getMessage('c', 'zzz')).toBeUndefined();
      });

      it('grows on from its stored words when it is continued', async () => {
        await append([{ op: 'replace', id: 'a1', data: message('a1', 'one'), status: 'interrupted' }]);
        await append([{ op: 'replace', id: 'a1', status: 'streaming' }]);
        expect(await text('a1')).toEqual(['one']);
        await store.saveDraft('c', 'a1', message('a1', 'one two'));
        expect(await text('a1')).toEqual(['one two']);
      });

      it('is taken back when it never said anything, and its branch ends at the question', async () => {
        const result = await append([{ op: 'drop', id: 'a1' }]);
        expect(result).toMatchObject({
          dropped: ['a1'],
          branches: [{ headMessageId: 'q1', messageCount: 1 }],
          chat: { messageCount: 1 },
        });
        expect(await store.getMessage('c', 'a1')).toBeUndefined();
        expect((await append([{ op: 'drop', id: 'a1' }])).dropped).toEqual([]);
      });

      it('is not taken back when it has words by now, or a message behind it, but cut short', async () => {
        await store.saveDraft('c', 'a1', message('a1', 'words'));
        expect(await append([{ op: 'drop', id: 'a1' }])).toMatchObject({
          dropped: [],
          nodes: [{ id: 'a1', status: 'interrupted', preview: 'words' }],
        });
        await append([insert('q2', 'a1'), insert('a2', 'q2', '', 'streaming'), insert('q3', 'a2')]);
        expect(await append([{ op: 'drop', id: 'a2' }])).toMatchObject({
          dropped: [],
          nodes: [{ id: 'a2', status: 'interrupted' }],
        });
        expect(await chain('q3')).toEqual(['q1', 'a1', 'q2', 'a2', 'q3']);
        const before = await snapshot();
        for (const id of ['a1', 'a2', 'q3']) await append([{ op: 'drop', id }]);
        expect(await snapshot()).toBe(before);
      });

      it('is neither taken back nor settled where another message of its id is meant', async () => {
        const [before, createdAt] = [await snapshot(), (await store.getMessage('c', 'a1'))?.createdAt ?? 0];
        expect((await append([{ op: 'drop', id: 'a1', createdAt: createdAt - 1 }])).dropped).toEqual([]);
        const other = {
          op: 'replace',
          id: 'a1',
          data: message('a1', 'other'),
          createdAt: createdAt - 1,
        } as const;
        await expect(append([other])).rejects.toMatchObject({
          code: 'message-not-found',
          details: { id: 'a1' },
        });
        expect(await snapshot()).toBe(before);
        await append([{ ...other, status: 'complete', createdAt }]);
        expect(await text('a1')).toEqual(['other']);
      });

      it('takes a checkpoint that stands on it back to the question', async () => {
        await append([{ op: 'checkpoint', id: 'k', name: 'here', messageId: 'a1' }]);
        await append([{ op: 'drop', id: 'a1' }]);
        expect(await store.listCheckpoints('c')).toMatchObject([{ id: 'k', messageId: 'q1' }]);
      });
    });

    describe('a head that moved', () => {
      beforeEach(async () => {
        await given(store, 'q1 > a1');
        await append(turn('q2', 'a1'));
      });

      it('sends the turn to a branch of its own, and leaves the first one as it is', async () => {
        const result = await append([insert('u2', 'a1'), insert('b2', 'u2'), head('a1', 'b2')]);
        expect(result.conflict).toMatchObject({
          policy: 'fork',
          from: { name: 'main', headMessageId: 'q2' },
          to: { id: 'fork-b2', name: 'main-v2' },
        });
        expect(await branchNamed('main')).toMatchObject({ headMessageId: 'q2', messageCount: 3 });
        expect(await branchNamed('main-v2')).toMatchObject({
          id: 'fork-b2',
          headMessageId: 'b2',
          messageCount: 4,
        });
        expect(await chain('b2')).toEqual(['q1', 'a1', 'u2', 'b2']);
      });

      it('sees that it moved also where the branch is as long as before', async () => {
        await append([insert('u2', 'a1'), head('q2', 'u2')]);
        const result = await append(turn('b2', 'q2'));
        expect(result.conflict).toMatchObject({ from: { headMessageId: 'u2' }, to: { id: 'fork-b2' } });
        expect(await branchNamed('main')).toMatchObject({ headMessageId: 'u2', messageCount: 3 });
      });

      it('takes later operations of the same call along to the fork', async () => {
        const result = await append([
          ...turn('u2', 'a1'),
          ...turn('b2', 'u2'),
          { op: 'use', branchId: 'b-main' },
        ]);
        expect(result.branches).toMatchObject([{ id: 'fork-u2', headMessageId: 'b2', messageCount: 4 }]);
        expect(result.chat.activeBranchId).toBe('fork-u2');
        expect(await branchNamed('main')).toMatchObject({ headMessageId: 'q2', isActive: false });
      });

      it('puts the turn behind the new head, when asked to rebase', async () => {
        const result = await append([insert('u2', 'a1'), insert('b2', 'u2'), head('a1', 'b2')], {
          onConflict: 'rebase',
        });
        expect(result.conflict).toMatchObject({
          policy: 'rebase',
          from: { name: 'main' },
          to: { name: 'main', headMessageId: 'b2' },
        });
        expect(result.written).toMatchObject([
          { id: 'u2', parentId: 'q2', depth: 4 },
          { id: 'b2', parentId: 'u2', depth: 5 },
        ]);
        expect(await chain('b2')).toEqual(['q1', 'a1', 'q2', 'u2', 'b2']);
        expect(await store.listBranches('c')).toHaveLength(1);
      });

      it('forks a move that has nothing to rebase', async () => {
        const result = await append([head('a1', 'q1')], { onConflict: 'rebase' });
        expect(result.conflict).toMatchObject({ policy: 'fork' });
        expect(await branchNamed('main')).toMatchObject({ headMessageId: 'q2' });
      });

      it('refuses the whole turn, when asked for an error', async () => {
        const before = await snapshot();
        const refused = await refusal(
          append([insert('u2', 'a1'), head('a1', 'u2')], { onConflict: 'error' }),
        );
        expect(refused).toMatchObject({
          code: 'head-moved',
          details: { branch: 'main', expected: 'a1', actual: 'q2' },
        });
        expect(await snapshot()).toBe(before);
      });

      it('does not matter when it moved where it should go', async () => {
        const result = await append([head('a1', 'q2')]);
        expect(result.conflict).toBeUndefined();
        expect(result.branches).toMatchObject([{ name: 'main', headMessageId: 'q2' }]);
      });

      it('forks from a branch that was deleted meanwhile, whatever the name', async () => {
        await append([{ op: 'branch', id: 'b2', name: 'side', messageId: 'a1' }]);
        await append([{ op: 'delete-branch', id: 'b2' }]);
        const result = await append(turn('u2', 'a1', 'b2'), { onConflict: 'rebase' });
        expect(result.conflict).toMatchObject({
          policy: 'fork',
          to: { name: 'side-v2', headMessageId: 'u2' },
        });
      });

      it('finds the main that another tab made at the same moment', async () => {
        const result = await append([insert('x', null), head(null, 'x', 'their-main')], {
          mainBranchId: 'their-main',
        });
        expect(result.conflict).toMatchObject({
          from: { id: 'b-main' },
          to: { name: 'main-v2', headMessageId: 'x' },
        });
        const empty = await store.append('e', [], me);
        expect(empty.chat.activeBranchId).toBe('b-main');
        const second = await store.append('e', [insert('x', null), head(null, 'x', 'their-main')], {
          ...me,
          mainBranchId: 'their-main',
        });
        expect(second.branches).toMatchObject([{ id: 'b-main', headMessageId: 'x' }]);
      });

      it('refuses a branch and a target that are not there', async () => {
        expect(await refusal(append([head(null, 'q1', 'nope')]))).toMatchObject({
          code: 'branch-not-found',
          message: 'Branch "nope" not found in chat "c"',
        });
        expect((await refusal(append([head('q2', 'ghost')]))).code).toBe('message-not-found');
      });

      it('may go back to nothing', async () => {
        await append([head('q2', null)]);
        expect(await branchNamed('main')).toMatchObject({ headMessageId: null, messageCount: 0 });
        expect(await store.getMessages('c')).toEqual([]);
      });
    });

    describe('again is harmless', () => {
      const again: StoreOp[] = [
        insert('q2', 'a1'),
        insert('a2', 'q2'),
        head('a1', 'a2'),
        { op: 'chat', usage: { totalTokens: 10 } },
      ];

      beforeEach(async () => {
        await given(store, 'q1 > a1');
      });

      it('finds the turn written, writes nothing, and tells what is there', async () => {
        const first = await append(again);
        const before = await snapshot();
        const second = await append(again);
        expect(await snapshot()).toBe(before);
        expect(second).toMatchObject({ seq: first.seq, chat: { metadata: { usage: { totalTokens: 10 } } } });
        expect([first.changed, second.changed]).toEqual([true, false]);
        expect(second.branches).toEqual(first.branches);
        expect(second.nodes).toEqual(first.nodes);
        expect(second.written).toEqual(first.written);
      });

      it('leads a branch on that is there, and ends further up', async () => {
        const more = (id: string, parentId: string): StoreOp[] => [
          insert(id, parentId),
          { op: 'branch', id: 'b', name: 'aside', messageId: id },
        ];
        await append([{ op: 'branch', id: 'b', name: 'aside', messageId: 'q1' }]);
        await append(more('b1', 'q1'));
        expect((await store.listBranches('c'))[1]).toMatchObject({ headMessageId: 'b1', messageCount: 2 });
        await append(more('c1', 'a1'));
        await append([{ op: 'branch', id: 'b', name: 'aside', messageId: 'q1' }]);
        expect((await store.listBranches('c'))[1]).toMatchObject({ headMessageId: 'b1' });
      });

      it('is not what names a message that is there by now', async () => {
        await append(again);
        const more: StoreOp[] = [
          insert('q2', 'a1'),
          { op: 'checkpoint', id: 'k', name: 'here', messageId: 'q2' },
        ];
        expect((await append(more)).changed).toBe(true);
        expect(await store.listCheckpoints('c')).toMatchObject([{ name: 'here', messageId: 'q2' }]);
        await append(turn('q3', 'a2'));
        await append([{ op: 'checkpoint', id: 'other', name: 'here', messageId: 'q3' }]);
        expect((await append(more)).changed).toBe(false);
      });

      it('finds it also when the branch has grown since', async () => {
        await append(again);
        await append(turn('q3', 'a2'));
        const result = await append(again);
        expect(result.conflict).toBeUndefined();
        expect(result.branches).toMatchObject([{ name: 'main', headMessageId: 'q3' }]);
        expect(await store.listBranches('c')).toHaveLength(1);
      });

      it('finds the fork that it was sent to', async () => {
        await append(turn('u2', 'a1'));
        const first = await append(again);
        const second = await append(again);
        expect(second.conflict).toEqual(first.conflict);
        expect((await store.listBranches('c')).map((branch) => branch.name)).toEqual(['main', 'main-v2']);
      });

      it('finds the messages that it rebased', async () => {
        await append(turn('u2', 'a1'));
        await append(again, { onConflict: 'rebase' });
        const before = await snapshot();
        await append(again, { onConflict: 'rebase' });
        expect(await snapshot()).toBe(before);
        expect(await chain('a2')).toEqual(['q1', 'a1', 'u2', 'q2', 'a2']);
      });

      it('finds the branch that it made', async () => {
        const ops: StoreOp[] = [
          insert('b1', 'q1'),
          { op: 'branch', id: 'f', base: 'main', messageId: 'b1' },
          { op: 'use', branchId: 'f' },
        ];
        await append(ops);
        const before = await snapshot();
        expect((await append(ops)).branches).toMatchObject([
          { id: 'f', name: 'main-v2', headMessageId: 'b1' },
        ]);
        expect(await snapshot()).toBe(before);
      });

      it('still moves the head when only the messages are there', async () => {
        await append([insert('q2', 'a1')]);
        await append(turn('q2', 'a1'));
        expect(await branchNamed('main')).toMatchObject({ headMessageId: 'q2' });
        expect((await store.getChat('c'))?.messageCount).toBe(3);
      });

      it('goes on with a turn whose reserved answer was taken back meanwhile, where the turn is', async () => {
        await append([insert('q9', 'a1'), head('a1', 'q9')]);
        const reserved = [insert('q2', 'a1'), insert('a2', 'q2', '', 'streaming'), head('a1', 'a2')];
        await append(reserved);
        await append([{ op: 'drop', id: 'a2' }]);
        expect((await append(reserved)).conflict).toMatchObject({ policy: 'fork', from: { name: 'main' } });
        expect(await branchNamed('main-v2')).toMatchObject({ id: 'fork-a2', headMessageId: 'a2' });
        await append([{ op: 'drop', id: 'a2' }]);
        await append([insert('q7', 'q2'), head('q2', 'q7', 'fork-a2')]);
        const { conflict } = await append(reserved);
        expect(conflict).toMatchObject({ from: { name: 'main' }, to: { name: 'main-v2-v2' } });
        const heads = (await store.listBranches('c')).map(({ headMessageId }) => headMessageId);
        expect(heads).toEqual(['q9', 'q7', 'a2']);
        expect((await append(reserved)).changed).toBe(false);
      });

      it('goes on with such a turn also where it was rebased', async () => {
        await append([insert('q9', 'a1'), head('a1', 'q9')]);
        const reserved = [insert('q2', 'a1'), insert('a2', 'q2', '', 'streaming'), head('a1', 'a2')];
        const again = () => append(reserved, { onConflict: 'rebase' });
        await again();
        await append([{ op: 'drop', id: 'a2' }]);
        await again();
        expect(await chain('a2')).toEqual(['q1', 'a1', 'q9', 'q2', 'a2']);
        expect(await branchNamed('main')).toMatchObject({ headMessageId: 'a2' });
      });

      it('does not take another message for a repetition', async () => {
        await append(again);
        const others = await refusal(append([insert('q2', 'a1', 'other words'), head('a1', 'q2')]));
        expect(others).toMatchObject({ code: 'head-moved', details: { reason: 'id-taken', id: 'q2' } });
        const elsewhere = await refusal(append([insert('x', 'q1'), insert('q2', 'x')]));
        expect(elsewhere).toMatchObject({ code: 'head-moved', details: { reason: 'id-taken', id: 'q2' } });
        // It would lead the head past what stands between.
        const further = await refusal(append([insert('q2', 'q1'), insert('q3', 'q2'), head('q2', 'q3')]));
        expect(further).toMatchObject({ code: 'head-moved', details: { reason: 'id-taken', id: 'q2' } });
      });
    });

    describe('branches', () => {
      it('are named by the rule, whatever other names look like', async () => {
        await given(store, 'q1 > a1', 'q1 > b1', 'q1 > c1');
        await append([{ op: 'branch', id: 'x', name: 'main-vault', messageId: 'q1' }]);
        await append([{ op: 'rename-branch', id: 'b-b1', name: 'poem' }]);
        const result = await append([
          { op: 'branch', id: 'y', base: 'main', messageId: 'q1' },
          { op: 'branch', id: 'z', base: 'main-v2', messageId: 'q1' },
        ]);
        expect(result.branches.map((branch) => branch.name)).toEqual(['main-v2', 'main-v2-v2']);
        expect((await store.listBranches('c')).map((branch) => branch.name)).toEqual([
          'main',
          'poem',
          'main-v3',
          'main-vault',
          'main-v2',
          'main-v2-v2',
        ]);
      });

      it('are given the smallest name that became free within one append, and never the first', async () => {
        await given(store, 'q1 > a1', 'q1 > b1', 'q1 > c1', 'q1 > d1');
        await append([{ op: 'branch', id: 'first', name: 'main-v1', messageId: 'q1' }]);
        const next = (id: string): StoreOp => ({ op: 'branch', id, base: 'main', messageId: 'q1' });
        const result = await append([
          next('five'),
          { op: 'rename-branch', id: 'b-c1', name: 'song' },
          { op: 'rename-branch', id: 'b-b1', name: 'poem' },
          { op: 'rename-branch', id: 'first', name: 'tale' },
          next('two'),
          next('three'),
          next('six'),
        ]);
        const names = new Map(result.branches.map(({ id, name }) => [id, name]));
        expect(['five', 'two', 'three', 'six'].map((id) => names.get(id))).toEqual([
          'main-v5',
          'main-v2',
          'main-v3',
          'main-v6',
        ]);
      });

      it('are named after the active one when nothing is said', async () => {
        await given(store, 'q1 > a1', 'q1 > b1');
        await append([{ op: 'use', branchId: 'b-b1' }]);
        expect((await append([{ op: 'branch', id: 'x', messageId: 'q1' }])).branches).toMatchObject([
          { name: 'main-v2-v2' },
        ]);
      });

      it('are named after another one where their own name is taken', async () => {
        await given(store, 'q1 > a1', 'q1 > b1');
        const make = (id: string, name: string) =>
          append([{ op: 'branch', id, name, base: 'main', messageId: 'q1' }]);
        expect((await make('x', 'side')).branches).toMatchObject([{ name: 'side' }]);
        expect((await make('y', 'side')).branches).toMatchObject([{ name: 'main-v3' }]);
      });

      it('know how long they are', async () => {
        await given(store, 'q1 > a1 > q2', 'q1 > b1');
        expect((await store.listBranches('c')).map((branch) => branch.messageCount)).toEqual([3, 2]);
      });

      it('refuse a name that is taken, and a message that is not there', async () => {
        await given(store, 'q1 > a1', 'q1 > b1');
        expect((await refusal(append([{ op: 'branch', id: 'x', name: 'main', messageId: 'q1' }]))).code).toBe(
          'name-taken',
        );
        expect((await refusal(append([{ op: 'rename-branch', id: 'b-b1', name: 'main' }]))).code).toBe(
          'name-taken',
        );
        expect((await refusal(append([{ op: 'branch', id: 'x', name: 'n', messageId: 'ghost' }]))).code).toBe(
          'message-not-found',
        );
        expect((await append([{ op: 'rename-branch', id: 'b-b1', name: 'main-v2' }])).seq).toBe(
          (await store.load('c')).seq,
        );
      });

      it('are not used once they are deleted: the chat opens on one that is there', async () => {
        await given(store, 'q1 > a1', 'q1 > b1');
        await append([{ op: 'delete-branch', id: 'b-b1' }]);
        const before = await store.getChat('c');
        const result = await append([{ op: 'use', branchId: 'b-b1' }]);
        expect([result.changed, result.branches[0]?.id]).toEqual([false, 'b-b1']);
        expect(result.branches[0]?.deletedAt).toBeDefined();
        expect(await store.getChat('c')).toEqual(before);
      });

      it('remember which one was used last', async () => {
        await given(store, 'q1 > a1', 'q1 > b1', 'q1 > c1');
        await append([{ op: 'use', branchId: 'b-b1' }]);
        expect((await store.getChat('c'))?.activeBranchId).toBe('b-b1');
        const used = async (id: string) => (await branchRecord(id))?.usedSeq ?? 0;
        expect(await used('b-b1')).toBeGreaterThan(await used('b-main'));
        expect(await used('b-c1')).toBe(0);
        await append(turn('q2', 'a1'));
        expect(await used('b-main')).toBeGreaterThan(await used('b-b1'));
      });

      it('can be deleted and brought back, and free their name meanwhile', async () => {
        await given(store, 'q1 > a1', 'q1 > b1');
        await append([{ op: 'delete-branch', id: 'b-b1' }]);
        expect((await store.listBranches('c')).map((branch) => branch.name)).toEqual(['main']);
        expect((await store.load('c')).branches).toMatchObject([
          { name: 'main' },
          { name: 'main-v2', deletedAt: expect.any(Number) },
        ]);
        await append([{ op: 'branch', id: 'x', base: 'main', messageId: 'q1' }]);
        await append([{ op: 'restore-branch', id: 'b-b1' }]);
        expect(await branchRecord('b-b1')).toMatchObject({ name: 'main-v2-v2', headMessageId: 'b1' });
        expect(await branchRecord('b-b1')).not.toHaveProperty('deletedAt');
        expect(await branchRecord('x')).toMatchObject({ name: 'main-v2' });
      });

      it('make way for the one used before, when the active one is deleted', async () => {
        await given(store, 'q1 > a1', 'q1 > b1', 'q1 > c1');
        for (const branchId of ['b-c1', 'b-b1', 'b-main']) await append([{ op: 'use', branchId }]);
        expect((await append([{ op: 'delete-branch', id: 'b-main' }])).chat.activeBranchId).toBe('b-b1');
        expect((await append([{ op: 'delete-branch', id: 'b-b1' }])).chat.activeBranchId).toBe('b-c1');
      });

      it('make way for the one that a turn was meant for, when the fork that it went to is deleted with it', async () => {
        await given(store, 'q1 > a1');
        const late = { ...head(null, 'q2'), forkId: 'late' };
        const ops = [insert('q2', null, 'late'), late] as const;
        // To the rest of a late turn, its fork is the branch that it speaks of.
        const { chat } = await append([
          ...ops,
          { op: 'use', branchId: 'b-main' },
          { op: 'delete-branch', id: 'b-main' },
        ]);
        expect(chat.activeBranchId).toBe('b-main');
        expect(await branchRecord('late')).toHaveProperty('deletedAt');
      });

      it('keep the last of them', async () => {
        await given(store, 'q1');
        expect(await refusal(append([{ op: 'delete-branch', id: 'b-main' }]))).toMatchObject({
          code: 'last-branch',
        });
      });
    });

    describe('checkpoints', () => {
      beforeEach(async () => {
        await given(store, 'q1 > a1 > q2');
        await append([{ op: 'checkpoint', id: 'k1', name: 'start', messageId: 'q1' }]);
        await append([{ op: 'checkpoint', id: 'k2', name: 'later', messageId: 'a1' }]);
      });

      it('are listed, newest first', async () => {
        expect(await store.listCheckpoints('c')).toMatchObject([
          { id: 'k2', name: 'later', messageId: 'a1' },
          { id: 'k1', name: 'start', messageId: 'q1' },
        ]);
      });

      it('move, and keep their id, when the name is set again', async () => {
        const result = await append([{ op: 'checkpoint', id: 'k3', name: 'start', messageId: 'q2' }]);
        expect(result.checkpoints).toMatchObject([{ id: 'k1', name: 'start', messageId: 'q2', rev: 2 }]);
        expect(await store.listCheckpoints('c')).toHaveLength(2);
      });

      it('can be renamed and deleted, and free their name', async () => {
        await append([
          { op: 'rename-checkpoint', id: 'k1', name: 'begin' },
          { op: 'delete-checkpoint', id: 'k2' },
        ]);
        expect((await store.listCheckpoints('c')).map((checkpoint) => checkpoint.name)).toEqual(['begin']);
        await append([{ op: 'checkpoint', id: 'k4', name: 'later', messageId: 'q2' }]);
        expect((await store.listCheckpoints('c')).map(({ id }) => id).toSorted()).toEqual(['k1', 'k4']);
      });

      it('come back under their id', async () => {
        await append([{ op: 'delete-checkpoint', id: 'k2' }]);
        await append([{ op: 'checkpoint', id: 'k2', name: 'later', messageId: 'a1' }]);
        expect((await store.listCheckpoints('c')).map(({ id }) => id).toSorted()).toEqual(['k1', 'k2']);
      });

      it('refuse what is not there, and a name that is taken', async () => {
        expect((await refusal(append([{ op: 'rename-checkpoint', id: 'k1', name: 'later' }]))).code).toBe(
          'name-taken',
        );
        expect(await refusal(append([{ op: 'delete-checkpoint', id: 'nope' }]))).toMatchObject({
          code: 'checkpoint-not-found',
          message: 'Checkpoint "nope" not found in chat "c"',
        });
        expect(
          (await refusal(append([{ op: 'checkpoint', id: 'k9', name: 'x', messageId: 'ghost' }]))).code,
        ).toBe('message-not-found');
      });
    });

    describe('the chat itself', () => {
      it('takes a title, gives it up, and merges metadata', async () => {
        await append([{ op: 'chat', title: 'Trees', metadata: { a: 1, n: { x: 1 } } }]);
        await append([{ op: 'chat', metadata: { b: null, n: { y: 2 } } }]);
        expect(await store.getChat('c')).toMatchObject({
          title: 'Trees',
          metadata: { a: 1, b: null, n: { y: 2 } },
        });
        await append([{ op: 'chat', title: null }]);
        expect(await store.getChat('c')).not.toHaveProperty('title');
      });

      it('adds up usage, at any depth, also of two tabs at once', async () => {
        const usage = { inputTokens: 3, details: { cached: 2 }, model: 'one' };
        await Promise.all([
          append([{ op: 'chat', usage }]),
          append([{ op: 'chat', usage: { ...usage, outputTokens: 5, model: 'two' } }]),
        ]);
        expect((await store.getChat('c'))?.metadata).toEqual({
          usage: { inputTokens: 6, outputTokens: 5, details: { cached: 4 }, model: 'two' },
        });
      });

      it('tells whether the chat has another revision by a write', async () => {
        const reserved = [...turn('q1', null), insert('a1', 'q1', '', 'streaming'), head('q1', 'a1')];
        const told = async (ops: readonly StoreOp[]): Promise<unknown> => {
          const { changed, chatChanged, chat } = await append(ops);
          return [changed, chatChanged, chat.rev];
        };
        expect(await told(reserved)).toEqual([true, true, 1]);
        expect(await told(reserved)).toEqual([false, false, 1]);
        expect(await told([{ op: 'drop', id: 'a1' }])).toEqual([true, false, 1]);
        expect(await told([{ op: 'rename-branch', id: me.mainBranchId, name: 'x' }])).toEqual([
          true,
          false,
          1,
        ]);
        expect(await told(turn('q2', 'q1'))).toEqual([true, true, 2]);
      });

      it('tells a caller who repeats a turn what it replaced, as it is there', async () => {
        await append(turn('q1', null));
        const data = { ...message('q1'), parts: [{ type: 'text' as const, text: 'better' }] };
        const ops: StoreOp[] = [{ op: 'replace', id: 'q1', data, rev: 1 }, ...turn('q2', 'q1')];
        await append(ops);
        const { changed, written } = await append(ops);
        expect(changed).toBe(false);
        expect(new Map(written.map(({ id, rev }) => [id, rev]))).toEqual(
          new Map([
            ['q1', 2],
            ['q2', 1],
          ]),
        );
      });

      it('counts usage once that is told again under its id, also behind what others told', async () => {
        const tell = (usageId: string, tokens = 3): Promise<AppendResult> =>
          append([{ op: 'chat', usage: { tokens }, usageId }]);
        await tell('mine');
        for (let i = 0; i < 7; i += 1) await tell(`other-${i}`, 1);
        const again = await tell('mine');
        expect(again.chat.metadata).toEqual({ usage: { tokens: 10 } });
        await append([{ op: 'chat', title: 'T', usage: { tokens: 1 } }]);
        await tell('mine');
        expect(await store.getChat('c')).toMatchObject({ title: 'T', metadata: { usage: { tokens: 11 } } });
        const bad = append([{ op: 'chat', usage: { tokens: 1 }, usageId: 5 as unknown as string }]);
        await expect(bad).rejects.toMatchObject({ code: 'invalid-options' });
      });

      it('refuses a title that is no text, and metadata and usage that are no records: they were lost by it', async () => {
        await append([{ op: 'chat', title: 'Trees', metadata: { a: 1 }, usage: { inputTokens: 3 } }]);
        const before = await store.getChat('c');
        const bad = [{ title: 5 }, { title: {} }, { metadata: 5 }, { metadata: ['x'] }, { usage: 5 }];
        for (const change of bad.map((fields) => ({ op: 'chat', ...fields }) as unknown as StoreOp))
          expect((await refusal(append([change]))).code).toBe('invalid-options');
        expect(await store.getChat('c')).toEqual(before);
      });

      it('carries a value beside it, whole or not at all', async () => {
        await append([{ op: 'set', key: 'contextree:x', value: { list: [1] } }]);
        expect(await store.get('contextree:x')).toEqual({ list: [1] });
        await refusal(append([{ op: 'set', key: 'contextree:x', value: 2 }, insert('a', 'ghost')]));
        expect(await store.get('contextree:x')).toEqual({ list: [1] });
      });

      it('puts fields into a record beside it, also of two at once, and takes out those that are null', async () => {
        const merge = (value: Record<string, unknown>) =>
          append([{ op: 'merge', key: 'contextree:x', value }]);
        await append(turn('q1', null));
        await Promise.all([merge({ a: [1] }), merge({ b: 2 }), merge({ c: 3 })]);
        expect(await store.get('contextree:x')).toEqual({ a: [1], b: 2, c: 3 });
        const { seq } = await merge({ a: null, b: { d: 4 } });
        expect(await store.get('contextree:x')).toEqual({ b: { d: 4 }, c: 3 });
        expect(await store.changesSince(seq)).toEqual([]);
        await refusal(append([{ op: 'merge', key: 'contextree:x', value: { c: 5 } }, insert('a', 'ghost')]));
        expect(await store.get('contextree:x')).toEqual({ b: { d: 4 }, c: 3 });
      });
    });

    describe('the change sequence', () => {
      it('has one entry for each thing that an append changed, numbered without a gap', async () => {
        await append([...turn('q1', null), ...turn('a1', 'q1')]);
        const changes = await store.changesSince(0);
        expect(changes.map((change) => change.seq)).toEqual([1, 2, 3, 4]);
        expect(changes.map(({ kind, id, rev, op }) => `${op} ${kind} ${id} ${rev}`).toSorted()).toEqual([
          'put branch b-main 1',
          'put chat c 1',
          'put node a1 1',
          'put node q1 1',
        ]);
      });

      it('keeps only the last change of a thing, so that it stays bounded', async () => {
        await given(store, 'q1');
        for (const text of ['a', 'b', 'c'])
          await append([{ op: 'replace', id: 'q1', data: message('q1', text) }]);
        const changes = await store.changesSince(0);
        expect(changes).toHaveLength(3);
        expect(changes.filter((change) => change.kind === 'node')).toMatchObject([
          { id: 'q1', rev: 4, seq: expect.any(Number) },
        ]);
        expect((await store.load('c')).seq).toBe(Math.max(...changes.map((change) => change.seq)));
      });

      it('can be read from anywhere, across chats, with a limit', async () => {
        await givenChat(store, 'c', 'q1');
        const { seq } = await store.load('c');
        await givenChat(store, 'd', 'q1');
        expect((await store.changesSince(seq)).map((change) => change.chatId)).toEqual(['d', 'd', 'd']);
        expect(await store.changesSince(seq, 2)).toHaveLength(2);
        expect(await store.changesSince(seq + 3)).toEqual([]);
      });

      it('lets a reader load only the difference', async () => {
        await append([insert('q1', null), insert('a1', 'q1', '', 'streaming'), head(null, 'a1')]);
        const { seq } = await store.load('c');
        expect(await store.load('c', seq)).toEqual({
          seq,
          chat: undefined,
          branches: [],
          checkpoints: [],
          nodes: [],
          dropped: [],
        });
        await append([
          { op: 'drop', id: 'a1' },
          ...turn('b1', 'q1').slice(0, 1),
          { op: 'branch', id: 'x', base: 'main', messageId: 'b1' },
        ]);
        const difference = await store.load('c', seq);
        expect(difference).toMatchObject({
          chat: { id: 'c', messageCount: 2 },
          branches: [
            { id: 'b-main', headMessageId: 'q1' },
            { id: 'x', headMessageId: 'b1' },
          ],
          checkpoints: [],
          nodes: [{ id: 'b1' }],
          dropped: ['a1'],
        });
      });
    });

    describe('deleting a chat', () => {
      beforeEach(async () => {
        await given(store, 'q1 > a1', 'q1 > b1');
        await append([{ op: 'checkpoint', id: 'k', name: 'k', messageId: 'q1' }]);
      });

      const isGone = async () => {
        expect(await store.getChat('c')).toBeUndefined();
        expect(await store.getMessage('c', 'q1')).toBeUndefined();
        expect(await store.getMessageChain('c', 'a1')).toEqual([]);
        expect(await store.getNodes('c', ['q1'])).toEqual([]);
        expect(await store.listBranches('c')).toEqual([]);
        expect(await store.listCheckpoints('c')).toEqual([]);
        expect(await store.listChats()).toEqual([]);
        expect(await store.searchMessages('c', 'q1')).toEqual([]);
        expect((await store.getGraph('c')).nodes).toEqual([]);
        expect(await store.load('c')).toEqual({
          seq: expect.any(Number),
          chat: { id: 'c', userId: 'me', rev: expect.any(Number), epoch: 0, deletedAt: expect.any(Number) },
          branches: [],
          checkpoints: [],
          nodes: [],
          dropped: [],
        });
      };

      it('leaves a tombstone and nothing else', async () => {
        await givenChat(store, 'other', 'q1 > a1');
        expect(await store.deleteChat('c')).toBe(true);
        expect(await store.deleteChat('c')).toBe(false);
        expect(await store.restoreChat('c')).toBe(false);
        expect((await store.changesSince(0)).filter((change) => change.chatId === 'c')).toMatchObject([
          { kind: 'chat', op: 'delete' },
        ]);
        expect((await store.listChats()).map((chat) => chat.id)).toEqual(['other']);
        await store.deleteChat('other');
        await isGone();
      });

      it('is refused for another user, and for a chat that never was', async () => {
        expect(await store.deleteChat('c', { userId: 'other' })).toBe(false);
        expect(await store.deleteChat('nope')).toBe(false);
        expect(await store.getChat('c')).toBeDefined();
        expect(await store.deleteChat('c', { userId: 'me' })).toBe(true);
      });

      it('keeps late writers out, and lets a new engine begin anew', async () => {
        await store.deleteChat('c');
        const rev = (await store.load('c')).chat?.rev ?? 0;
        expect((await refusal(append(turn('q2', 'a1')))).code).toBe('chat-deleted');
        const result = await append(turn('n1', null), { epoch: 1 });
        expect(result.chat).toMatchObject({ epoch: 1, messageCount: 1, nextSeq: 1, rev: rev + 1 });
        expect((await refusal(append(turn('q2', 'a1')))).code).toBe('chat-deleted');
        expect(await store.getMessage('c', 'q1')).toBeUndefined();
        expect((await store.listBranches('c')).map((branch) => branch.headMessageId)).toEqual(['n1']);
      });

      it('can wait: the chat disappears at once and can be brought back whole', async () => {
        const before = await store.getGraph('c');
        expect(await store.deleteChat('c', { keepFor: 60_000 })).toBe(true);
        await isGone();
        expect((await refusal(append(turn('q2', 'a1')))).code).toBe('chat-deleted');
        expect(await store.restoreChat('c')).toBe(true);
        expect(await store.getGraph('c')).toEqual(before);
        expect(await store.getChat('c')).not.toHaveProperty('purgeAt');
        await append(turn('q2', 'a1'));
        expect(await chain('q2')).toEqual(['q1', 'a1', 'q2']);
      });

      it('can wait for ever: the chat comes back as long as nobody deletes it for good', async () => {
        const before = await store.getGraph('c');
        expect(await store.deleteChat('c', { keepFor: Infinity })).toBe(true);
        await isGone();
        expect(await store.restoreChat('c')).toBe(true);
        expect(await store.getGraph('c')).toEqual(before);
        await store.deleteChat('c', { keepFor: Infinity });
        expect(await store.deleteChat('c')).toBe(true);
        expect(await store.restoreChat('c')).toBe(false);
        await isGone();
      });

      it('waits for nothing where it is told less than that', async () => {
        expect(await store.deleteChat('c', { keepFor: -Infinity })).toBe(true);
        expect(await store.restoreChat('c')).toBe(false);
        await expect
          .poll(async () => (await store.changesSince(0)).map(({ kind, op }) => `${op} ${kind}`))
          .toEqual(['delete chat']);
      });

      it('forgets the content when the time has passed', async () => {
        await store.deleteChat('c', { keepFor: 20 });
        await expect
          .poll(async () => (await store.changesSince(0)).map(({ kind, op }) => `${op} ${kind}`))
          .toEqual(['delete chat']);
        expect(await store.restoreChat('c')).toBe(false);
        await isGone();
      });

      it('makes room for a new chat with the same id while the old one could still come back', async () => {
        await store.deleteChat('c', { keepFor: 60_000 });
        await append([insert('q1', null, 'new words'), head(null, 'q1')], { epoch: 1 });
        expect(await store.restoreChat('c')).toBe(false);
        expect(await text('q1')).toEqual(['new words']);
        expect(await store.getMessage('c', 'a1')).toBeUndefined();
      });
    });

    describe('listing chats', () => {
      beforeEach(async () => {
        for (const [id, userId, tag] of [
          ['one', 'ann', 'x'],
          ['two', 'bob', 'y'],
          ['three', 'ann', 'y'],
        ] as const) {
          await store.append(
            id,
            [...turn('q1', null), { op: 'chat', title: `Chat ${id}`, metadata: { tag, done: true, n: 0 } }],
            { ...me, userId },
          );
          await new Promise((resolve) => setTimeout(resolve, 3));
        }
      });
      const ids = async (filter = {}) => (await store.listChats(filter)).map((chat) => chat.id);

      it('shows the last saved first', async () => {
        expect(await ids()).toEqual(['three', 'two', 'one']);
        await store.append('one', turn('a1', 'q1'), { ...me, userId: 'ann' });
        expect(await ids()).toEqual(['one', 'three', 'two']);
      });

      it('shows it first also when the clock was set back meanwhile, and tells a time that may be', async () => {
        vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
        onTestFinished(() => void vi.useRealTimers());
        const [first] = await store.listChats();
        for (const [i, id] of ['one', 'two', 'three', 'one', 'new'].entries()) {
          vi.setSystemTime((first?.updatedAt ?? 0) - 3_600_000 * (i + 1));
          const userId = id === 'two' ? 'bob' : 'ann';
          await store.append(id, turn(`a${i}`, id === 'new' ? null : 'q1'), { ...me, userId });
          expect((await ids())[0]).toBe(id);
        }
        const [last] = await store.listChats();
        expect((last?.updatedAt ?? 0) - (first?.updatedAt ?? 0)).toBeLessThan(100);
        expect(last?.createdAt).toBe(Date.now());
      });

      it('goes by a clock that was wrong by days', async () => {
        vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 5 * 86_400_000 });
        onTestFinished(() => void vi.useRealTimers());
        await store.append('one', turn('a1', 'q1'), { ...me, userId: 'ann' });
        vi.setSystemTime(Date.now() - 5 * 86_400_000);
        const now = Date.now();
        await store.append('two', turn('a1', 'q1'), { ...me, userId: 'bob' });
        expect(await store.getChat('two')).toMatchObject({ updatedAt: now });
        vi.setSystemTime(now + 5);
        await store.append('three', turn('a1', 'q1'), { ...me, userId: 'ann' });
        expect(await store.getChat('three')).toMatchObject({ updatedAt: now + 5 });
      });

      it('tells when it was saved last', async () => {
        const before = (await store.listChats()).find(({ id }) => id === 'one');
        await store.append('one', turn('a1', 'q1'), { ...me, userId: 'ann' });
        const after = (await store.listChats())[0];
        expect(after?.updatedAt).toBeGreaterThan(before?.updatedAt ?? Infinity);
        expect(after?.createdAt).toBe(before?.createdAt);
      });

      it('filters, limits and skips, each on its own and together', async () => {
        expect(await ids({ userId: 'ann' })).toEqual(['three', 'one']);
        expect(await ids({ metadata: { key: 'tag', value: 'y' } })).toEqual(['three', 'two']);
        expect(await ids({ metadata: { key: 'done', value: 1 } })).toEqual([]);
        expect(await ids({ metadata: { key: 'done', value: true } })).toHaveLength(3);
        expect(await ids({ limit: 2 })).toEqual(['three', 'two']);
        expect(await ids({ limit: 0 })).toEqual([]);
        expect(await ids({ offset: 1 })).toEqual(['two', 'one']);
        expect(await ids({ offset: 9 })).toEqual([]);
        expect(await ids({ offset: -1, limit: 1 })).toEqual(['three']);
        expect(await ids({ limit: -1 })).toEqual([]);
        expect(await ids({ metadata: { key: 'n', value: 0 }, offset: 1, limit: 1 })).toEqual(['two']);
        expect(await ids({ metadata: { key: 'toString', value: null } })).toEqual([]);
        expect(await ids({ userId: 'ann', offset: 1, limit: 5 })).toEqual(['one']);
        expect(await ids({ userId: 'nobody' })).toEqual([]);
      });

      it('shows with a limit what it shows without: moments that are the same, chats that are gone, and users', async () => {
        onTestFinished(() => void vi.useRealTimers());
        vi.useFakeTimers({ toFake: ['Date'] });
        const start = Date.now();
        for (let i = 0; i < 24; i += 1) {
          vi.setSystemTime(start + [40, 10, 10, 90, 20, 10][i % 6]!);
          const chat: StoreOp = { op: 'chat', metadata: { tag: i % 5 } };
          await store.append(`c${i}`, [chat], { ...me, userId: ['ann', 'bob', 'eve'][i % 3]! });
          if (i % 4 === 2) await store.deleteChat(`c${i}`, i % 8 === 2 ? { keepFor: 1e6 } : {});
        }
        for (const filter of [{}, { userId: 'ann' }, { userId: 'eve' }, { userId: 'nobody' }])
          for (const tag of [undefined, 0, 3, 7]) {
            const which = tag === undefined ? filter : { ...filter, metadata: { key: 'tag', value: tag } };
            const all = await ids(which);
            const pages = [0, 1, 5].flatMap((offset) => [1, 2, 4, 6, 40].map((limit) => ({ offset, limit })));
            expect(await Promise.all(pages.map((page) => ids({ ...which, ...page })))).toEqual(
              pages.map(({ offset, limit }) => all.slice(offset, offset + limit)),
            );
          }
        expect(await ids({ limit: 30 })).toHaveLength(21);
      });

      it('tells what a list shows', async () => {
        await store.append(
          'two',
          [insert('a1', 'q1'), { op: 'branch', id: 'x', base: 'main', messageId: 'a1' }],
          { ...me, userId: 'bob' },
        );
        expect((await store.listChats({ userId: 'bob' }))[0]).toEqual({
          id: 'two',
          userId: 'bob',
          title: 'Chat two',
          metadata: { tag: 'y', done: true, n: 0 },
          messageCount: 2,
          branchCount: 2,
          createdAt: expect.any(Number),
          updatedAt: expect.any(Number),
        });
      });
    });

    describe('searching', () => {
      beforeEach(async () => {
        await given(store, 'q1 > a1 > q2', 'q1 > b1');
        await append([
          { op: 'replace', id: 'q1', data: message('q1', 'How old can an oak tree grow in the forest?') },
          {
            op: 'replace',
            id: 'a1',
            data: message('a1', 'An oak can grow for a thousand years. The oldest OAK is in Jægersborg.'),
          },
          { op: 'replace', id: 'b1', data: message('b1', 'Trees of <b>café</b> parks grow faster.') },
        ]);
      });
      const found = async (query: string, options = {}) =>
        (await store.searchMessages('c', query, options)).map((hit) => hit.message.id);
      /** Says one thing more on main. */
      const say = (id: string, text: string, after = 'q2') =>
        append([insert(id, after, text), head(after, id)]);

      it('finds messages that hold all the words, in any order and case', async () => {
        expect((await found('grow OAK')).toSorted()).toEqual(['a1', 'q1']);
        expect(await found('forest oak')).toEqual(['q1']);
        expect(await found('oak helicopter')).toEqual([]);
      });

      it('knows no word of a chat that was deleted, when its id begins another one', async () => {
        expect(await found('oak', { limit: 1, deleted: true })).toEqual(['a1']);
        await store.deleteChat('c');
        await append(
          [
            insert('n1', null, 'Of all that is told here of many other things, an oak is the least.'),
            head(null, 'n1'),
          ],
          { epoch: 1 },
        );
        expect(await found('oak', { limit: 1, deleted: true })).toEqual(['n1']);
        expect(await found('forest', { deleted: true })).toEqual([]);
      });

      it('takes the last word as a beginning, the others whole', async () => {
        expect(await found('thou')).toEqual(['a1']);
        expect(await found('thou years')).toEqual([]);
        expect((await found('tree')).toSorted()).toEqual(['b1', 'q1']);
        expect(await found('tree ')).toEqual(['q1']);
      });

      it('finds phrases, and words without their accents', async () => {
        expect(await found('"oak can grow"')).toEqual(['a1']);
        expect(await found('"can an oak"')).toEqual(['q1']);
        expect(await found('cafe parks')).toEqual(['b1']);
      });

      it('ranks more hits higher, and marks the first in its words', async () => {
        const [first, second] = await store.searchMessages('c', 'oak');
        expect([first?.message.id, second?.message.id]).toEqual(['a1', 'q1']);
        expect(first?.rank).toBeGreaterThan(second?.rank ?? 0);
        expect(second?.snippet).toBe('How old can an <mark>oak</mark> tree grow in the forest?');
        expect((await store.searchMessages('c', 'cafe'))[0]?.snippet).toBe(
          'Trees of &lt;b&gt;<mark>café</mark>&lt;/b&gt; parks grow faster.',
        );
      });

      it('keeps to roles and limits, and to what is said', async () => {
        expect(await found('oak', { roles: ['user'] })).toEqual(['q1']);
        expect(await found('grow', { limit: 1 })).toHaveLength(1);
        for (const word of ['role', 'parts', 'text', 'user']) expect(await found(word)).toEqual([]);
      });

      it('holds together what stands without a space, and finds parts of joined names', async () => {
        await say('c1', "Set max_tokens to 5.5, don't ask for foo.bar on 2026-11-21.");
        for (const query of ["don't", 'max_tokens', 'tokens ', '5.5', '2026-11', 'FOO.bar', 'bar 5'])
          expect(await found(query)).toEqual(['c1']);
        for (const query of ['tokens_max', 'bar.foo', 'bar.on.5', '11-2026'])
          expect(await found(query)).toEqual([]);
      });

      it('takes any quotes for quotes, and the end of an open one as a beginning', async () => {
        expect(await found('“oak can grow”')).toEqual(['a1']);
        expect(await found('„can an oak“')).toEqual(['q1']);
        expect(await found('"can an oa')).toEqual(['q1']);
        expect(await found('"can an oa"')).toEqual([]);
      });

      it('folds accents and case as people take them', async () => {
        await say('c1', 'Ærø, Łódź, STRASSE, Ὀδυσσεύς, İstanbul, Ёлка, résumé (cafe\u0301), ﬁnal, ｆｕｌｌ');
        for (const query of [
          'aero',
          'lodz',
          'straße',
          'οδυσσευσ',
          'istanbul',
          'елка',
          'resume',
          'café',
          'final',
        ])
          expect(await found(query)).toContain('c1');
        expect(await found('full ')).toEqual(['c1']);
        await say('c2', 'GROẞ', 'c1');
        for (const query of ['groß', 'gross', 'GROSS', 'Groẞ']) expect(await found(query)).toEqual(['c2']);
      });

      it('finds Chinese, Japanese, Thai and Korean words inside of sentences', async () => {
        await say('c1', '我们研究生命的起源。東京タワーに行きました。ฉันรักภาษาไทยมาก 나무가 자란다');
        for (const query of [
          '生命',
          '研究',
          '"起源"',
          '東京',
          'タワー',
          'ﾀﾜｰ',
          'ภาษาไทย',
          'รัก',
          '나무',
          '나무 자란',
        ])
          expect(await found(query)).toEqual(['c1']);
        expect((await store.searchMessages('c', '生命'))[0]?.snippet).toContain(
          '研究<mark>生命</mark>的起源',
        );
        await say('c2', 'Neu: React나무가, iOS手机 ガイド', 'c1');
        for (const query of ['나무 ', '手机', 'ｶﾞｲﾄﾞ', 'react']) expect(await found(query)).toContain('c2');
        expect(await found('カイト')).toEqual([]);
        for (const query of ['命生', '東タ', 'ไทยภาษา']) expect(await found(query)).toEqual([]);
      });

      it('finds words as they look, whatever unseen signs they hold', async () => {
        await say(
          'c1',
          'We co\u00adoperate on the Donau\u00addampf\u00adschiff, zero\u200bwidth and \u2060all.',
        );
        await say('c2', 'می\u200cخواهم بروم', 'c1');
        for (const query of ['cooperate ', 'co\u00adoperate ', 'donaudampf', 'zerowidth ', 'all '])
          expect(await found(query)).toEqual(['c1']);
        for (const query of ['میخواهم ', 'می\u200cخواهم ', 'می\u200c', '"میخواهم بروم"'])
          expect(await found(query)).toEqual(['c2']);
        const [hit] = await store.searchMessages('c', 'donaudampfschiff zerowidth');
        expect(hit?.snippet).toBe(
          'We co\u00adoperate on the <mark>Donau\u00addampf\u00adschiff</mark>, <mark>zero\u200bwidth</mark> and \u2060all.',
        );
      });

      it('finds pictures, whatever their colour', async () => {
        await say('c1', 'Well done 👍🏽 and 👩‍💻 in 🇩🇰');
        for (const query of ['👍', '👍🏽', '👩‍💻', '🇩🇰', 'done 👍']) expect(await found(query)).toEqual(['c1']);
        for (const query of ['🎉', '🇰🇩']) expect(await found(query)).toEqual([]);
      });

      it('looks at what people read: texts and names of files, no thoughts and no tools', async () => {
        const parts: UIMessage['parts'] = [
          { type: 'reasoning', text: 'pondering' },
          { type: 'text', text: 'spoken' },
          {
            type: 'tool-look',
            toolCallId: 't',
            state: 'output-available',
            input: { hidden: 'asked' },
            output: 'answered',
          },
          { type: 'file', mediaType: 'image/png', filename: 'Résumé-2026.png', url: 'data:image/png,bytes' },
        ];
        const data: UIMessage = { id: 'c1', role: 'assistant', parts };
        await append([
          { op: 'insert', id: 'c1', parentId: 'q2', data, status: 'complete' },
          head('q2', 'c1'),
        ]);
        for (const query of ['spoken', 'resume', 'resume-2026.png'])
          expect(await found(query)).toEqual(['c1']);
        for (const query of ['pondering', 'asked', 'answered', 'image', 'bytes', 'hidden'])
          expect(await found(query)).toEqual([]);
      });

      it('does not find the reminders that were folded in', async () => {
        const words = 'How are you?';
        const text = `${words}\n\n<system-reminder>Mention helicopters.</system-reminder>`;
        const reminders = [
          {
            id: 'r',
            text: 'Mention helicopters.',
            mode: 'inline',
            partIndex: 0,
            start: 12,
            end: text.length,
          },
        ];
        const data: UIMessage = {
          id: 'q3',
          role: 'user',
          parts: [{ type: 'text', text }],
          metadata: { reminders },
        };
        await append([
          { op: 'insert', id: 'q3', parentId: 'q2', data, status: 'complete' },
          head('q2', 'q3'),
        ]);
        for (const query of ['helicopters', 'system-reminder']) expect(await found(query)).toEqual([]);
        expect((await store.searchMessages('c', 'are you'))[0]?.snippet).toBe(
          'How <mark>are</mark> <mark>you</mark>?',
        );
      });

      it('leaves out what only deleted branches hold, unless it is asked for', async () => {
        await append([{ op: 'delete-branch', id: 'b-b1' }]);
        expect(await found('cafe')).toEqual([]);
        expect(await found('forest')).toEqual(['q1']);
        expect(await found('cafe', { deleted: true })).toEqual(['b1']);
        await append([{ op: 'restore-branch', id: 'b-b1' }]);
        expect(await found('cafe')).toEqual(['b1']);
      });

      it('keeps to one branch when told so, by id or by name', async () => {
        expect((await found('grow', { branch: 'main' })).toSorted()).toEqual(['a1', 'q1']);
        expect((await found('grow', { branch: 'b-b1' })).toSorted()).toEqual(['b1', 'q1']);
        expect(await found('grow', { branch: 'nowhere' })).toEqual([]);
        await append([{ op: 'delete-branch', id: 'b-b1' }]);
        expect(await found('cafe', { branch: 'b-b1' })).toEqual([]);
        expect(await found('cafe', { branch: 'b-b1', deleted: true })).toEqual(['b1']);
      });

      it('means the branch that is there by a name that a deleted one had before it', async () => {
        await append([
          { op: 'rename-branch', id: 'b-b1', name: 'aside' },
          { op: 'delete-branch', id: 'b-b1' },
          { op: 'branch', id: 'b-now', name: 'aside', messageId: 'a1' },
        ]);
        expect((await found('grow', { branch: 'aside', deleted: true })).toSorted()).toEqual(['a1', 'q1']);
        expect(await found('cafe', { branch: 'aside', deleted: true })).toEqual([]);
      });

      it('follows each change: new words, taken back ones, answers that grow', async () => {
        expect(await found('zebra')).toEqual([]);
        await append([{ op: 'replace', id: 'a1', data: message('a1', 'A zebra now.') }]);
        expect(await found('zebra')).toEqual(['a1']);
        expect(await found('thousand')).toEqual([]);
        await append([insert('c1', 'q2', '', 'streaming'), head('q2', 'c1')]);
        expect(await found('giraffe')).toEqual([]);
        await store.saveDraft('c', 'c1', message('c1', 'One giraffe'));
        expect(await found('giraffe')).toEqual(['c1']);
        await store.saveDraft('c', 'c1', message('c1', 'One giraffe and a lion'));
        expect(await found('lion')).toEqual(['c1']);
        await append([{ op: 'replace', id: 'c1', status: 'complete', data: message('c1', 'Only a tiger') }]);
        expect(await found('tiger')).toEqual(['c1']);
        expect(await found('giraffe')).toEqual([]);
      });

      it('finds nothing of a message that was taken back, of a chat that is gone, or of one before it', async () => {
        await append([insert('c1', 'q2', '', 'streaming'), head('q2', 'c1')]);
        expect(await found('oak')).toHaveLength(2);
        await append([{ op: 'drop', id: 'c1' }]);
        expect(await found('c1')).toEqual([]);
        await store.deleteChat('c', { keepFor: 60_000 });
        expect(await found('oak')).toEqual([]);
        await store.restoreChat('c');
        expect(await found('oak')).toHaveLength(2);
        await store.clear();
        expect(await found('oak')).toEqual([]);
        await append([insert('a1', null, 'An elm'), head(null, 'a1')]);
        expect(await found('oak')).toEqual([]);
        expect(await found('elm')).toEqual(['a1']);
      });

      it('is asked many times at once, while others write', async () => {
        const writes = [1, 2, 3].map((i) => append([insert(`x${i}`, null, `oak ${i}`)]));
        await Promise.all([...writes, ...Array.from({ length: 5 }, () => found('oak'))]);
        await append([{ op: 'branch', id: 'y', messageId: 'x1' }]);
        expect((await found('oak', { deleted: true })).toSorted()).toEqual(['a1', 'q1', 'x1', 'x2', 'x3']);
        expect((await found('oak')).toSorted()).toEqual(['a1', 'q1', 'x1']);
      });

      it('ranks rare words, whole words and short texts higher, and the later of equals', async () => {
        await say('c1', 'The tree by the river.');
        expect((await found('tree'))[0]).toBe('c1');
        await say('c2', 'Same words.', 'c1');
        await say('c3', 'Same words.', 'c2');
        expect(await found('same')).toEqual(['c3', 'c2']);
        await say('c4', 'A lamp here.', 'c3');
        await say('c5', 'A lamps here.', 'c4');
        expect(await found('lamp')).toEqual(['c4', 'c5']);
        await say('c6', 'Short desk.', 'c5');
        await say('c7', 'A desk with many more words around it.', 'c6');
        expect(await found('desk')).toEqual(['c6', 'c7']);
      });

      it('shows about a hundred characters, whole ones, where most of the words stand', async () => {
        const filler = '😀 and so on '.repeat(60);
        await say('c1', `needle ${filler} the needle in\n\n\tthe haystack ${filler}`);
        const [hit] = await store.searchMessages('c', 'needle haystack');
        expect(hit?.snippet).toContain('<mark>needle</mark> in the <mark>haystack</mark>');
        expect(hit?.snippet).toMatch(/^….*…$/u);
        expect(hit?.snippet.isWellFormed()).toBe(true);
        expect(hit?.snippet.replaceAll(/<\/?mark>/g, '').length).toBeLessThanOrEqual(110);
        await say('c2', `${'x'.repeat(5000)}😀${'-'.repeat(5000)} end`, 'c1');
        await say('c3', `y${'𐐷'.repeat(500)}`, 'c2');
        for (const query of ['xxxx', '😀', 'end', 'y𐐷'])
          for (const { snippet } of await store.searchMessages('c', query)) {
            expect(snippet.isWellFormed()).toBe(true);
            expect(snippet.replaceAll(/<\/?mark>/g, '').length).toBeLessThanOrEqual(102);
          }
      });

      it('lets no markup through but its own', async () => {
        await say(
          'c1',
          `<img src=x onerror="alert(1)"> <mark>oats</mark> & 'oats' </mark><script>oats()</script>`,
        );
        const [hit] = await store.searchMessages('c', 'oats');
        expect(hit?.snippet.replaceAll(/<\/?mark>/g, '')).not.toMatch(/[<>"']/);
        expect(hit?.snippet.match(/<mark>oats<\/mark>/g)).toHaveLength(3);
        const [script] = await store.searchMessages('c', '"script oats"');
        expect(script?.snippet).toContain('&lt;<mark>script&gt;oats</mark>()');
      });

      it('gives nothing for odd queries', async () => {
        const odd = [
          '',
          ' ',
          '"',
          '""',
          '-',
          'a:b"',
          '*',
          '(',
          '(((',
          '\\',
          '%',
          '\ud800',
          '\udc00"',
          '¿?!…。、',
          '\0',
        ];
        for (const query of [...odd, '.'.repeat(1e6), 'AND', 'NOT ', '"'.repeat(999)])
          expect(await found(query)).toEqual([]);
        expect(await found('-oak')).toHaveLength(2);
        expect(await found('"oak')).toHaveLength(2);
        expect(await found('oak*')).toHaveLength(2);
        for (const strange of [undefined, null, 5, {}]) expect(await found(strange as never)).toEqual([]);
        expect(await found('oak', { limit: -1 })).toEqual([]);
        expect(await found('oak', { limit: 0 })).toEqual([]);
        expect(await found('oak', { roles: [] })).toEqual([]);
      });

      it('reads of a megabyte of query what it takes, and no more', async () => {
        expect(await found('oak '.repeat(250_000))).toHaveLength(2);
        expect(await found('"'.repeat(1e6))).toEqual([]);
        expect(await found(`oak ${'z'.repeat(1e6)}`)).toEqual([]);
        expect(await found('oak can grow for '.repeat(60_000))).toEqual(['a1']);
      });
    });

    describe('the graph', () => {
      it('is previews, branches and checkpoints, as text prints them', async () => {
        await given(store, 'q1 > a1', 'q1 > b1');
        await append([
          { op: 'checkpoint', id: 'k', name: 'here', messageId: 'a1' },
          { op: 'use', branchId: 'b-b1' },
        ]);
        expect(visualizeGraph(await store.getGraph('c'))).toBe(
          [
            '[chat: c]',
            '',
            'q1 (user): "q1"',
            '├── a1 (assistant): "a1" <- [main] {here}',
            '└── b1 (assistant): "b1" <- [main-v2 *]',
            '',
            'Legend: * = active branch, {...} = checkpoint',
          ].join('\n'),
        );
      });
    });

    describe('bytes beside messages', () => {
      const picture = new Uint8Array([1, 2, 3]);
      const name = '039058c6f2c0cb492c533b0a4d14ef77cc0f78abccced5287d84a1a2011cfb81';
      const showing = (id: string, parentId: string | null): StoreOp => {
        const part = { type: 'file' as const, mediaType: 'image/png', url: blobUrl(name) };
        const data = { ...message(id), parts: [part] };
        return { op: 'insert', id, parentId, data, status: 'complete' };
      };
      const isThere = async () => (await store.getBlob(name)) !== undefined;

      afterEach(() => {
        vi.useRealTimers();
      });

      it('are kept once, by the hash of what they are, apart from the caller’s', async () => {
        const mine = picture.slice();
        expect(await store.putBlob(mine)).toBe(name);
        mine[0] = 9;
        expect(await store.putBlob(picture)).toBe(name);
        const stored = await store.getBlob(name);
        expect([...(stored ?? [])]).toEqual([1, 2, 3]);
        stored?.fill(0);
        expect([...((await store.getBlob(name)) ?? [])]).toEqual([1, 2, 3]);
        expect(await store.getBlob('00')).toBeUndefined();
        expect(await store.putBlob(new Uint8Array())).toMatch(/^e3b0c442/);
      });

      it('stay while a message refers to them, in any chat, and go with the last chat', async () => {
        await store.putBlob(picture);
        await append([showing('q1', null), showing('q2', 'q1')]);
        await store.append('d', [showing('q1', null)], me);
        await store.deleteChat('c');
        expect(await isThere()).toBe(true);
        await store.deleteChat('d', { keepFor: 60_000 });
        expect(await isThere()).toBe(true);
        await store.restoreChat('d');
        await store.deleteChat('d');
        expect(await isThere()).toBe(false);
      });

      it('stay when the message that showed them is replaced: its earlier version shows them still', async () => {
        await store.putBlob(picture);
        await append([showing('q1', null)]);
        await append([{ op: 'replace', id: 'q1', data: message('q1', 'no picture') }]);
        expect(await isThere()).toBe(true);
      });

      it('go with the chat that a new one replaces, unless that shows them, too', async () => {
        await store.putBlob(picture);
        const other = await store.putBlob(new Uint8Array([4]));
        const url = blobUrl(other);
        await append([
          showing('q1', null),
          { op: 'replace', id: 'q1', data: { ...message('q1'), metadata: { deep: [{ url }] } } },
        ]);
        await append([showing('q2', 'q1')]);
        await store.deleteChat('c', { keepFor: 60_000 });
        await append([showing('n1', null)], { epoch: 1 });
        expect(await isThere()).toBe(true);
        expect(await store.getBlob(other)).toBeUndefined();
      });

      it('wait a day for their message, and are waited for by no deletion', async () => {
        vi.useFakeTimers({ toFake: ['Date'] });
        await store.putBlob(picture);
        await append([showing('q1', null)]);
        await store.putBlob(picture);
        await store.deleteChat('c');
        expect(await isThere()).toBe(true);
        vi.setSystemTime(Date.now() + 23 * 3_600_000);
        await store.listChats();
        expect(await isThere()).toBe(true);
        vi.setSystemTime(Date.now() + 2 * 3_600_000);
        await store.listChats();
        await expect.poll(isThere).toBe(false);
      });

      it('stay for ever once a message has come, and go with everything', async () => {
        vi.useFakeTimers({ toFake: ['Date'] });
        await store.putBlob(picture);
        await append([showing('q1', null)]);
        await store.putBlob(picture);
        vi.setSystemTime(Date.now() + 25 * 3_600_000);
        await store.listChats();
        await new Promise((resolve) => setTimeout(resolve, 30));
        expect(await isThere()).toBe(true);
        await store.clear();
        expect(await isThere()).toBe(false);
      });

      it('have the same names on a page that is not secure', async () => {
        const subtle = vi.spyOn(crypto, 'subtle', 'get').mockReturnValue(undefined as never);
        for (const length of [0, 1, 55, 56, 63, 64, 65, 1000]) {
          const bytes = new Uint8Array(length).fill(length);
          const insecure = await store.putBlob(bytes);
          subtle.mockRestore();
          expect(insecure).toBe(await store.putBlob(bytes));
          vi.spyOn(crypto, 'subtle', 'get').mockReturnValue(undefined as never);
        }
        vi.restoreAllMocks();
      });
    });

    describe('values of the app', () => {
      it('are kept, copied, replaced and deleted', async () => {
        const value = { when: new Date(5), map: new Map([['a', 1]]) };
        await store.set('mine', value);
        value.map.set('a', 2);
        expect(await store.get('mine')).toEqual({ when: new Date(5), map: new Map([['a', 1]]) });
        await store.set('mine', 'other');
        expect(await store.get<string>('mine')).toBe('other');
        await store.delete('mine');
        expect(await store.get('mine')).toBeUndefined();
        await store.delete('never');
      });

      it('are kept as they were handed in, also by the first call of all', async () => {
        const value = { words: 'as said' };
        const keeping = store.set('mine', value);
        value.words = 'changed since';
        await keeping;
        expect(await store.get('mine')).toEqual({ words: 'as said' });
      });

      it('so are messages and bytes, whichever call comes first', async () => {
        const [one, another] = [await open(), await open()];
        for (const id of ['first', 'second']) {
          const data = message(id, 'as said');
          const writing = one.append(
            'c',
            [{ op: 'insert', id, parentId: null, data, status: 'complete' }],
            me,
          );
          Object.assign(data.parts[0] ?? {}, { text: 'changed since' });
          await writing;
          expect((await one.getMessage('c', id))?.data.parts).toEqual([{ type: 'text', text: 'as said' }]);
          const bytes = new Uint8Array([1, 2, 3]);
          const putting = another.putBlob(bytes);
          bytes.fill(9);
          expect(await another.getBlob(await putting)).toEqual(new Uint8Array([1, 2, 3]));
        }
        await Promise.all([one.close(), another.close()]);
      });

      it('are refused under a key that is no text', async () => {
        for (const key of [undefined, null, 5, {}] as unknown as string[])
          for (const call of [store.set(key, 1), store.get(key), store.delete(key)])
            expect((await refusal(call)).code).toBe('invalid-options');
      });

      it('are refused when they cannot be copied', async () => {
        expect((await refusal(store.set('mine', () => 1))).code).toBe('invalid-options');
        expect((await refusal(append([{ op: 'set', key: 'mine', value: { f: () => 1 } }]))).code).toBe(
          'invalid-options',
        );
        expect(await store.getChat('c')).toBeUndefined();
      });
    });

    describe('notices', () => {
      const listen = () => {
        const notices: StoreNotice[] = [];
        const stop = store.subscribe((notice) => notices.push(notice));
        return { notices, stop };
      };

      it('tell of each write that changed something, once it is there', async () => {
        const { notices, stop } = listen();
        const { seq } = await append(turn('q1', null));
        expect(notices).toEqual([{ kind: 'change', chatId: 'c', seq, remote: false }]);
        await append(turn('q1', null));
        await store.set('mine', 1);
        expect(notices).toHaveLength(1);
        await store.deleteChat('c');
        expect(notices[1]).toMatchObject({ kind: 'change', chatId: 'c' });
        stop();
        await append([], { epoch: 1 });
        expect(notices).toHaveLength(2);
      });

      it('tell of drafts, and of nothing that was refused', async () => {
        await append([insert('a1', null, '', 'streaming')]);
        const { notices } = listen();
        await store.saveDraft('c', 'a1', message('a1', 'w'));
        expect(notices).toMatchObject([{ kind: 'draft', chatId: 'c', id: 'a1', remote: false }]);
        await refusal(append([insert('x', 'ghost')]));
        await store.saveDraft('c', 'zzz', message('zzz', 'w'));
        expect(notices).toHaveLength(1);
      });
    });

    describe('holding a node', () => {
      it.each(['%', 'a:b', '%25', '%uD800', 'é', '\ud800', 'x\udfff'])(
        'shows whatever its id and its chat’s are: %j',
        async (id) => {
          const release = await store.hold(id, id);
          expect(await store.held(id)).toEqual(new Set([id]));
          expect(await store.held(`${id}\ud801`)).toEqual(new Set());
          release();
          await expect.poll(() => store.held(id)).toEqual(new Set());
        },
      );

      it('shows until it is let go, once per holder', async () => {
        const first = await store.hold('c', 'a1');
        const second = await store.hold('c', 'a1');
        const other = await store.hold('d', 'a1');
        expect(await store.held('c')).toEqual(new Set(['a1']));
        first();
        first();
        expect(await store.held('c')).toEqual(new Set(['a1']));
        second();
        await expect.poll(() => store.held('c')).toEqual(new Set());
        expect(await store.held('d')).toEqual(new Set(['a1']));
        other();
      });
    });

    describe('many at once', () => {
      it('appends from everywhere are kept, every one on some branch', async () => {
        await given(store, 'q1');
        await Promise.all(Array.from({ length: 20 }, (_, i) => append(turn(`x${i}`, 'q1'))));
        const branches = await store.listBranches('c');
        expect(branches).toHaveLength(20);
        const heads = branches.map((branch) => branch.headMessageId ?? '').toSorted();
        expect(heads).toEqual(Array.from({ length: 20 }, (_, i) => `x${i}`).toSorted());
        expect(new Set(branches.map((branch) => branch.name)).size).toBe(20);
        expect(new Set((await store.load('c')).nodes.map((node) => node.seq)).size).toBe(21);
      });
    });

    describe('clearing and closing', () => {
      it('forgets everything, and counts changes on', async () => {
        await given(store, 'q1');
        await store.set('mine', 1);
        const { seq } = await store.load('c');
        const notices: StoreNotice[] = [];
        store.subscribe((notice) => notices.push(notice));
        await store.clear();
        expect(notices).toMatchObject([{ kind: 'clear', remote: false }]);
        expect(await store.listChats()).toEqual([]);
        expect(await store.get('mine')).toBeUndefined();
        expect(await store.changesSince(0)).toEqual([]);
        expect((await given(store, 'q1')).seq).toBeGreaterThan(seq);
      });

      it('refuses the writes of those who know a chat from before, also when another one has its id', async () => {
        const { seq: asOf } = await given(store, 'q1');
        expect((await store.load('c')).clearedSeq).toBeUndefined();
        await store.clear();
        expect((await store.load('c')).clearedSeq).toBeGreaterThan(asOf);
        const late = (): Promise<unknown> => store.append('c', turn('a1', 'q1'), { ...me, asOf });
        await expect(late()).rejects.toMatchObject({ code: 'chat-deleted' });
        expect(await store.listChats()).toEqual([]);
        const { seq } = await given(store, 'q1');
        await expect(late()).rejects.toMatchObject({ code: 'chat-deleted' });
        await store.append('c', turn('a1', 'q1'), { ...me, asOf: seq });
        expect(await store.getMessages('c')).toHaveLength(2);
      });

      it('refuses the writes of those who know a chat of which there is nothing: they alone can write it again', async () => {
        const late = (): Promise<unknown> => store.append('c', turn('q1', null), { ...me, asOf: 1 });
        await expect(late()).rejects.toMatchObject({
          code: 'chat-missing',
          details: { chatId: 'c', asOf: 1, epoch: 0 },
        });
        expect(await store.listChats()).toEqual([]);
        const again = { ...me, chatRev: 0 };
        await store.append(
          'c',
          turn('q1', null).map((op) => (op.op === 'insert' ? { ...op, rev: 3 } : op)),
          again,
        );
        expect(await store.getMessage('c', 'q1')).toMatchObject({ rev: 3 });
        await late();
        const another = store.append('c', turn('q2', null), again);
        await expect(another).rejects.toMatchObject({ code: 'head-moved', details: { reason: 'chat' } });
      });

      it('refuses the writes of those who know a chat that was lost, and that another one wrote again', async () => {
        const { chat } = await given(store, 'q1');
        const known = { ...me, chatCreatedAt: chat.createdAt };
        await store.append('c', turn('a1', 'q1'), known);
        const other = store.append('c', turn('q2', 'a1'), { ...me, chatCreatedAt: chat.createdAt - 1 });
        await expect(other).rejects.toMatchObject({
          code: 'chat-missing',
          details: { chatId: 'c', reason: 'another' },
        });
        // Whoever wrote it again knew of none that was deleted before.
        const later = store.append('c', turn('q2', 'a1'), {
          ...me,
          epoch: 1,
          chatCreatedAt: chat.createdAt - 1,
        });
        await expect(later).rejects.toMatchObject({ details: { reason: 'another' } });
        expect(await store.getMessages('c')).toHaveLength(2);
        await store.deleteChat('c');
        await expect(store.append('c', turn('q2', 'a1'), known)).rejects.toMatchObject({
          code: 'chat-deleted',
        });
        // That was another one.
        await expect(store.append('c', turn('q2', null), { ...known, epoch: 3 })).rejects.toMatchObject({
          code: 'chat-missing',
          details: { chatId: 'c', epoch: 1 },
        });
        await store.append('c', turn('q1', null), { ...me, epoch: 1 });
        await expect(store.append('c', turn('a1', 'q1'), known)).rejects.toMatchObject({
          code: 'chat-deleted',
        });
      });

      it('tells those who listen from the moment on in which it is closed, and none of those before', async () => {
        await given(store, 'q1');
        const told: string[] = [];
        store.subscribe(() => told.push('before'));
        const closing = store.close();
        store.subscribe(() => told.push('after'));
        await closing;
        await append(turn('a1', 'q1'));
        expect(told).toEqual(['after']);
      });

      it('opens again when it is used after closing', async () => {
        await given(store, 'q1 > a1');
        await store.close();
        expect(await chain('a1')).toEqual(['q1', 'a1']);
        await append(turn('q2', 'a1'));
        expect(await chain('q2')).toEqual(['q1', 'a1', 'q2']);
      });
    });
  });
}
