import type { UIMessage } from 'ai';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import type { ContextStore, Readable } from '../../src/store/store.ts';
import { searchMessages } from '../../src/store/search.ts';
import { begun, endsOf, me, message, oneMore, versionOf } from '../support/storeRecords.ts';

describe('searching', () => {
  let store: InMemoryContextStore;
  /** Says one thing more on main. */
  const put = (body: UIMessage, after: string | null) =>
    store.commit('c', oneMore(body.id, after, { versions: [versionOf(body)] }), me);
  const say = (id: string, text: string, after: string | null = 'q2') => put(message(id, text), after);
  const found = async (query: string, options = {}) =>
    (await store.searchMessages('c', query, options)).map((hit) => hit.message.id);

  beforeEach(async () => {
    store = new InMemoryContextStore();
    await store.commit('c', { ...begun('me'), ends: [endsOf('r1', ['b1'])] }, me);
    await say('q1', 'How old can an oak tree grow in the forest?', null);
    await say('a1', 'An oak can grow for a thousand years. The oldest OAK is in Jægersborg.', 'q1');
    await say('b1', 'Trees of <b>café</b> parks grow faster.', 'q1');
    await say('q2', 'q2', 'a1');
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
    for (const query of ['aero', 'lodz', 'straße', 'οδυσσευσ', 'istanbul', 'елка', 'resume', 'café', 'final'])
      expect(await found(query)).toContain('c1');
    expect(await found('full ')).toEqual(['c1']);
    await say('c2', 'GROẞ', 'c1');
    for (const query of ['groß', 'gross', 'GROSS', 'Groẞ']) expect(await found(query)).toEqual(['c2']);
  });

  it('finds Chinese, Japanese, Thai and Korean words inside of sentences', async () => {
    await say('c1', '我们研究生命的起源。東京タワーに行きました。ฉันรักภาษาไทยมาก 나무가 자란다');
    for (const query of '生命,研究,"起源",東京,タワー,ﾀﾜｰ,ภาษาไทย,รัก,나무,나무 자란'.split(','))
      expect(await found(query)).toEqual(['c1']);
    expect((await store.searchMessages('c', '生命'))[0]?.snippet).toContain('研究<mark>生命</mark>的起源');
    await say('c2', 'Neu: React나무가, iOS手机 ガイド', 'c1');
    for (const query of ['나무 ', '手机', 'ｶﾞｲﾄﾞ', 'react']) expect(await found(query)).toContain('c2');
    expect(await found('カイト')).toEqual([]);
    for (const query of ['命生', '東タ', 'ไทยภาษา']) expect(await found(query)).toEqual([]);
  });

  it('finds words as they look, whatever unseen signs they hold', async () => {
    await say('c1', 'We co\u00adoperate on the Donau\u00addampf\u00adschiff, zero\u200bwidth and \u2060all.');
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
    await put(data, 'q2');
    for (const query of ['spoken', 'resume', 'resume-2026.png']) expect(await found(query)).toEqual(['c1']);
    for (const query of ['pondering', 'asked', 'answered', 'image', 'bytes', 'hidden'])
      expect(await found(query)).toEqual([]);
  });

  it('does not find the reminders that were folded in', async () => {
    const words = 'How are you?';
    const text = `${words}\n\n<system-reminder>Mention helicopters.</system-reminder>`;
    const place = { mode: 'inline', partIndex: 0, start: 12, end: text.length };
    const reminders = [{ id: 'r', text: 'Mention helicopters.', ...place }];
    const data: UIMessage = { ...message('q3', text), metadata: { reminders } };
    await put(data, 'q2');
    for (const query of ['helicopters', 'system-reminder']) expect(await found(query)).toEqual([]);
    expect((await store.searchMessages('c', 'are you'))[0]?.snippet).toBe(
      'How <mark>are</mark> <mark>you</mark>?',
    );
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
    const plain = String.raw`\ % * ( " "" - a:b" ((( ¿?!…。、`.split(' ');
    const odd = [...plain, '', ' ', '\0', '\ud800', '\udc00"'];
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

describe('a search that reads a chat', () => {
  it('tells what keeps it from reading, and goes on where it was when that is over', async () => {
    const store = new InMemoryContextStore();
    await store.commit('c', begun('me', 'm1 > m2'), me);
    const load = vi.fn<ContextStore['load']>((...args) => store.load(...args));
    const reader: Readable = { load, bodies: (...args) => store.bodies(...args) };
    load.mockRejectedValueOnce(new Error('the disk is away'));
    await expect(searchMessages(reader, 'c', 'm2')).rejects.toThrow('the disk is away');
    expect((await searchMessages(reader, 'c', 'm2')).map((hit) => hit.message.id)).toEqual(['m2']);
  });

  it('lets the page go on while it reads a long chat from memory', async () => {
    const store = new InMemoryContextStore();
    const ids = Array.from({ length: 6000 }, (_, i) => `n${i}`);
    await store.commit('long', begun('me', ids.join(' > ')), me);
    let turns = 0;
    const turn = setInterval(() => (turns += 1), 1);
    await store.searchMessages('long', 'nothing');
    clearInterval(turn);
    expect(turns).toBeGreaterThan(1);
  });
});
