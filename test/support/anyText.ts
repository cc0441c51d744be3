import fc from 'fast-check';

const SURROGATES = { from: 0xd800, count: 0x800 } as const;

const character = fc
  .nat(0x10ffff - SURROGATES.count)
  .map((n) => String.fromCodePoint(n < SURROGATES.from ? n : n + SURROGATES.count));

/**
 * Text of any characters, and every other time of plain ones and of names that objects know already. fast-check's own
 * `unit: 'binary'` gives the same, but makes a table of all 1,112,064 characters first, which takes a second.
 */
export function anyText(length: {
  readonly minLength?: number;
  readonly maxLength: number;
}): fc.Arbitrary<string> {
  const wild = fc.array(character, length).map((characters) => characters.join(''));
  return fc.oneof(wild, fc.string(length));
}
