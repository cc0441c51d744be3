import type { ReactNode } from 'react';

/** Strokes on a grid of 20, one path each. */
const strokes = {
  menu: 'M3 5.5h14M3 10h14M3 14.5h14',
  close: 'M5 5l10 10M15 5L5 15',
  plus: 'M10 4v12M4 10h12',
  pencil: 'M12.5 4.5l3 3L7 16l-3.5.5L4 13zM11 6l3 3',
  bin: 'M4 6h12M8 6V4h4v2M5.5 6l.7 10h7.6l.7-10M8.5 9v4.5M11.5 9v4.5',
  again: 'M15.5 8A6 6 0 1 0 16 11M16 4v4h-4',
  branch:
    'M6 6.5v7M6 13.5c0-3.5 8-1.5 8-5M8 4.5a2 2 0 1 1-4 0 2 2 0 0 1 4 0M8 15.5a2 2 0 1 1-4 0 2 2 0 0 1 4 0M16 6.5a2 2 0 1 1-4 0 2 2 0 0 1 4 0',
  aside: 'M4 5h12v8H9l-3.5 3v-3H4z',
  flag: 'M5 17V3.5M5 4c4-2 6 2 10 0v7c-4 2-6-2-10 0',
  copy: 'M7 7h9v9H7zM4 13V4h9',
  left: 'M12 5l-5 5 5 5',
  right: 'M8 5l5 5-5 5',
  down: 'M10 4v12M5 11l5 5 5-5',
  up: 'M10 16V4M5 9l5-5 5 5',
  stop: 'M6 6h8v8H6z',
  sliders: 'M3 6h7M14 6h3M3 14h3M10 14h7M12 4v4M8 12v4',
  data: 'M4 5.5C4 3 16 3 16 5.5v9c0 2.5-12 2.5-12 0zM4 5.5C4 8 16 8 16 5.5M4 10c0 2.5 12 2.5 12 0',
  play: 'M7 4.5l8 5.5-8 5.5z',
  clip: 'M14.5 9.5L9 15a3.2 3.2 0 0 1-4.5-4.5l6-6a2.2 2.2 0 0 1 3.1 3.1l-5.8 5.8a1.1 1.1 0 0 1-1.6-1.6l5-5',
  file: 'M6 3h5.5L15 6.5V17H6zM11.5 3v3.5H15',
  hand: 'M10 3v8M10 14.5v.5',
  more: 'M4 10h1M9.5 10h1M15 10h1',
  offline: 'M6 15h8a3 3 0 0 0 .6-5.9A4.5 4.5 0 0 0 6.2 8 3.6 3.6 0 0 0 6 15M3.5 3.5l13 13',
  keys: 'M3 6h14v9H3zM6 9h.01M9 9h.01M12 9h.01M14.5 9h.01M6.5 12h7',
  columns: 'M3.5 4.5h5.5v11H3.5zM11 4.5h5.5v11H11z',
  search: 'M13.5 8.5a5 5 0 1 1-10 0 5 5 0 0 1 10 0M12.5 12.5L17 17',
  check: 'M4 10.5l4 4 8-9',
} as const;

/** The name of a drawing. */
export type IconName = keyof typeof strokes;

/** A small drawing beside or instead of a word; the word, seen or unseen, carries the meaning. */
export function Icon({ name }: { readonly name: IconName }): ReactNode {
  return (
    <svg className="icon" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
      <path d={strokes[name]} strokeWidth={name === 'more' ? 2.2 : undefined} />
    </svg>
  );
}
