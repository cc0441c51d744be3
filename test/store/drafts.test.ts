import type { UIMessage } from 'ai';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type DraftRow, readDraft, writeDraft } from '../../src/store/drafts.ts';
import type { Rows } from '../../src/store/rows.ts';
import { campaign, tryAll } from '../support/campaign.ts';

const said = (...texts: string[]): UIMessage => ({
  id: 'a1',
  role: 'assistant',
  parts: texts.map((text) => ({ type: 'text', text })),
});

/** The rows of one answer, which lose what a test takes away. */
function kept(rows: DraftRow[]): Rows {
  return {
    get: async () => rows[0] as never,
    list: async () => rows as never[],
    lastChats: async () => [],
    put: (_table, row) => void rows.push(row as DraftRow),
    delete: () => void rows.splice(0),
  };
}

const words = Array.from({ length: 40 }, (_, i) => `word ${i}, "quoted"\n`);

/** An answer of forty words as it lies there. */
async function written(): Promise<DraftRow[]> {
  const rows: DraftRow[] = [];
  for (let i = 0; i < words.length; i += 1)
    await writeDraft(kept(rows), 'c', said(words.slice(0, i + 1).join('')));
  return rows;
}

test('an answer that grows is written once, not at each word', async () => {
  const rows = await written();
  expect(await readDraft(kept(rows), 'c', 'a1')).toEqual(said(words.join('')));
  expect(JSON.stringify(rows).length).toBeLessThan(5 * words.join('').length);
  const long: DraftRow[] = [];
  for (let i = 0; i < 600; i += 1) await writeDraft(kept(long), 'c', said('x'.repeat(600), `${i}`));
  expect(long.length).toBeLessThan(257);
  expect(await readDraft(kept(long), 'c', 'a1')).toEqual(said('x'.repeat(600), '599'));
});

test('the first words of an answer are looked for once, and put, and nothing else: somebody waits for the next ones', async () => {
  const asked: string[] = [];
  const rows = kept([]);
  const noted: Rows = {
    ...rows,
    get: async (...given) => (asked.push('get'), rows.get(...given)),
    list: async (...given) => (asked.push('list'), rows.list(...given)),
    put: (...given) => (asked.push('put'), rows.put(...given)),
    delete: (...given) => (asked.push('delete'), rows.delete(...given)),
  };
  await writeDraft(noted, 'c', said('word'));
  expect(asked).toEqual(['list', 'put']);
});

const asked = (state: string, input: string, rest: object = {}): UIMessage => ({
  id: 'a1',
  role: 'assistant',
  parts: [
    { type: 'step-start' },
    { type: 'tool-write', toolCallId: 't1', state, input: { text: input }, ...rest } as never,
  ],
});

test('what a tool is asked, which grows in two places at once, is written once, too, and not again when all is asked', async () => {
  const rows: DraftRow[] = [];
  let written = 0;
  const counted: Rows = {
    ...kept(rows),
    put: (_table, row) => {
      written += JSON.stringify(row).length;
      rows.push(row as DraftRow);
    },
  };
  const keep = async (draft: UIMessage): Promise<void> => {
    await writeDraft(counted, 'c', draft);
    expect(await readDraft(counted, 'c', 'a1')).toEqual(draft);
  };
  const all = words.join('');
  const saying = (input: string): UIMessage =>
    asked('input-streaming', input, { rawInput: `{"text":"${input}` });
  for (let i = 0; i < words.length; i += 1) await keep(saying(words.slice(0, i + 1).join('')));
  expect(written).toBeLessThan(6 * JSON.stringify(saying(all)).length);
  const before = written;
  await keep(asked('input-available', all));
  await keep(asked('output-available', all, { output: 'done' }));
  expect(written - before).toBeLessThan(all.length / 2);
});

test('whatever is put in, taken out, moved and said twice, what was drafted last is read', async () => {
  const edits = fc.array(fc.record({ what: fc.nat(4), from: fc.nat(99), to: fc.nat(99) }), { size: '+1' });
  await tryAll(
    edits,
    async (all) => {
      const rows: DraftRow[] = [];
      let texts = [words.join('')];
      for (const edit of all) {
        texts = edited(texts, edit);
        await writeDraft(kept(rows), 'c', said(...texts));
        expect(await readDraft(kept(rows), 'c', 'a1')).toEqual(said(...texts));
      }
    },
    campaign(300),
  );
});

/** Some texts with another last one; places in it are told in percent. */
function edited(texts: string[], { what, from, to }: { what: number; from: number; to: number }): string[] {
  const text = texts.at(-1) ?? '';
  const [start, end] = [from, to].map((place) => Math.floor((text.length * place) / 100)) as [number, number];
  const added = words.slice(from % 40, to % 40).join('');
  const instead = [
    [text.slice(0, start) + added + text.slice(start)],
    [text.slice(0, start) + text.slice(Math.max(start, end))],
    [text.slice(start) + text.slice(0, start)],
    [text, text.slice(start, end)],
    texts.length > 1 ? [] : [added],
  ];
  return [...texts.slice(0, -1), ...(instead[what] ?? [])];
}

test('words behind a row that is lost are left out, and none are mixed up', async () => {
  const rows = await written();
  for (let lost = 1; lost < rows.length; lost += 1) {
    const left = await readDraft(kept(rows.toSpliced(lost, 1)), 'c', 'a1');
    expect(left).toEqual(await readDraft(kept(rows.slice(0, lost)), 'c', 'a1'));
    const [part] = left?.parts ?? [];
    expect(words.join('').startsWith((part as { text: string }).text)).toBe(true);
  }
});

test('a row that fits and says nonsense costs what stands behind the first row', async () => {
  const first = said('One.');
  const json = JSON.stringify(first);
  const nonsense = ['"', '[]', '{"id":"a2","role":"user","parts":[]}', '{"id":"a1","parts":1}'];
  for (const text of nonsense) {
    const rows: DraftRow[] = [first, { of: json.length, from: 0, to: json.length, text }];
    expect(await readDraft(kept(rows), 'c', 'a1')).toEqual(first);
  }
});

test('drafts of an earlier version, which were more words for the last text, are read and gone on with', async () => {
  const rows: DraftRow[] = [said('One', 'two'), { tail: ', three' }, { tail: ' and "four"' }];
  expect(await readDraft(kept(rows), 'c', 'a1')).toEqual(said('One', 'two, three and "four"'));
  await writeDraft(kept(rows), 'c', said('One', 'two, three and "four", five'));
  expect(rows).toHaveLength(4);
  expect(await readDraft(kept(rows), 'c', 'a1')).toEqual(said('One', 'two, three and "four", five'));
});
