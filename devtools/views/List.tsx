import { type KeyboardEvent, type MouseEvent, type ReactNode, useEffect, useId } from 'react';
import { useRowHeight } from '../rowHeight.ts';
import { rowAfterKey, useRowWindow } from '../windowing.ts';

/** Items with one selection: a list with one Tab stop; only visible items are mounted. */
export function List<T>(props: ListProps<T>): ReactNode {
  const { label, items, selected, onSelect, onEnd, onOpen, renderItem, classOf } = props;
  const idPrefix = useId();
  const height = useRowHeight();
  const { ref, onScroll, first, end, page, reveal } = useRowWindow(items.length, height);
  useEffect(() => {
    if (selected >= 0) reveal(selected);
  }, [selected, reveal]);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const to = rowAfterKey(event.key, selected, items.length, page);
    if (to !== undefined) onSelect(to);
    else if (event.key === 'Enter' && selected >= 0) onOpen?.(selected);
    else if (event.key === 'Escape' && selected >= 0 && onEnd) onEnd();
    else return;
    event.preventDefault();
  };
  const onClick = (event: MouseEvent): void => {
    const row = (event.target as Element).closest<HTMLElement>('[data-row]')?.dataset['row'];
    if (row !== undefined) onSelect(Number(row));
  };
  return (
    <div
      ref={ref}
      className="rows"
      role="listbox"
      aria-label={label}
      aria-activedescendant={selected >= first && selected < end ? `${idPrefix}${selected}` : undefined}
      tabIndex={0}
      onScroll={onScroll}
      onKeyDown={onKeyDown}
      onClick={onClick}
    >
      <div role="presentation" style={{ height: items.length * height }}>
        {items.slice(first, end).map((item, i) => {
          const row = first + i;
          return (
            <div
              key={row}
              id={`${idPrefix}${row}`}
              data-row={row}
              className={`row line ${row === selected ? 'cursor' : ''} ${classOf?.(item) ?? ''}`}
              style={{ top: row * height, height }}
              role="option"
              aria-selected={row === selected}
              aria-posinset={row + 1}
              aria-setsize={items.length}
            >
              {renderItem(item)}
            </div>
          );
        })}
      </div>
    </div>
  );
}

interface ListProps<T> {
  readonly label: string;
  readonly items: readonly T[];
  /** The index of the selected item; -1 for none. */
  readonly selected: number;
  readonly onSelect: (index: number) => void;
  /** Ends the selection; called for Escape. */
  readonly onEnd?: () => void;
  /** Called for Enter. */
  readonly onOpen?: (index: number) => void;
  readonly renderItem: (item: T) => ReactNode;
  readonly classOf?: (item: T) => string;
}
