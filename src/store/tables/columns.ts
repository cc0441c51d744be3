/**
 * Similar rows, stored as columns: a field with few values as these values and a digit for each row, short texts joined, fields
 * of few rows with their indexes, and a list for the rest. No field is known by name, so fields of later versions survive.
 */
export interface Fields {
  /** Up to ten values, and a digit for each row; no digits for one value. */
  readonly few: Readonly<Record<string, readonly [values: readonly unknown[], digits: string]>>;
  /** A short text for each row, {@link joined}. */
  readonly texts: Readonly<Record<string, string>>;
  /** A value for each row. */
  readonly each: Readonly<Record<string, readonly unknown[]>>;
  /** The values of some rows, by index. */
  readonly some: Readonly<Record<string, readonly (readonly [place: number, value: unknown])[]>>;
}

/** The columns of some rows, without the fields in `others`. */
export function columnsOf(rows: readonly object[], others: ReadonlySet<string> = NONE): Fields {
  const fields = {
    few: {} as Record<string, [unknown[], string]>,
    texts: {} as Record<string, string>,
    each: {} as Record<string, unknown[]>,
    some: {} as Record<string, [number, unknown][]>,
  };
  for (const field of new Set(rows.flatMap(Object.keys))) {
    if (others.has(field)) continue;
    const values = rows.map((row) => (row as Readonly<Record<string, unknown>>)[field]);
    const known = fewOf(values);
    const text = known ? undefined : joined(values, SHORT);
    if (values.includes(undefined))
      fields.some[field] = [...values.entries()].filter(([, value]) => value !== undefined);
    else if (known)
      fields.few[field] = [
        known,
        known[1] === undefined ? '' : values.map((value) => known.indexOf(value)).join(''),
      ];
    else if (text === undefined) fields.each[field] = values;
    else fields.texts[field] = text;
  }
  return fields;
}

const NONE: ReadonlySet<string> = new Set();

/** The values of each field for `count` rows; undefined in rows without it. */
export function valuesOf({ few, texts, each, some }: Fields, count: number): Map<string, readonly unknown[]> {
  const lists = new Map<string, readonly unknown[]>(Object.entries(each));
  for (const [field, [values, digits]] of Object.entries(few)) {
    const list = Array<unknown>(count).fill(values[0]);
    for (let i = 0; i < digits.length; i += 1) list[i] = values[digits.charCodeAt(i) - ZERO];
    lists.set(field, list);
  }
  for (const [field, text] of Object.entries(texts)) lists.set(field, split(text, count));
  for (const [field, values] of Object.entries(some)) {
    const list = Array<unknown>(count).fill(undefined);
    for (const [place, value] of values) list[place] = value;
    lists.set(field, list);
  }
  return lists;
}

const ZERO = '0'.charCodeAt(0);

/** The most values that a digit can name. */
const MOST = 10;

/** The distinct values; undefined if there are more. */
function fewOf(values: readonly unknown[]): unknown[] | undefined {
  const known: unknown[] = [];
  for (const value of values) {
    if (known.includes(value)) continue;
    if (known.length === MOST) return undefined;
    known.push(value);
  }
  return known;
}

/**
 * Above this length, in characters, browsers represent a text as a slice, which keeps the whole text that it was cut from in
 * memory.
 */
const SHORT = 12;

/**
 * Texts of at most `longest` characters as one text, which parses faster than a list: texts of equal length without a
 * separator, behind that length. Undefined for other values.
 */
export function joined(values: readonly unknown[], longest: number): string | undefined {
  const isShort = (value: unknown): boolean =>
    typeof value === 'string' && value.length <= longest && !value.includes(END);
  if (values.length === 0 || !values.every(isShort)) return undefined;
  const width = (values[0] as string).length;
  const isEven = width > 0 && values.every((value) => (value as string).length === width);
  return isEven ? `${width}${END}${values.join('')}` : END + values.join(END);
}

/** The separator of texts: JSON does not escape it. */
const END = '\u007f';

/** The texts that were joined; throws if they are not `count`. */
export function split(text: string, count?: number): string[] {
  const width = Number.parseInt(text, 10);
  const texts = text.startsWith(END) ? text.slice(1).split(END) : [];
  const at = text.indexOf(END) + 1;
  if (at > 1) for (let i = at; i < text.length; i += width) texts.push(text.slice(i, i + width));
  if (count !== undefined && texts.length !== count) throw new RangeError(`not ${count} texts`);
  return texts;
}
