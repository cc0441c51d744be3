import {
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  useEffect,
  useId,
  useMemo,
  useRef,
} from 'react';
import { useRowHeight } from '../rowHeight.ts';
import { rowAfterKey, useRowWindow } from '../windowing.ts';

/** A list with one Tab stop, in which the arrows move a cursor; only visible rows are mounted. */
export function Rows(props: RowsProps): ReactNode {
  const { role, count, cursor, followed, takesFocus, children } = props;
  const idPrefix = useId();
  const height = useRowHeight();
  const { ref, onScroll, first, end, page, reveal } = useRowWindow(count, height, cursor);
  // The elements are made anew when the list is, not when it is scrolled.
  const rowAt = useMemo(
    () =>
      madeOnce((row) =>
        children(row, { id: `${idPrefix}${row}`, 'data-row': row, style: { top: row * height, height } }),
      ),
    [children, idPrefix, height],
  );
  const before = useRef<unknown>(undefined);
  useEffect(() => {
    if (before.current !== followed && cursor >= 0) reveal(cursor);
    before.current = followed;
  });
  useEffect(() => {
    if (takesFocus) ref.current?.focus();
  }, [takesFocus, ref]);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== event.currentTarget) return;
    const to = rowAfterKey(event.key, cursor, count, page) ?? props.onKey(event.key);
    if (to === false) return;
    event.preventDefault();
    const row = to === true ? cursor : to;
    if (to !== true) props.onMove(row);
    if (row >= 0) reveal(row);
  };
  const onPick = ({ target }: MouseEvent): void => {
    const row = (target as Element).closest<HTMLElement>('[data-row]')?.dataset['row'];
    if (row !== undefined) props.onClick(Number(row), target as Element);
  };
  return (
    // oxlint-disable-next-line jsx-a11y/no-static-element-interactions -- each of its roles is one to act on
    <div
      ref={ref}
      className={`rows ${props.className ?? ''}`}
      role={role}
      aria-label={props.label}
      aria-rowcount={role === 'treegrid' ? count : undefined}
      aria-activedescendant={cursor >= first && cursor < end ? `${idPrefix}${cursor}` : undefined}
      tabIndex={0}
      onScroll={onScroll}
      onKeyDown={onKeyDown}
      onClick={onPick}
    >
      <div role="presentation" style={{ height: count * height }}>
        {Array.from({ length: end - first }, (_, i) => rowAt(first + i))}
      </div>
    </div>
  );
}

/** Makes the element of a row once: React does not render the same element again. */
function madeOnce(make: (row: number) => ReactNode): (row: number) => ReactNode {
  const made = new Map<number, ReactNode>();
  return (row) => {
    if (made.size > KEPT) made.clear();
    const element = made.get(row) ?? make(row);
    made.set(row, element);
    return element;
  };
}

/** How many elements are kept: a person may scroll through 100,000 rows. */
const KEPT = 1000;

/** Props of the element of a row: where it stands. */
export interface RowBox {
  readonly id: string;
  readonly 'data-row': number;
  /** In CSS pixels. */
  readonly style: { readonly top: number; readonly height: number };
}

interface RowsProps {
  readonly role: 'treegrid' | 'listbox' | 'tree';
  readonly label: string;
  readonly className?: string;
  readonly count: number;
  /** The row that has the cursor; -1 for none. */
  readonly cursor: number;
  /** The cursor is scrolled to when this is another value: its row may be anywhere. */
  readonly followed: unknown;
  /** Called with the row that a key leads to. */
  readonly onMove: (row: number) => void;
  /** Called with any other key; returns a row to move to, or whether the key has a meaning. */
  readonly onKey: (key: string) => number | boolean;
  /** Called with a clicked row, and what was clicked in it. */
  readonly onClick: (row: number, target: Element) => void;
  /** Whether the list takes the focus. */
  readonly takesFocus?: boolean | undefined;
  /** Renders a row, with a key. */
  readonly children: (row: number, box: RowBox) => ReactNode;
}
