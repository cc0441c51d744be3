/** Any value as JSON can hold it. What JSON would refuse or drop is described: `[lazy]`, `[circular]`, `NaN`, `[Map of 3]`. */
import { reasonOf } from '../errors.ts';
import { isBuilt, isLazyFragment, isLazyValue, type ContextFragment } from './fragment.ts';

/** The deepest level, and the greatest number of values, that are shown. */
const MAX_DEPTH = 128;
const MAX_VALUES = 200_000;

/** The data of a fragment, or its codec's output, as plain data. Never throws. */
export function plainContent(fragment: ContextFragment): unknown {
  return show(contentOf(fragment), { trail: [], left: MAX_VALUES }) ?? null;
}

function contentOf(fragment: ContextFragment): unknown {
  if (isLazyFragment(fragment)) return '[lazy]';
  const { data, codec } = fragment;
  return data ?? (codec && { toJSON: () => codec.encode() });
}

interface Sight {
  readonly trail: object[];
  left: number;
}

function show(value: unknown, sight: Sight): unknown {
  if (--sight.left < 0) return '[more]';
  switch (typeof value) {
    case 'number':
      return Number.isFinite(value) ? value + 0 : String(value);
    case 'bigint':
    case 'symbol':
      return String(value);
    case 'function':
      return '[lazy]';
    case 'object':
      return value === null ? null : readable(() => showObject(value, sight));
    default:
      return value;
  }
}

function showObject(value: object, sight: Sight): unknown {
  if (sight.trail.includes(value)) return '[circular]';
  if (sight.trail.length >= MAX_DEPTH) return '[deeper]';
  sight.trail.push(value);
  try {
    if (Array.isArray(value)) return Array.from(value, (item) => show(item, sight) ?? null);
    const words = inWords(value);
    if (words !== undefined) return words;
    const { toJSON } = value as { toJSON?: unknown };
    if (typeof toJSON === 'function') return show(toJSON.call(value, ''), sight) ?? null;
    if (isBuilt(value)) return showFields({ name: value.name, data: contentOf(value) }, sight);
    return isLazyValue(value) ? '[lazy]' : showFields(value, sight);
  } finally {
    sight.trail.pop();
  }
}

/** A description of an object whose content is not in its keys; undefined for all others. */
export function inWords(value: object): string | undefined {
  if (value instanceof Map || value instanceof Set) return `[${value.constructor.name} of ${value.size}]`;
  if (ArrayBuffer.isView(value)) return `[${value.constructor.name} of ${value.byteLength} bytes]`;
  if (value instanceof Error) return `[${value.name}: ${value.message}]`;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? String(value) : value.toISOString();
  return undefined;
}

function showFields(value: object, sight: Sight): object {
  const fields = value as Readonly<Record<string, unknown>>;
  const shown = Object.keys(value).map((key) => [key, readable(() => show(fields[key], sight))] as const);
  return Object.fromEntries(shown.filter(([, inner]) => inner !== undefined));
}

/** What `read` returns, or a description of what it throws. */
export function readable(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    return `[unreadable: ${reasonOf(error)}]`;
  }
}
