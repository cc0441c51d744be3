import type { ReactNode } from 'react';
import { Rows } from './Rows.tsx';

/** Items with one selection: a list with one Tab stop; only visible items are mounted. */
export function List<T>(props: ListProps<T>): ReactNode {
  const { label, items, selected, onSelect, onEnd, onOpen, renderItem, classOf } = props;
  const onKey = (key: string): boolean => {
    const act = selected < 0 ? undefined : { Enter: onOpen, Escape: onEnd }[key];
    act?.();
    return act !== undefined;
  };
  return (
    <Rows
      role="listbox"
      label={label}
      count={items.length}
      cursor={selected}
      followed={selected}
      onMove={onSelect}
      onKey={onKey}
      onClick={onSelect}
    >
      {(row, box) => {
        const item = items[row] as T;
        return (
          <div
            key={row}
            {...box}
            className={`row line ${row === selected ? 'cursor' : ''} ${classOf?.(item) ?? ''}`}
            role="option"
            aria-selected={row === selected}
            aria-posinset={row + 1}
            aria-setsize={items.length}
          >
            {renderItem(item)}
          </div>
        );
      }}
    </Rows>
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
  /** Opens the selected item; called for Enter. */
  readonly onOpen?: () => void;
  readonly renderItem: (item: T) => ReactNode;
  readonly classOf?: (item: T) => string;
}
