import { expect, test } from 'vitest';
import { addressOf, chatInAddress } from '../../stories/demo/address.ts';

test('an address names its chat, whatever the id looks like', () => {
  for (const id of ['abc', 'a b', 'ä/ö?#%', '100%', '%uD800', 'half \ud800 of \udfff'])
    expect(chatInAddress(addressOf(id))).toBe(id);
});

test('an address without a word names none', () => {
  for (const hash of ['', '#', '#/', '#/chat', '#/chat/']) expect(chatInAddress(hash)).toBeNull();
});

test('any other address names a chat that there is not, and none that there may be', () => {
  for (const hash of ['#/chat/a/b', '#/chat/a?x=1', '#/chat/%23/chat/x', '#/settings/a', '#chat/a', '#foo']) {
    const id = chatInAddress(hash) as string;
    expect(id).toBe(hash);
    expect(addressOf(id)).not.toBe(hash);
  }
});

test('a badly written address is taken as it stands', () => {
  expect(chatInAddress('#/chat/50%')).toBe('50%');
});
