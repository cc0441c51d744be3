import { expect, test } from 'vitest';
import { directionOf } from '../../stories/demo/ui/direction.ts';

test('the direction of a short text is left to the browser', () => {
  expect(['', 'Hello', 'שלום'].map(directionOf)).toEqual(['auto', 'auto', 'auto']);
});

test('a long text has the direction of its first letter, whatever stands before', () => {
  const long = (text: string): string => text.repeat(2000);
  expect(directionOf(long('1) Hello '))).toBe('ltr');
  for (const word of ['שלום ', '« مرحبا » ', 'ދިވެހި '])
    expect(directionOf(`2024: ${long(word)} hello`)).toBe('rtl');
  expect(directionOf(long('日本語'))).toBe('ltr');
  expect(directionOf(long('123 '))).toBe('ltr');
});
