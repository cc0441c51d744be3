import { ContextError, isRecord, readFrom, reasonOf, type ContextErrorCode } from '../errors.ts';
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

const told = new Map<string, ModelInfo>();

/** Keeps a model. Throws `invalid-options`. */
export function register(model: ModelEntry): void {
  keep([readFrom('The model', () => checkModel(model, 'registerModel()', today(), 'invalid-options'))]);
}

/** Keeps the models of a table, or of the table at an address; returns how many. */
export async function load(source: object | string, options: LoadModelsOptions): Promise<number> {
  const { signal, asOf = today() } = options;
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
  const [models, table] = [await all(), await builtIn()];
  const known = (name: string): ModelInfo | undefined => models.find((model) => model.id === name);
  return known(id) ?? known(fullId(id, table, models));
}

/** The id that another stands for: without a day, or the maker's folder (`groq:gpt-oss-20b`); '' for none or several. */
function fullId(id: string, table: readonly ModelInfo[], models: readonly ModelInfo[]): string {
  if (OF_ITS_OWN.has(bareName(id))) return '';
  const plain = undated(id);
  const [, provider, name] = /^([^:]*:)(.*)$/s.exec(plain) ?? [];
  if (provider === undefined)
    return plain === id ? '' : only(table.filter((full) => full.id.endsWith(`:${plain}`)));
  if (models.some((model) => model.id === plain)) return plain;
  return only(models.filter((full) => full.id.startsWith(provider) && full.id.endsWith(`/${name}`)));
}

/** Snapshots whose prices aren't those of the model of the same name without a date. */
const OF_ITS_OWN: ReadonlySet<string> = new Set(['gpt-4o-2024-05-13']);

function only([model, ...others]: readonly ModelInfo[]): string {
  return model && others.length === 0 ? model.id : '';
}

function keep(models: readonly ModelInfo[]): number {
  for (const model of models) told.set(model.id, model);
  return models.length;
}

/** If this code can't be loaded, prices are unknown; the rest of an estimate works. */
function builtIn(): Promise<readonly ModelInfo[]> {
  return import('./prices.ts').then(({ PRICE_TABLE }) => PRICE_TABLE).catch(() => []);
}

async function fetchJson(address: string, signal: AbortSignal | undefined): Promise<unknown> {
  const where = reasonOf(address);
  const refuse = (code: ContextErrorCode, message: string, cause: unknown): never => {
    throw new ContextError(code, message, { details: { address }, cause });
  };
  let text = '';
  try {
    const response = await fetch(address, { signal: signal ?? null });
    if (!response.ok) throw new Error(`${response.status} ${response.statusText}`.trim());
    text = await response.text();
  } catch (cause) {
    if (signal?.aborted) return refuse('aborted', 'Loading models was aborted.', cause);
    const complaint = `could not be loaded: ${reasonOf(cause)}. Those known before still are.`;
    return refuse('store-unavailable', `The models at ${where} ${complaint}`, cause);
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    const begin = JSON.stringify(text.slice(0, 60));
    return refuse('invalid-import', `What came from ${where} is no JSON: ${begin}`, cause);
  }
}

function readRows(table: unknown, asOf: string): ModelInfo[] {
  const read = (): ModelInfo[] =>
    Array.isArray(table)
      ? table.map((value, i) => checkModel(value, `models[${i}]`, asOf))
      : catalogueRows(table, asOf);
  return readFrom('The models', read, 'invalid-import');
}

/** models.dev writes 0 for an unknown limit. */
function catalogueRows(catalogue: unknown, asOf: string): ModelInfo[] {
  return recordsIn(catalogue).flatMap(([provider, { models }]) =>
    recordsIn(models, provider, 'models').map(([model, { name, cost, limit }]) => {
      const { context, output } = Object(limit) as Fields;
      const limits = { context: context || null, output: output || null };
      const value = { id: `${provider}:${model}`, name, ...limits, prices: pricesOf(cost) };
      return checkModel(value, reasonOf(`${provider}.models.${model}`), asOf);
    }),
  );
}

type Fields = Readonly<Record<string, unknown>>;

function recordsIn(value: unknown, ...path: readonly string[]): [string, Fields][] {
  return Object.entries(asRecord(value, path)).map(([key, inner]) => [key, asRecord(inner, [...path, key])]);
}

function asRecord(value: unknown, path: readonly string[]): Fields {
  if (isRecord(value)) return value;
  const row = reasonOf(path.join('.')) || 'the table';
  const message = `${row} must be a record: loadModels() reads a list of models, or the api.json of models.dev.`;
  throw new ContextError('invalid-import', message, { details: { row, value } });
}

/** models.dev lists the prices of long prompts; we store their ratio to the plain prices. */
function pricesOf(cost: unknown): unknown {
  if (!isRecord(cost)) return cost;
  const { input, output, cache_read: cacheRead, cache_write: cacheWrite, reasoning, ...more } = cost;
  const over = Object(more['context_over_200k']) as Fields;
  const times = {
    input: Number(over['input']) / Number(input),
    output: Number(over['output']) / Number(output),
  };
  const isDearer = times.input >= 1 && times.output >= 1;
  const longPrompt = isDearer ? { above: 200_000, ...times } : undefined;
  return { input, output, cacheRead, cacheWrite, reasoning, longPrompt };
}

/** A row as it is kept: without unknown fields, and with null for limits and prices that it does not name. */
function checkModel(value: unknown, row: string, asOf: string, code: ContextErrorCode = 'invalid-import') {
  /** The fields of a record that these forms know. A field that looks like a price and is none that we know is refused. */
  const fieldsIn = (record: unknown, forms: Forms, path: string): Record<string, unknown> => {
    const refuse = (field: string, complaint: string, found: unknown): never => {
      const message = `${row}: ${path}${reasonOf(field)} ${complaint}.`;
      throw new ContextError(code, message, { details: { row, field: path + field, value: found } });
    };
    const known: Record<string, unknown> = {};
    for (const [field, found] of Object.entries(Object(record) as Fields)) {
      if (found === undefined || found === null) continue;
      if (Object.hasOwn(forms, field)) known[field] = found;
      else if (path !== '' || /pric|cost/i.test(field))
        refuse(field, `is unknown; what can stand here: ${Object.keys(forms).join(', ')}`, found);
    }
    for (const [field, [has, what, isNeeded, inner]] of Object.entries(forms)) {
      const found = known[field];
      const isThere = isNeeded || found !== undefined;
      if (isThere && !has(found)) refuse(field, `must be ${what}, and is ${shown(found)}`, found);
      if (isThere && inner) known[field] = fieldsIn(found, inner, `${path}${field}.`);
    }
    return known;
  };
  return { context: null, output: null, prices: null, asOf, ...fieldsIn(value, FIELDS, '') } as ModelInfo;
}

/** A field's check, its description for errors, whether it must be there, and the fields in it; null is as good as nothing. */
type Form = readonly [has: (value: unknown) => boolean, what: string, isNeeded?: boolean, inner?: Forms];
type Forms = Readonly<Record<string, Form>>;

function text(form: RegExp): Form[0] {
  return (value) => typeof value === 'string' && form.test(value);
}

function amount(least: number): Form[0] {
  return (value) => typeof value === 'number' && value >= least && value < Infinity;
}

const TEXT: Form = [text(/^/), 'a text'];
const LIMIT: Form = [amount(1), 'a number of tokens'];
const PRICE = [amount(0), 'US dollars per million tokens'] as const;
const FACTOR: Form = [amount(0), 'how many times the price', true];

const LONG_PROMPT: Forms = {
  above: [amount(1), 'a number of tokens', true],
  input: FACTOR,
  output: FACTOR,
};

const PRICES: Forms = {
  input: [...PRICE, true],
  output: [...PRICE, true],
  cacheRead: PRICE,
  cacheWrite: PRICE,
  reasoning: PRICE,
  longPrompt: [isRecord, 'a record', false, LONG_PROMPT],
};

const FIELDS: Forms = {
  id: [text(/^[^:]+:./), 'like "provider:model"', true],
  name: TEXT,
  context: LIMIT,
  output: LIMIT,
  asOf: [text(/^\d{4}-\d\d-\d\d$/), 'a day like "2026-11-21"'],
  source: TEXT,
  encoding: [text(/^(?:o200k|cl100k)$/), 'o200k or cl100k'],
  prices: [isRecord, 'a record', false, PRICES],
};

function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 60));
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}

function today(): string {
  return new Date().toISOString().slice(0, 10);
}
