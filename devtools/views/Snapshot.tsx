import { maskSecrets } from 'contextree';
import { type KeyboardEvent, type MouseEvent, type ReactNode, useId, useMemo, useState } from 'react';
import { Copy } from '../Copy.tsx';
import { useAnswer } from '../live.ts';
import { useRowHeight } from '../rowHeight.ts';
import { type TreeRow, treeRows } from '../treeRows.ts';
import { rowAfterKey, useRowWindow } from '../windowing.ts';
import type { ViewProps } from './Graph.tsx';
import { Storage } from './Storage.tsx';

/** Everything the engine knows about its context, as `inspect()` gives it. */
export function Snapshot({ engine, state }: ViewProps): ReactNode {
  const { revision, messages, branchId, headMessageId, fragments, pending, checkpoints, chat } = state;
  const moment = useMemo(
    () => ({ engine, revision, messages, branchId, headMessageId, fragments, pending, checkpoints, chat }),
    [engine, revision, messages, branchId, headMessageId, fragments, pending, checkpoints, chat],
  );
  const { value, error } = useAnswer(inspectAt, moment);
  const [withSecrets, setWithSecrets] = useState(false);
  return (
    <>
      <div className="bar">
        <span className="grow muted">engine.inspect()</span>
        <label title="Keys, tokens and passwords are masked in what is copied, unless this is on.">
          <input
            type="checkbox"
            checked={withSecrets}
            onChange={(event) => setWithSecrets(event.target.checked)}
          />
          with secrets
        </label>
        <Copy label="Copy JSON" text={() => jsonOf(value, withSecrets)} />
      </div>
      {error && (
        <p className="alert" role="alert">
          The snapshot could not be taken: {error.message}
        </p>
      )}
      <Storage engine={engine} persistence={state.persistence} />
      {value && <Tree value={value} />}
      {!value && !error && <p className="words">Taking a snapshot…</p>}
    </>
  );
}

async function jsonOf(value: unknown, withSecrets: boolean): Promise<string> {
  return JSON.stringify(withSecrets ? value : await maskSecrets(value), null, 2) ?? '';
}

function inspectAt({ engine }: Pick<ViewProps, 'engine'>): ReturnType<ViewProps['engine']['inspect']> {
  return engine.inspect();
}

/** Open at first: what tells which chat this is. */
const opened: readonly string[] = ['/meta', '/estimate'];

function Tree({ value }: { readonly value: unknown }): ReactNode {
  const idPrefix = useId();
  const [open, setOpen] = useState<ReadonlySet<string>>(() => new Set(opened));
  const [cursorPath, setCursorPath] = useState('');
  const rows = useMemo(() => treeRows(value, open), [value, open]);
  const height = useRowHeight();
  const { ref, onScroll, first, end, page, reveal } = useRowWindow(rows.length, height);
  const cursor = Math.max(
    0,
    rows.findIndex((row) => row.path === cursorPath),
  );

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
      aria-label="Snapshot"
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
          />
        ))}
      </div>
    </div>
  );
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
}

function Item({ id, index, height, row, isCursor }: ItemProps): ReactNode {
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
    </div>
  );
}
