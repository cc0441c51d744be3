import { Alert } from '../attempt.tsx';
import { SearchField } from '../kit.tsx';
import type { ContextEngine, EngineState } from 'contextree';
import { type ReactNode, type Ref, useEffect, useState } from 'react';
import { COLUMNS, type ColumnName } from '../columns.ts';
import type { GraphModel } from '../graphRows.ts';
import { useAnswer } from '../live.tsx';
import { hitAfter, unfoldedFor } from '../hits.ts';
import { Menu, type MenuItem } from '../Menu.tsx';
import { remember } from '../memory.ts';
import { find, type Search } from '../search.ts';
import { ANYTHING, isAnything, type Wanted } from '../wanted.ts';
import { Filters } from './Filters.tsx';

/** The bar above the graph: search text, filters, and steps from hit to hit. */
export function Finder(props: FinderProps): ReactNode {
  const { engine, model, state, wanted = ANYTHING, onWant, found, selected } = props;
  const { isSearching, error } = useFound({ engine, model, headKey: state.headKey, wanted }, props.onFound);
  const [isOpen, setOpen] = useState(false);
  const { text, ...filters } = wanted;
  const set = Object.values(filters).filter((value) => value !== '').length;
  const at = found?.indexOf(selected ?? '') ?? -1;
  const step = (by: 1 | -1): void => {
    const hit = found && hitAfter(found, selected, by);
    if (hit !== undefined) props.onStep(hit, unfoldedFor(model, props.choices, model.places.of(hit) ?? 0));
  };
  return (
    <div role="search">
      <div className="bar">
        <SearchField
          label="Search messages"
          placeholder="Search  /"
          value={text}
          onChange={(words) => onWant({ ...wanted, text: words })}
          found={isSearching ? -1 : found?.length}
          at={at}
          onStep={step}
          box={props.box}
        />
        <button aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {set === 0 ? 'Filter' : `Filter (${set})`}
        </button>
        <Menu label="Columns" sign="▥" groups={{ Columns: columnItems(props.columns, props.onColumns) }} />
        <button
          className="icon"
          aria-label="All keys"
          title="All keys  ?"
          aria-expanded={props.isHelpOpen}
          onClick={props.onHelp}
        >
          ?
        </button>
      </div>
      {error && <Alert>{error.message}</Alert>}
      {isOpen && <Filters engine={engine} model={model} state={state} wanted={wanted} onWant={onWant} />}
    </div>
  );
}

interface FinderProps {
  readonly engine: ContextEngine;
  readonly model: GraphModel;
  readonly state: EngineState;
  /** What is searched for: it outlives the bar, which disappears while a message is read. */
  readonly wanted: Wanted | undefined;
  readonly onWant: (wanted: Wanted) => void;
  /** The keys of the hits, in the order of the graph; undefined without a search. */
  readonly found: readonly string[] | undefined;
  readonly onFound: (found: readonly string[] | undefined) => void;
  readonly selected: string | undefined;
  /** What was folded or unfolded, by key. */
  readonly choices: ReadonlyMap<string, boolean>;
  /** Goes to a hit, with the unfolded rows that show it. */
  readonly onStep: (hit: string, unfolded: ReadonlyMap<string, boolean>) => void;
  readonly box: Ref<HTMLInputElement>;
  readonly columns: readonly ColumnName[];
  readonly onColumns: (columns: readonly ColumnName[]) => void;
  readonly isHelpOpen: boolean;
  readonly onHelp: () => void;
}

/** A menu item for each column, in a fixed order. */
function columnItems(
  shown: readonly ColumnName[],
  show: (columns: readonly ColumnName[]) => void,
): MenuItem[] {
  return COLUMNS.map((name) => ({
    label: name,
    isChosen: shown.includes(name),
    isOneOf: false,
    run: () => {
      const next = COLUMNS.filter((one) => (one === name) !== shown.includes(one));
      remember({ columns: next });
      show(next);
    },
  }));
}

/** The pause in typing before a search begins, in ms. */
const PAUSE = 150;

/** Searches, and reports the hits: those of the search before, until the new ones are known. */
function useFound(
  asked: Search,
  onFound: FinderProps['onFound'],
): { readonly isSearching: boolean; readonly error: Error | undefined } {
  const { engine, model, headKey, wanted } = asked;
  const settled = useSettled(wanted);
  const { value, error } = useAnswer(
    async (signal) => {
      if (isAnything(settled)) return undefined;
      return { of: settled, keys: await find({ engine, model, headKey, wanted: settled }, signal) };
    },
    [engine, model, headKey, settled],
  );
  const found = isAnything(wanted) ? undefined : value?.keys;
  useEffect(() => onFound(found), [onFound, found]);
  return { isSearching: !isAnything(wanted) && !error && value?.of !== wanted, error };
}

function useSettled(wanted: Wanted): Wanted {
  const [settled, setSettled] = useState(wanted);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(wanted), PAUSE);
    return () => clearTimeout(timer);
  }, [wanted]);
  return settled;
}
