import {
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  useEffect,
  useId,
  useMemo,
  useState,
} from 'react';
import { useRowHeight } from '../rowHeight.ts';
import { type TreeRow, treeRows } from '../treeRows.ts';
import { rowAfterKey, useRowWindow } from '../windowing.ts';

/** A value as a tree with one Tab stop; only visible rows are mounted. */
export function Tree({ label, value, opened, shown, asideOf }: TreeProps): ReactNode {
  const idPrefix = useId();
  const [open, setOpen] = useState<ReadonlySet<string>>(() => new Set(opened));
  const [cursorPath, setCursorPath] = useState('');
  const [lastShown, setLastShown] = useState<string>();
  if (shown !== lastShown) {
    setLastShown(shown);
    if (shown !== undefined) {
      setCursorPath(shown);
      setOpen(new Set([...open, ...pathsTo(shown)]));
    }
  }
  const rows = useMemo(() => treeRows(value, open), [value, open]);
  const height = useRowHeight();
  const { ref, onScroll, first, end, page, reveal } = useRowWindow(rows.length, height);
  const cursor = Math.max(
    0,
    rows.findIndex((row) => row.path === cursorPath),
  );

  // The row may be anywhere.
  useEffect(() => {
    if (shown !== undefined) reveal(rows.findIndex((row) => row.path === shown));
    // oxlint-disable-next-line react/exhaustive-deps -- only when it is another one, not when rows open
  }, [shown, reveal]);

  const moveTo = (row: number): void => {
    setCursorPath(rows[row]?.path ?? '');
    reveal(row);
  };
  const toggle = ({ path, isOpen }: TreeRow): void => {
    const paths = new Set(open);
    if (isOpen) paths.delete(path);
    else paths.add(path);
    setOpen(paths);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const row = rows[cursor];
    if (!row || event.ctrlKey || event.metaKey || event.altKey) return;
    const target = rowAfterKey(event.key, cursor, rows.length, page);
    if (target !== undefined) moveTo(target);
    else if (event.key === 'ArrowRight' && row.isOpen === true) moveTo(cursor + 1);
    else if (event.key === 'ArrowRight' && row.isOpen === false) toggle(row);
    else if (event.key === 'ArrowLeft' && row.isOpen === true) toggle(row);
    else if (event.key === 'ArrowLeft') moveTo(parentRow(rows, cursor));
    else if (event.key === 'Enter' || event.key === ' ') toggle(row);
    else return;
    event.preventDefault();
  };
  const onClick = (event: MouseEvent): void => {
    const index = (event.target as Element).closest<HTMLElement>('[data-row]')?.dataset['row'];
    const row = rows[Number(index ?? -1)];
    if (!row) return;
    setCursorPath(row.path);
    toggle(row);
  };
  return (
    <div
      ref={ref}
      className="rows tree code"
      role="tree"
      aria-label={label}
      aria-activedescendant={cursor >= first && cursor < end ? `${idPrefix}${cursor}` : undefined}
      tabIndex={0}
      onScroll={onScroll}
      onKeyDown={onKeyDown}
      onClick={onClick}
    >
      <div role="presentation" style={{ height: rows.length * height }}>
        {rows.slice(first, end).map((row, i) => (
          <Item
            key={row.path}
            id={`${idPrefix}${first + i}`}
            index={first + i}
            height={height}
            row={row}
            isCursor={first + i === cursor}
            aside={asideOf?.(row.path)}
          />
        ))}
      </div>
    </div>
  );
}

interface TreeProps {
  readonly label: string;
  readonly value: unknown;
  /** The paths that are open at first. */
  readonly opened: readonly string[];
  /** The path of the row to reveal; a new path is revealed, too. */
  readonly shown?: string | undefined;
  /** What to show behind the value of a row. */
  readonly asideOf?: (path: string) => ReactNode;
}

/** The paths of all rows above one. */
function pathsTo(path: string): string[] {
  const steps = path.split('/').slice(1, -1);
  return steps.map((_, i) => `/${steps.slice(0, i + 1).join('/')}`);
}

function parentRow(rows: readonly TreeRow[], from: number): number {
  const level = rows[from]?.level ?? 1;
  for (let row = from - 1; row >= 0; row -= 1) if ((rows[row] as TreeRow).level < level) return row;
  return from;
}

interface ItemProps {
  readonly id: string;
  readonly index: number;
  readonly height: number;
  readonly row: TreeRow;
  readonly isCursor: boolean;
  readonly aside: ReactNode;
}

function Item({ id, index, height, row, isCursor, aside }: ItemProps): ReactNode {
  const sign = row.isOpen === undefined ? '' : row.isOpen ? '▾' : '▸';
  return (
    <div
      id={id}
      data-row={index}
      className={isCursor ? 'row cursor' : 'row'}
      style={{ top: index * height, height, paddingLeft: 6 + (row.level - 1) * 12 }}
      role="treeitem"
      aria-level={row.level}
      aria-posinset={row.position}
      aria-setsize={row.count}
      aria-expanded={row.isOpen}
      aria-selected={isCursor}
    >
      <span className="twisty" aria-hidden="true">
        {sign}
      </span>
      <span className="key">{row.key}:&nbsp;</span>
      <span className={`value ${row.kind}`}>{row.text}</span>
      {aside}
    </div>
  );
}
