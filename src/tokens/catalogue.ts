import { ContextError, reasonOf, type ContextErrorCode } from '../errors.ts';
import type { ModelInfo } from './prices.ts';

/**
 * Which models there are, how much they read, and what that costs.
 *
 * Prices change and pages stay open, so every row carries the day on which it was true, and an estimate repeats it. An
 * app's own rows win over the built-in table, and of its own the later ones.
 *
 * Tables come from outside in two shapes: a list of our own rows, and the catalogue of models.dev, which keeps models
 * under their providers. Nothing in them is trusted. Each field that is used is looked at, and one that is wrong
 * refuses the whole table, because half of a price list is a wrong one.
 */

/** A model as an app tells of it; what is left out is unknown. */
export type ModelEntry = Pick<ModelInfo, 'id'> & Partial<ModelInfo>;

/** Options of `loadModels`. */
export interface LoadModelsOptions {
  /** Stops a fetch. */
  readonly signal?: AbortSignal | undefined;
  /** The day on which rows that name none are true, as `2026-11-21`. Default: today. */
  readonly asOf?: string | undefined;
}

/** What the app told of, by id. */
const told = new Map<string, ModelInfo>();

/** Keeps a model. Throws `invalid-options`. */
export function register(model: ModelEntry): void {
  keep([checkModel(model, { row: 'registerModel()', code: 'invalid-options', asOf: today() })]);
}

/** Keeps the models of a table, or of the table at an address; returns how many. */
export async function load(
  source: object | string,
  { signal, asOf = today() }: LoadModelsOptions,
): Promise<number> {
  const isAddress = typeof source === 'string' || source instanceof URL;
  const table = isAddress ? await fetchJson(String(source), signal) : source;
  return keep(Array.isArray(table) ? ownRows(table, asOf) : catalogueRows(table, asOf));
}

/** The model of this id. */
export async function find(id: string): Promise<ModelInfo | undefined> {
  return told.get(id) ?? (await builtIn()).find((model) => model.id === id);
}

function keep(models: readonly ModelInfo[]): number {
  for (const model of models) told.set(model.id, model);
  return models.length;
}

/** Where its code does not come, offline, prices are unknown, and an estimate has all the rest. */
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
    const message = `The models at ${address} could not be loaded: ${reasonOf(cause)}. Those known before still are.`;
    throw new ContextError('store-unavailable', message, { details: { address }, cause });
  });
  try {
    return JSON.parse(text);
  } catch (cause) {
    const message = `What came from ${address} is no JSON: ${JSON.stringify(text.slice(0, 60))}`;
    throw new ContextError('invalid-import', message, { details: { address }, cause });
  }
}

async function fetchText(address: string, signal: AbortSignal | undefined): Promise<string> {
  const response = await fetch(address, signal ? { signal } : {});
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}`.trim());
  return response.text();
}

function ownRows(rows: readonly unknown[], asOf: string): ModelInfo[] {
  return rows.map((value, i) => checkModel(value, { row: `models[${i}]`, code: 'invalid-import', asOf }));
}

function catalogueRows(catalogue: unknown, asOf: string): ModelInfo[] {
  return recordsIn(catalogue).flatMap(([provider, { models }]) =>
    recordsIn(models, provider, 'models').map(([model, { name, cost, limit }]) => {
      const value = { id: `${provider}:${model}`, name, ...limitsOf(limit), prices: pricesOf(cost) };
      return checkModel(value, { row: `${provider}.models.${model}`, code: 'invalid-import', asOf });
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
  const row = path.join('.') || 'the table';
  const message = `${row} must be a record: loadModels() reads a list of models, or the api.json of models.dev.`;
  throw new ContextError('invalid-import', message, { details: { row, value } });
}

function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A limit of 0 is how that catalogue says that there is none to tell. */
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

/** That catalogue tells the higher prices themselves; we keep how many times the plain ones they are. */
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

/** A row as it is kept: without fields that nobody knows, and with null for what it does not tell. */
function checkModel(value: unknown, { row, code, asOf }: RowRules): ModelInfo {
  const check = (from: unknown, forms: Forms, path = ''): Fields => {
    const refuse = (field: string, complaint: string, found: unknown): never => {
      const message = `${row}: ${path}${field} ${complaint}.`;
      throw new ContextError(code, message, { details: { row, field: path + field, value: found } });
    };
    expectNoStray(from, forms, path === '' ? /pric|cost/i : /^/, refuse);
    return knownFields(from, forms, (field, what, found) =>
      refuse(field, `must be ${what}, and is ${shown(found)}`, found),
    );
  };
  const { prices, ...kept } = check(value, FIELDS);
  const { longPrompt, ...plain } = prices ? check(prices, PRICES, 'prices.') : {};
  const long = longPrompt ? { longPrompt: check(longPrompt, LONG_PROMPT, 'prices.longPrompt.') } : {};
  const model = { context: null, output: null, asOf, ...kept, prices: prices ? { ...plain, ...long } : null };
  return model as unknown as ModelInfo;
}

/** Refuses fields that look like a price and are none that we know: a price that is spelt wrong would not be counted. */
function expectNoStray(value: unknown, forms: Forms, like: RegExp, refuse: Refuse): void {
  for (const [field, found] of Object.entries(Object(value) as Fields)) {
    if (found === undefined || Object.hasOwn(forms, field) || !like.test(field)) continue;
    refuse(field, `is unknown; what can stand here: ${Object.keys(forms).join(', ')}`, found);
  }
}

type Refuse = (field: string, what: string, found: unknown) => never;

/** The fields of a record that these forms know; undefined ones left out. */
function knownFields(value: unknown, forms: Forms, refuse: Refuse): Fields {
  const known: Record<string, unknown> = {};
  for (const [field, [has, what]] of Object.entries(forms)) {
    const found = (Object(value) as Fields)[field];
    if (!has(found)) refuse(field, what, found);
    if (found !== undefined) known[field] = found;
  }
  return known;
}

/** What a field must be: asked, and in words. */
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
