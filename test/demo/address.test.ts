import { expect, test } from 'vitest';
import { addressOf, chatInAddress } from '../../stories/demo/address.ts';

test('an address names its chat, whatever the id looks like', () => {
  for (const id of ['abc', 'a b', 'ä/ö?#%', '100%']) expect(chatInAddress(addressOf(id))).toBe(id);
});

test('any other address names none', () => {
  for (const hash of ['', '#', '#/', '#/chat/', '#/chat/a/b', '#/settings/a', '#chat/a']) {
    expect(chatInAddress(hash)).toBeNull();
  }
});

test('a badly written address is taken as it stands', () => {
  expect(chatInAddress('#/chat/50%')).toBe('50%');
});
