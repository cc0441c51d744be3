import type { ClipboardEvent } from 'react';

/**
 * The direction of a text that is being written, for `dir`.
 *
 * For `auto` Chromium reads the whole text several times for each key: with a pasted book that would take seconds a letter. So
 * a long text gets its direction from its first letters, where `auto` would find it, too.
 */
export function directionOf(text: string): 'auto' | 'ltr' | 'rtl' {
  if (text.length <= LONG) return 'auto';
  const first = /\p{L}/u.exec(text.slice(0, LONG))?.[0] ?? '';
  return RIGHT_TO_LEFT.test(first) ? 'rtl' : 'ltr';
}

/**
 * Sets the direction of a textbox before a long text is pasted: while it is `auto`, the browser reads the pasted text as well.
 */
export function turnBefore({ currentTarget, clipboardData }: ClipboardEvent<HTMLElement>): void {
  const coming = directionOf(clipboardData.getData('text/plain'));
  if (coming !== 'auto') currentTarget.dir = coming;
}

/** Code units that the browser reads fast enough. */
const LONG = 2000;

/** The scripts in use that are written from right to left. */
const RIGHT_TO_LEFT =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}\p{Script=Samaritan}\p{Script=Mandaic}\p{Script=Hanifi_Rohingya}]/u;
