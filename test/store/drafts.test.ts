import type { UIMessage } from 'ai';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readDrafts, writeDraft } from '../../src/store/tables/drafts.ts';
import type { Key, Rows } from '../../src/store/tables/layout.ts';
import type { Draft } from '../../src/store/store.ts';
import { campaign, tryAll } from '../support/campaign.ts';
import 'fake-indexeddb/auto';

/** The rows of one answer. */
class Kept {
  readonly rows: [Key, unknown][] = [];

  get all(): Rows {
    return {
      all: async () => this.rows.map(([, row]) => row),
      entries: async () => [...this.rows],
      put: (_table: string, row: unknown, key: Key) => void this.rows.push([key, row]),
      delete: () => void this.rows.splice(0),
    } as unknown as Rows;
  }

  async write(message: UIMessage): Promise<void> {
    await writeDraft(this.all, 'c', { key: 'key:a1', rev: 1, by: 'tab-1', message });
  }

  async read(): Promise<UIMessage | undefined> {
    return (await readDrafts(this.all, 'c')).get('key:a1')?.message;
  }
}

const said = (...texts: string[]): UIMessage => ({
  id: 'a1',
  role: 'assistant',
  parts: texts.map((text) => ({ type: 'text', text })),
});

const words = Array.from({ length: 40 }, (_, i) => `word ${i}, "quoted"\n`);

/** An answer of forty words as it lies there. */
async function written(): Promise<Kept> {
  const kept = new Kept();
  for (let i = 0; i < words.length; i += 1) await kept.write(said(words.slice(0, i + 1).join('')));
  return kept;
}

test('whatever is put in, taken out, moved and said twice, what was drafted last is read', async () => {
  const edits = fc.array(fc.record({ what: fc.nat(4), from: fc.nat(99), to: fc.nat(99) }), { size: '+1' });
  await tryAll(
    edits,
    async (all) => {
      const kept = new Kept();
      let texts = [words.join('')];
      for (const edit of all) {
        texts = edited(texts, edit);
        await kept.write(said(...texts));
        expect(await kept.read()).toEqual(said(...texts));
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
  const { rows } = await written();
  const readOf = (left: [Key, unknown][]): Promise<UIMessage | undefined> => {
    const kept = new Kept();
    kept.rows.push(...left);
    return kept.read();
  };
  for (let lost = 1; lost < rows.length; lost += 1) {
    const left = await readOf(rows.toSpliced(lost, 1));
    expect(left).toEqual(await readOf(rows.slice(0, lost)));
    const [part] = left?.parts ?? [];
    expect(words.join('').startsWith((part as { text: string }).text)).toBe(true);
  }
});

test('a row that fits and says nonsense costs what stands behind the first row', async () => {
  const first: Draft = { key: 'key:a1', rev: 1, by: 'tab-1', message: said('One.') };
  const json = JSON.stringify(first);
  for (const text of ['"', '[]', '{"key":"key:a2"}', '{"key":"key:a1","message":{"parts":1}}']) {
    const kept = new Kept();
    const nonsense = { of: json.length, from: 0, to: json.length, text };
    kept.rows.push([['c', 'key:a1', 0], json], [['c', 'key:a1', 1], nonsense]);
    expect(await kept.read()).toEqual(said('One.'));
  }
});
