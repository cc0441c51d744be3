import type { UIMessage } from 'ai';
import { refuseToLoad } from '../errors.ts';
import type * as Catalogue from './catalogue.ts';
import type { LoadModelsOptions, ModelEntry } from './catalogue.ts';
import type { ModelInfo } from './prices.ts';
import type { MeasuredUsage } from './usage.ts';

/** The entry to the catalogue of models, which is loaded on first use. Only {@link loadModels} fetches an address. */

/** Registrations under way: later estimates wait for them. */
let registered: Promise<unknown> = Promise.resolve();

/**
 * Registers a model, or other prices for one: limits in tokens, prices in US dollars per million tokens, `asOf` today
 * where it is left out. Wins over the built-in table. Estimates asked for from now on know it, also without `await`.
 * @throws invalid-options, naming the field
 */
export async function registerModel(model: ModelEntry): Promise<void> {
  const telling = ask((catalogue) => catalogue.register(model));
  registered = Promise.allSettled([registered, telling]);
  return telling;
}

/**
 * Registers many models at once: a list of rows as {@link registerModel} takes them, or what models.dev offers as
 * `api.json`. A text or URL is an address, and is fetched. All of them or, with the first row that is wrong, none.
 * @returns how many
 * @throws invalid-import, naming row and field; store-unavailable for an address that does not answer; aborted
 */
export function loadModels(source: object | string, options: LoadModelsOptions = {}): Promise<number> {
  return ask((catalogue) => catalogue.load(source, options));
}

/** The model of this id, also with a day: the last registration, else the built-in table; undefined for an unknown one. */
export async function findModel(id: string): Promise<ModelInfo | undefined> {
  await registered;
  return ask((catalogue) => catalogue.find(id));
}

/** All models that are known, the app's own among them: their windows and prices. Asks no network. */
export async function listModels(): Promise<readonly ModelInfo[]> {
  await registered;
  return ask((catalogue) => catalogue.all());
}

/** What an entry of `engine.calls()` cost, in US dollars at today's prices; null without usage, model or price. Asks no network. */
export async function costOf({ model, usage, steps = 1 }: PricedCall): Promise<number | null> {
  const prices = usage && (await findModel(model ?? ''))?.prices;
  if (!prices) return null;
  const { priceOf } = await import('./spending.ts').catch(refuseToLoad);
  return priceOf({ usage, isOne: steps < 2 }, prices);
}

/** The usage that a message's metadata report (`totalUsage`, `usage`, as in AI SDK 5 to 7); undefined for none. */
export async function usageOf(message: Pick<UIMessage, 'metadata'>): Promise<MeasuredUsage | undefined> {
  return (await import('./usage.ts').catch(refuseToLoad)).measuredUsage(message);
}

/** A request: the model that answered, and what it used. With several `steps`, `usage` is their sum. */
export interface PricedCall {
  readonly model?: string;
  readonly usage?: MeasuredUsage;
  readonly steps?: number;
}

async function ask<R>(question: (catalogue: typeof Catalogue) => R): Promise<Awaited<R>> {
  const catalogue = await import('./catalogue.ts').catch(refuseToLoad);
  return await question(catalogue);
}
