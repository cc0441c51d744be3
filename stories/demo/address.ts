import { useSyncExternalStore } from 'react';

/**
 * The address names the chat: `#/chat/ID`. Reload, Back, a bookmark and a second tab all lead to the same place,
 * and no server has to know about it.
 */

/**
 * The chat that an address names; null for an address without a word. Any other address is taken for a chat, which has
 * no other address: there is none of that name, and the page says so.
 */
export function chatInAddress(hash: string): string | null {
  if (/^(#(\/(chat\/?)?)?)?$/.test(hash)) return null;
  const id = /^#\/chat\/([^/?#]+)$/.exec(hash)?.[1];
  if (id === undefined) return hash;
  try {
    return decodeId(id);
  } catch {
    return id;
  }
}

/** The address of a chat, for a link. */
export function addressOf(chatId: string): string {
  return `#/chat/${encodeId(chatId)}`;
}

/**
 * The id of a chat as a part of an address, and of other names that are cut at colons and slashes. An id may have half a
 * character (a lone surrogate), for which an address has no bytes and `encodeURIComponent` throws.
 */
export function encodeId(chatId: string): string {
  const parts = chatId.split(/(\p{Surrogate})/u);
  return parts.map((part, i) => (i % 2 === 0 ? encodeURIComponent(part) : `%u${hexOf(part)}`)).join('');
}

function decodeId(encoded: string): string {
  const parts = encoded.split(/%u([\dA-F]{4})/);
  return parts.map((part, i) => (i % 2 === 0 ? decodeURIComponent(part) : fromHex(part))).join('');
}

const hexOf = (unit: string): string => unit.charCodeAt(0).toString(16).toUpperCase();
const fromHex = (hex: string): string => String.fromCharCode(Number.parseInt(hex, 16));

/** Goes to a chat. With `replace` Back does not return to where one was. */
export function goToChat(chatId: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  const address = addressOf(chatId);
  if (location.hash === address) return;
  if (replace) history.replaceState(null, '', address);
  else history.pushState(null, '', address);
  // Neither of the two tells anybody.
  dispatchEvent(new HashChangeEvent('hashchange'));
}

/** The chat that the address names, live; null when it names none. */
export function useAddressedChat(): string | null {
  return useSyncExternalStore(listen, () => chatInAddress(location.hash));
}

function listen(changed: () => void): () => void {
  addEventListener('hashchange', changed);
  return () => removeEventListener('hashchange', changed);
}
