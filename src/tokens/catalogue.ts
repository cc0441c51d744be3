import { ContextError, isContextError, readFrom, reasonOf, type ContextErrorCode } from '../errors.ts';
import { bareName, undated } from './modelName.ts';
import type { ModelInfo } from './prices.ts';

/**
 * Which models there are, how much they read, and what that costs. Each row carries the day on which it was true. An app's own
 * rows win over the built-in table. Tables come from outside as a list of our rows or as the catalogue of models.dev; each
 * field that is used is checked, and one that is wrong refuses the whole table.
 */

/** A model as an app registers it; fields that are left out are unknown. */
export type ModelEntry = Pick<ModelInfo, 'id'> & Partial<ModelInfo>;

/** Options of `loadModels`. */
export interface LoadModelsOptions {
  /** Stops a fetch. */
  readonly signal?: AbortSignal | undefined;
  /** The day on which rows that name none are true, as `2026-11-21`. Default: today. */
  readonly asOf?: string | undefined;
}

/** Models that the app registered, by id. */
const told = new Map<string, ModelInfo>();

/** Keeps a model. Throws `invalid-options`. */
export function register(model: ModelEntry): void {
  const rules = { row: 'registerModel()', code: 'invalid-options', asOf: today() } as const;
  keep([readFrom('The model', () => checkModel(model, rules))]);
}

/** Keeps the models of a table, or of the table at an address; returns how many. */
export async function load(
  source: object | string,
  { signal, asOf = today() }: LoadModelsOptions,
): Promise<number> {
  const isAddress = typeof source === 'string' || source instanceof URL;
  const table = isAddress ? await fetchJson(String(source), signal) : source;
  return keep(readRows(table, asOf));
}

/** All models: registered ones, and built-in ones that no registration replaces. */
export async function all(): Promise<readonly ModelInfo[]> {
  const models = new Map([...(await builtIn()).map((model) => [model.id, model] as const), ...told]);
  return [...models.values()];
}

/** The model of this id, or of the one that it stands for. */
export async function find(id: string): Promise<ModelInfo | undefined> {
  const table = new Map((await builtIn()).map((model) => [model.id, model]));
  const known = (name: string): ModelInfo | undefined => told.get(name) ?? table.get(name);
  return known(id) ?? known(fullId(id, [...table.keys()]));
}

/**
 * The id that another stands for: without a snapshot's date, or the maker's folder (`groq:gpt-oss-20b`); '' for none or
 * several.
 */
function fullId(id: string, inTable: readonly string[]): string {
  if (OF_ITS_OWN.has(bareName(id))) return '';
  const plain = undated(id);
  const [, provider, name] = /^([^:]*:)(.*)$/s.exec(plain) ?? [];
  if (provider === undefined)
    return plain === id ? '' : only(inTable.filter((full) => full.endsWith(`:${plain}`)));
  const ids = new Set([...told.keys(), ...inTable]);
  if (ids.has(plain)) return plain;
  return only([...ids].filter((full) => full.startsWith(provider) && full.endsWith(`/${name}`)));
}

/** Snapshots whose prices aren't those of the model of the same name without a date. */
const OF_ITS_OWN: ReadonlySet<string> = new Set(['gpt-4o-2024-05-13']);

function only(ids: readonly string[]): string {
  return ids.length === 1 ? (ids[0] ?? '') : '';
}

function keep(models: readonly ModelInfo[]): number {
  for (const model of models) told.set(model.id, model);
  return models.length;
}

/** If this code can't be loaded, prices are unknown; the rest of an estimate works. */
function builtIn(): Promise<readonly ModelInfo[]> {
  return import('./prices.ts').then(
    ({ PRICE_TABLE }) => PRICE_TABLE,
    () => [],
  );
}

// ------------------------------------------------------------------ tables from outside

async function fetchJson(address: string, signal: AbortSignal | undefined): Promise<unknown> {
  const text = await fetchText(address, signal).catch((cause: unknown) => {
    if (signal?.aborted) throw new ContextError('aborted', 'Loading models was aborted.', { cause });
    const message = `The models at ${reasonOf(address)} could not be loaded: ${reasonOf(cause)}. Those known before still are.`;
    throw new ContextError('store-unavailable', message, { details: { address }, cause });
  });
  try {
    return JSON.parse(text);
  } catch (cause) {
    const message = `What came from ${reasonOf(address)} is no JSON: ${JSON.stringify(text.slice(0, 60))}`;
    throw new ContextError('invalid-import', message, { details: { address }, cause });
  }
}

async function fetchText(address: string, signal: AbortSignal | undefined): Promise<string> {
  const response = await fetch(address, signal ? { signal } : {});
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}`.trim());
  return response.text();
}

function readRows(table: unknown, asOf: string): ModelInfo[] {
  try {
    if (!Array.isArray(table)) return catalogueRows(table, asOf);
    return table.map((value, i) => checkModel(value, { row: `models[${i}]`, code: 'invalid-import', asOf }));
  } catch (cause) {
    if (isContextError(cause)) throw cause;
    throw new ContextError('invalid-import', `The models can't be read: ${reasonOf(cause)}.`, { cause });
  }
}

function catalogueRows(catalogue: unknown, asOf: string): ModelInfo[] {
  return recordsIn(catalogue).flatMap(([provider, { models }]) =>
    recordsIn(models, provider, 'models').map(([model, { name, cost, limit }]) => {
      const value = { id: `${provider}:${model}`, name, ...limitsOf(limit), prices: pricesOf(cost) };
      return checkModel(value, {
        row: reasonOf(`${provider}.models.${model}`),
        code: 'invalid-import',
        asOf,
      });
    }),
  );
}

type Fields = Readonly<Record<string, unknown>>;

/** The records that a record holds, by their keys. */
function recordsIn(value: unknown, ...path: readonly string[]): [string, Fields][] {
  return Object.entries(asRecord(value, path)).map(([key, inner]) => [key, asRecord(inner, [...path, key])]);
}

function asRecord(value: unknown, path: readonly string[]): Fields {
  if (isRecord(value)) return value;
  const row = reasonOf(path.join('.')) || 'the table';
  const message = `${row} must be a record: loadModels() reads a list of models, or the api.json of models.dev.`;
  throw new ContextError('invalid-import', message, { details: { row, value } });
}

function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** models.dev writes 0 for an unknown limit. */
function limitsOf(limit: unknown): Fields {
  const { context, output } = Object(limit) as Fields;
  return { context: context || null, output: output || null };
}

function pricesOf(cost: unknown): unknown {
  if (!isRecord(cost)) return cost;
  const { input, output, cache_read: cacheRead, cache_write: cacheWrite, reasoning, ...more } = cost;
  const longPrompt = longPromptOf(input, output, more['context_over_200k']);
  return { input, output, cacheRead, cacheWrite, reasoning, longPrompt };
}

/** models.dev lists the prices of long prompts; we store their ratio to the plain prices. */
function longPromptOf(input: unknown, output: unknown, over: unknown): unknown {
  const dearer = Object(over) as Fields;
  const times = {
    input: Number(dearer['input']) / Number(input),
    output: Number(dearer['output']) / Number(output),
  };
  return times.input >= 1 && times.output >= 1 ? { above: 200_000, ...times } : undefined;
}

// ------------------------------------------------------------------ one row

interface RowRules {
  /** How an error names it. */
  readonly row: string;
  readonly code: ContextErrorCode;
  /** The day of a row that names none. */
  readonly asOf: string;
}

/** A row as it is kept: without unknown fields, and with null for limits and prices that it does not name. */
function checkModel(value: unknown, rules: RowRules): ModelInfo {
  const { prices, ...kept } = fieldsIn(value, FIELDS, '', rules);
  const { longPrompt, ...plain } = prices ? fieldsIn(prices, PRICES, 'prices.', rules) : {};
  const long = longPrompt
    ? { longPrompt: fieldsIn(longPrompt, LONG_PROMPT, 'prices.longPrompt.', rules) }
    : {};
  const { asOf } = rules;
  const model = { context: null, output: null, asOf, ...kept, prices: prices ? { ...plain, ...long } : null };
  return model as unknown as ModelInfo;
}

/** The fields of a record that these forms know. A field that looks like a price and is none that we know is refused. */
function fieldsIn(value: unknown, forms: Forms, path: string, { row, code }: RowRules): Fields {
  const refuse = (field: string, complaint: string, found: unknown): never => {
    const message = `${row}: ${path}${reasonOf(field)} ${complaint}.`;
    throw new ContextError(code, message, { details: { row, field: path + field, value: found } });
  };
  const known: Record<string, unknown> = {};
  for (const [field, found] of Object.entries(Object(value) as Fields)) {
    if (found === undefined) continue;
    if (Object.hasOwn(forms, field)) known[field] = found;
    else if (path !== '' || /pric|cost/i.test(field))
      refuse(field, `is unknown; what can stand here: ${Object.keys(forms).join(', ')}`, found);
  }
  for (const [field, [has, what]] of Object.entries(forms))
    if (!has(known[field])) refuse(field, `must be ${what}, and is ${shown(known[field])}`, known[field]);
  return known;
}

/** A field's check, and its description for errors. */
type Form = readonly [has: (value: unknown) => boolean, what: string];
type Forms = Readonly<Record<string, Form>>;

function text(form: RegExp, what: string): Form {
  return [(value) => typeof value === 'string' && form.test(value), what];
}

function amount(least: number, what: string): Form {
  return [(value) => typeof value === 'number' && value >= least && value < Infinity, what];
}

function optional([has, what]: Form): Form {
  return [(value) => value === undefined || has(value), what];
}

function nullable([has, what]: Form): Form {
  return optional([(value) => value === null || has(value), `${what}, or null`]);
}

const LIMIT = nullable(amount(1, 'a number of tokens'));
const PRICE = amount(0, 'US dollars per million tokens');

const FIELDS: Forms = {
  id: text(/^[^:]+:./, 'like "provider:model"'),
  name: optional(text(/^/, 'a text')),
  context: LIMIT,
  output: LIMIT,
  prices: nullable([isRecord, 'a record']),
  asOf: optional(text(/^\d{4}-\d\d-\d\d$/, 'a day like "2026-11-21"')),
  source: optional(text(/^/, 'a text')),
  encoding: optional(text(/^(?:o200k|cl100k)$/, 'o200k or cl100k')),
};

const PRICES: Forms = {
  input: PRICE,
  output: PRICE,
  cacheRead: optional(PRICE),
  cacheWrite: optional(PRICE),
  reasoning: optional(PRICE),
  longPrompt: optional([isRecord, 'a record']),
};

const LONG_PROMPT: Forms = {
  above: amount(1, 'a number of tokens'),
  input: amount(0, 'how many times the price'),
  output: amount(0, 'how many times the price'),
};

function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 60));
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}

function today(): string {
  return new Date().toISOString().slice(0, 10);
}
