import type { KeyboardEvent, ReactNode, Ref } from 'react';
import { keys } from './keys.ts';

// The parts that views are made of.

/** The part of a view that scrolls, by keyboard too. */
export function Scroll({ className = '', children }: ScrollProps): ReactNode {
  return (
    <div className={`rows ${className}`} tabIndex={0} role="group" aria-label="Content">
      {children}
    </div>
  );
}

interface ScrollProps {
  readonly className?: string;
  readonly children: ReactNode;
}

/** A choice that is on or off. */
export function Check({ children, title, ...field }: CheckProps): ReactNode {
  return (
    <label title={title}>
      <input type="checkbox" {...field} /> {children}
    </label>
  );
}

/** Props of {@link Check}. */
export interface CheckProps {
  readonly children: ReactNode;
  readonly checked: boolean;
  readonly onChange: () => void;
  readonly title?: string | undefined;
}

/** One option: its value, which is also its label, or both. */
export type Option = string | readonly [value: string, label: string];

/** A choice of one in a menu. */
export function Select({ label, value, options = [], groups = {}, onChange }: SelectProps): ReactNode {
  return (
    <select aria-label={label} value={value} onChange={({ target }) => onChange(target.value)}>
      {options.map(asOption)}
      {Object.entries(groups).map(
        ([name, some]) =>
          some.length > 0 && (
            <optgroup key={name} label={name}>
              {some.map(asOption)}
            </optgroup>
          ),
      )}
    </select>
  );
}

function asOption(option: Option): ReactNode {
  const [value, label] = typeof option === 'string' ? [option, option] : option;
  return (
    <option key={value} value={value}>
      {label}
    </option>
  );
}

interface SelectProps {
  /** Where no text beside it says what is chosen. */
  readonly label?: string;
  readonly value: string;
  /** The options without a group stand first. */
  readonly options?: readonly Option[];
  readonly groups?: Readonly<Record<string, readonly Option[]>>;
  readonly onChange: (value: string) => void;
}

/** Facts in two columns; those without a value are left out. */
export function factList(facts: readonly Fact[], label?: string): ReactNode {
  return (
    <dl className="facts" aria-label={label}>
      {facts.map(
        ([name, value]) =>
          value !== undefined && (
            <div key={name}>
              <dt>{name}</dt>
              <dd dir="auto" className={value === NOT_TOLD ? 'muted' : undefined}>
                {value}
              </dd>
            </div>
          ),
      )}
    </dl>
  );
}

export type Fact = readonly [name: string, value: ReactNode];

/** The value of a fact that nobody told, where one would look for it. */
export const NOT_TOLD = 'not told';

/** The facts that are there, on one line. */
export function dashed(...facts: readonly (string | false | null | undefined)[]): string {
  return facts.filter(Boolean).join(' - ');
}

/** Shows the next `step` of those that are `left` of a cut list; nothing where none are. */
export function more(step: number, left: number, where: 'earlier' | 'more', onMore: () => void): ReactNode {
  if (left <= 0) return null;
  return (
    <p className="words">
      <button onClick={onMore}>
        Show {Math.min(step, left)} of {left} {where}
      </button>
    </p>
  );
}

/** A field for words to search for, which Escape empties, and its hits, if there are any to go through. */
export function SearchField({
  label,
  placeholder,
  value,
  onChange,
  found,
  most,
  at = -1,
  onStep,
  box,
}: SearchProps): ReactNode {
  const onKeyDown = (event: KeyboardEvent): void =>
    keys({
      Enter: onStep && (() => onStep(event.shiftKey ? -1 : 1)),
      Escape: value !== '' && (() => onChange('')),
    })(event);
  return (
    <>
      <input
        ref={box}
        type="search"
        className="grow"
        aria-label={label}
        placeholder={placeholder}
        spellCheck={false}
        dir="auto"
        value={value}
        onChange={({ target }) => onChange(target.value)}
        onKeyDown={onKeyDown}
      />
      {found !== undefined && (
        <>
          <span role="status" className="muted">
            {found > 0
              ? `${at < 0 ? '' : `${at + 1} of `}${found}${found === most ? '+' : ''}`
              : found < 0
                ? '…'
                : 'none'}
          </span>
          {STEPS.map(([name, sign, by]) => (
            <button
              key={sign}
              className="icon"
              aria-label={name}
              title={name}
              disabled={found < 1}
              onClick={() => onStep?.(by)}
            >
              {sign}
            </button>
          ))}
        </>
      )}
    </>
  );
}

const STEPS = [
  ['Previous hit', '↑', -1],
  ['Next hit', '↓', 1],
] as const;

interface SearchProps {
  readonly label: string;
  readonly placeholder: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** How many hits there are: -1 as long as nobody knows, undefined without a search. */
  readonly found?: number | undefined;
  /** How many are looked for at most. */
  readonly most?: number;
  /** The index of the shown hit; -1 for none. */
  readonly at?: number;
  readonly onStep?: (by: 1 | -1) => void;
  readonly box?: Ref<HTMLInputElement>;
}

/** A set with an item more or less. */
export function toggled<T>(set: ReadonlySet<T>, item: T): ReadonlySet<T> {
  const next = new Set(set);
  if (!next.delete(item)) next.add(item);
  return next;
}
