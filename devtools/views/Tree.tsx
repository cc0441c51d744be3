import { type ReactNode, useMemo, useState } from 'react';
import { type TreeRow, treeRows } from '../treeRows.ts';
import { toggled } from '../kit.tsx';
import { type RowBox, Rows } from './Rows.tsx';

/** A value as a tree with one Tab stop; only visible rows are mounted. */
export function Tree({ label, value, opened, shown, asideOf }: TreeProps): ReactNode {
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
  const cursor = Math.max(
    0,
    rows.findIndex((row) => row.path === cursorPath),
  );

  const moveTo = (row: number): void => setCursorPath(rows[row]?.path ?? '');
  const toggle = ({ path }: TreeRow): true => {
    setOpen(toggled(open, path));
    return true;
  };
  const onKey = (key: string): number | boolean => {
    const row = rows[cursor];
    if (!row) return false;
    if (key === 'ArrowRight' && row.isOpen !== undefined) return row.isOpen ? cursor + 1 : toggle(row);
    if (key === 'ArrowLeft') return row.isOpen === true ? toggle(row) : parentRow(rows, row);
    return (key === 'Enter' || key === ' ') && toggle(row);
  };
  const onClick = (index: number): void => {
    moveTo(index);
    toggle(rows[index] as TreeRow);
  };
  return (
    <Rows
      className="tree code"
      role="tree"
      label={label}
      count={rows.length}
      cursor={cursor}
      followed={shown}
      onMove={moveTo}
      onKey={onKey}
      onClick={onClick}
    >
      {(index, box) => {
        const row = rows[index] as TreeRow;
        return itemOf(box, row, index === cursor, asideOf?.(row.path));
      }}
    </Rows>
  );
}

interface TreeProps {
  readonly label: string;
  readonly value: unknown;
  /** The paths that are open at first. Default: none. */
  readonly opened?: readonly string[];
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

/** The row of the parent, which stands above it; a topmost row itself. */
function parentRow(rows: readonly TreeRow[], { path }: TreeRow): number {
  const parent = path.slice(0, path.lastIndexOf('/')) || path;
  return rows.findIndex((row) => row.path === parent);
}

function itemOf(box: RowBox, row: TreeRow, isCursor: boolean, aside: ReactNode): ReactNode {
  const sign = row.isOpen === undefined ? '\u2003' : row.isOpen ? '▾' : '▸';
  return (
    <div
      key={row.path}
      {...box}
      className={isCursor ? 'row cursor' : 'row'}
      style={{ ...box.style, paddingLeft: 6 + (row.level - 1) * 12 }}
      role="treeitem"
      aria-level={row.level}
      aria-posinset={row.position}
      aria-setsize={row.count}
      aria-expanded={row.isOpen}
      aria-selected={isCursor}
    >
      <span className="muted" aria-hidden="true">
        {sign}
      </span>
      <span>{row.key}:&nbsp;</span>
      <span className={`ellipsis ${row.kind}`}>{row.text}</span>
      {aside}
    </div>
  );
}
