import { escaped } from './plainLine.ts';

/**
 * A JSON value as rows of a tree, of which only the open parts are read. Long lists are folded in hundreds, long texts in
 * lines, so that a snapshot of a large chat opens as fast as a small one.
 */
export interface TreeRow {
  /** A JSON pointer, with a step for each folded range: stable while the value changes elsewhere. */
  readonly path: string;
  /** The name in front of the value: a key, an index, a range such as `0 - 99`. */
  readonly key: string;
  /** Levels from the top, 1 for the topmost. */
  readonly level: number;
  /** Its number among the rows with the same parent, 1 for the first. */
  readonly position: number;
  /** How many rows have the same parent. */
  readonly count: number;
  /** The value on one line. */
  readonly text: string;
  readonly kind: 'string' | 'number' | 'literal' | 'group';
  /** Undefined for rows without children. */
  readonly isOpen: boolean | undefined;
}

/** How many entries of a list are shown without folding them into ranges. */
const RANGE = 100;

/** The longest text shown as one row, in characters. */
const LINE = 120;

/** The rows of a value, top down; `open` holds the paths of the open ones. */
export function treeRows(value: unknown, open: ReadonlySet<string>): TreeRow[] {
  const isOpen = (child: Child): boolean => open.has(child.path);
  return [...walk(value, isOpen)].map(({ value: own, ...row }) => ({
    ...row,
    ...summary(own),
    isOpen: hasChildren(own) ? open.has(row.path) : undefined,
  }));
}

/**
 * The paths of the rows whose key or value contains this text, folded ones too, at most `most` of them. Pauses after each few
 * thousand rows: a snapshot of a large chat has a million.
 */
export async function findRows(
  value: unknown,
  words: string,
  { most, signal }: { readonly most: number; readonly signal: AbortSignal },
): Promise<readonly string[]> {
  const wanted = words.toLowerCase();
  const found: string[] = [];
  let seen = 0;
  // A long text was searched whole; its lines are no hits of their own.
  for (const child of walk(value, (one) => typeof one.value !== 'string')) {
    if (!(child.value instanceof Range) && says(child, wanted)) found.push(child.path);
    if (found.length === most) break;
    seen += 1;
    if (seen % 2_000 !== 0) continue;
    await new Promise((resolve) => void setTimeout(resolve));
    if (signal.aborted) return [];
  }
  return found;
}

/** All that is in a value, top down, and in what is entered of it. */
function* walk(value: unknown, isEntered: (child: Child) => boolean): Generator<Child> {
  const stack = childrenOf(value, '', 1).toReversed();
  for (let child = stack.pop(); child; child = stack.pop()) {
    yield child;
    // One by one: a call can't take as many arguments as a record may have fields.
    if (isEntered(child))
      for (const one of childrenOf(child.value, child.path, child.level + 1).toReversed()) stack.push(one);
  }
}

function says({ key, value }: Child, wanted: string): boolean {
  if (key.toLowerCase().includes(wanted)) return true;
  return (typeof value !== 'object' || value === null) && String(value).toLowerCase().includes(wanted);
}

interface Child extends Pick<TreeRow, 'path' | 'key' | 'level' | 'position' | 'count'> {
  readonly value: unknown;
}

/** Some entries of a list, or lines of a text, folded into one row. */
class Range {
  readonly items: readonly unknown[];
  readonly from: number;
  constructor(items: readonly unknown[], from: number) {
    this.items = items;
    this.from = from;
  }
}

function childrenOf(value: unknown, path: string, level: number): Child[] {
  const entries = entriesOf(value);
  return entries.map(([key, child], i) => ({
    path: path + stepTo(key),
    key,
    level,
    position: i + 1,
    count: entries.length,
    value: child,
  }));
}

/** The step of a JSON pointer to a key. */
export function stepTo(key: string): string {
  return `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

function entriesOf(value: unknown): [string, unknown][] {
  if (typeof value === 'string') return listEntries(linesOf(value), 0);
  if (Array.isArray(value)) return listEntries(value, 0);
  if (value instanceof Range) return listEntries(value.items, value.from);
  return isObject(value) ? Object.entries(value) : [];
}

function listEntries(items: readonly unknown[], from: number): [string, unknown][] {
  if (items.length <= RANGE) return items.map((item, i) => [String(from + i), item]);
  let step = RANGE;
  while (items.length > step * RANGE) step *= RANGE;
  return Array.from({ length: Math.ceil(items.length / step) }, (_, i) => {
    const part = items.slice(i * step, (i + 1) * step);
    const first = from + i * step;
    return [`${first} - ${first + part.length - 1}`, new Range(part, first)];
  });
}

/** The lines of a long text; none for a text that fits in its row. */
function linesOf(text: string): string[] {
  if (!isLong(text)) return [];
  return text.split('\n').flatMap((line) => line.match(PIECES) ?? [line]);
}

/** The pieces of a line, as long as a row. */
const PIECES = new RegExp(`.{1,${LINE}}`, 'gs');

function hasChildren(value: unknown): boolean {
  return typeof value === 'string' ? isLong(value) : isObject(value) && Object.keys(value).length > 0;
}

function isLong(text: string): boolean {
  return text.length > LINE || text.includes('\n');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function summary(value: unknown): Pick<TreeRow, 'text' | 'kind'> {
  if (typeof value === 'string') return { kind: 'string', text: quoted(value.slice(0, 2 * LINE)) };
  if (typeof value === 'number') return { kind: 'number', text: String(value) };
  if (Array.isArray(value)) return { kind: 'group', text: `[${value.length}]` };
  if (value instanceof Range) return { kind: 'group', text: '' };
  if (isObject(value)) return { kind: 'group', text: sketch(value) };
  return { kind: 'literal', text: String(value) };
}

/** A text as JSON; characters that are invisible, or reorder the row, are escaped. */
function quoted(text: string): string {
  return escaped(JSON.stringify(text), UNSEEN);
}

/** Those that format text, without the two that join and part letters. */
const UNSEEN = /(?![\u200c\u200d])\p{Cf}/gu;

/** The first fields of an object, so that a closed one can be identified. */
function sketch(value: Record<string, unknown>): string {
  const fields = Object.entries(value).map(([key, one]) =>
    one && typeof one === 'string' ? `${key}: ${one.slice(0, 24)}` : key,
  );
  if (fields.length > 4) fields.splice(4, Infinity, '…');
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`;
}
