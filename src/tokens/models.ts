import { refuseToLoad } from '../errors.ts';
import type * as Catalogue from './catalogue.ts';
import type { LoadModelsOptions, ModelEntry } from './catalogue.ts';
import type { ModelInfo } from './prices.ts';

/**
 * The door to the catalogue of models, whose code comes with the first question. It asks no network: the table that we
 * know is code, and an address is only fetched by {@link loadModels}.
 */

/** Registrations under way: an estimate that is asked for after them knows of them. */
let registered: Promise<unknown> = Promise.resolve();

/**
 * Tells of a model, or of other prices for one: limits in tokens, prices in US dollars per million tokens, `asOf` today
 * where it is left out. Wins over the built-in table. Estimates asked for from now on know it, also without `await`.
 *
 * @throws invalid-options, naming the field
 */
export async function registerModel(model: ModelEntry): Promise<void> {
  const telling = ask((catalogue) => catalogue.register(model));
  registered = Promise.allSettled([registered, telling]);
  return telling;
}

/**
 * Tells of many models at once: a list of rows as {@link registerModel} takes them, or what models.dev offers as
 * `api.json`. A text or URL is an address, and is fetched. All of them or, with the first row that is wrong, none.
 *
 * @returns how many
 * @throws invalid-import, naming row and field; store-unavailable for an address that does not answer; aborted
 */
export function loadModels(source: object | string, options: LoadModelsOptions = {}): Promise<number> {
  return ask((catalogue) => catalogue.load(source, options));
}

/** The model of this id: what the app told of it last, else the built-in table; undefined for an unknown one. */
export async function findModel(id: string): Promise<ModelInfo | undefined> {
  await registered;
  return ask((catalogue) => catalogue.find(id));
}

async function ask<R>(question: (catalogue: typeof Catalogue) => R): Promise<Awaited<R>> {
  const catalogue = await import('./catalogue.ts').catch(refuseToLoad);
  return await question(catalogue);
}
