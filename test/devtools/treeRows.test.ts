import { describe, expect, it } from 'vitest';
import { treeRows } from '../../devtools/treeRows.ts';

const lines = (value: unknown, ...open: string[]): string[] =>
  treeRows(value, new Set(open)).map(({ level, key, text }) => `${' '.repeat(level - 1)}${key}: ${text}`);

describe('the rows of a tree', () => {
  it('folds a long list in hundreds, and hundreds in ten thousands', () => {
    const list = Array.from({ length: 20_500 }, (_, i) => i);
    expect(lines({ list }, '/list')).toEqual([
      'list: [20500]',
      ' 0 - 9999: ',
      ' 10000 - 19999: ',
      ' 20000 - 20499: ',
    ]);
    const inside = lines({ list }, '/list', '/list/20000 - 20499', '/list/20000 - 20499/20400 - 20499');
    expect(inside).toContain('  20000 - 20099: ');
    expect(inside.at(-1)).toBe('   20499: 20499');
    expect(lines({ list: list.slice(0, 100) }, '/list')).toHaveLength(101);
    expect(lines({ list: list.slice(0, 101) }, '/list')).toHaveLength(3);
    expect(lines({ list: list.slice(0, 10_000) }, '/list')).toHaveLength(101);
    expect(lines({ list: list.slice(0, 10_001) }, '/list')).toHaveLength(3);
  });

  it('opens a long text line by line', () => {
    expect(lines({ text: 'one\ntwo' }, '/text')).toEqual(['text: "one\\ntwo"', ' 0: "one"', ' 1: "two"']);
    expect(lines({ text: 'x'.repeat(250) }, '/text')).toHaveLength(4);
    expect(treeRows({ text: 'short' }, new Set())[0]?.isOpen).toBeUndefined();
  });

  it('escapes what would turn a row around or hide in it', () => {
    expect(lines({ a: 'x\u202ey\u{e0041}', b: 'é 👩‍🚀' })).toEqual([
      String.raw`a: "x\u{202e}y\u{e0041}"`,
      'b: "é 👩‍🚀"',
    ]);
  });

  it('tells keys with odd characters apart', () => {
    const value = { 'a/b': { c: 1 }, a: { b: { c: 2 } } };
    expect(lines(value, '/a~1b')).toEqual(['a/b: { c }', ' c: 1', 'a: { b }']);
  });

  it('names an object by what names it', () => {
    expect(lines([{ id: 'x', role: 'user', parts: [] }])).toEqual(['0: { id: x, role: user, parts }']);
    expect(lines([{}, []])).toEqual(['0: {}', '1: [0]']);
    expect(lines([{ a: 1, b: 1, c: 1, d: 1, e: 1 }])).toEqual(['0: { a, b, c, d, … }']);
  });

  it('opens a record that has more fields than a call has room for arguments', () => {
    const value = { fields: Object.fromEntries(Array.from({ length: 150_000 }, (_, i) => [`f${i}`, i])) };
    expect(treeRows(value, new Set(['/fields']))).toHaveLength(150_001);
  });

  it('says the place of each row among its siblings', () => {
    const [, second] = treeRows({ a: 1, b: 2 }, new Set());
    expect(second).toMatchObject({ position: 2, count: 2, level: 1 });
  });
});
