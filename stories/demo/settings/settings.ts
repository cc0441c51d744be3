import { local, session } from '../safeStorage.ts';

/** Which model answers: an endpoint's, else the browser's own if it is wanted, else the demo model. */
export interface ModelSettings {
  /** Of an OpenAI-compatible endpoint, such as `http://localhost:11434/v1`. */
  readonly baseUrl: string;
  readonly model: string;
  /** A secret. */
  readonly apiKey: string;
  /** Whether the model that the browser brings along answers, where it has one. */
  readonly ownModel: boolean;
  /** Whether the key may outlive a reload, until the tab is closed. */
  readonly keepKey: boolean;
}

/** The settings, observable. */
export interface Settings {
  readonly get: () => ModelSettings;
  readonly subscribe: (changed: () => void) => () => void;
  readonly save: (settings: ModelSettings) => void;
  /** Forgets all of it, in memory too. */
  readonly reset: () => void;
}

const PLACE = 'demo:model';
const KEY = 'demo:api-key';
const NONE: ModelSettings = { baseUrl: '', model: '', apiKey: '', ownModel: false, keepKey: false };

/**
 * The model settings of this browser.
 *
 * All but the key is kept in `localStorage`. The key is a secret: it lives in memory, and where the person asks
 * for it, in this tab's `sessionStorage`. It is written nowhere else, least of all beside the conversations.
 */
export function createSettings(): Settings {
  let current = readSettings();
  const listeners = new Set<() => void>();
  const change = (next: ModelSettings): void => {
    current = next;
    for (const listener of listeners) listener();
  };
  return {
    get: () => current,
    subscribe(changed) {
      listeners.add(changed);
      return () => listeners.delete(changed);
    },
    save(next) {
      const { apiKey, keepKey, ...place } = next;
      local.set(PLACE, JSON.stringify(place));
      session.set(KEY, keepKey && apiKey !== '' ? apiKey : null);
      change(next);
    },
    reset() {
      local.set(PLACE, null);
      session.set(KEY, null);
      change(NONE);
    },
  };
}

function readSettings(): ModelSettings {
  const apiKey = session.get(KEY);
  return { ...NONE, ...readPlace(), apiKey: apiKey ?? '', keepKey: apiKey !== null };
}

function readPlace(): Pick<ModelSettings, 'baseUrl' | 'model' | 'ownModel'> {
  try {
    const { baseUrl, model, ownModel } = JSON.parse(local.get(PLACE) ?? '{}') as Record<string, unknown>;
    return { baseUrl: asText(baseUrl), model: asText(model), ownModel: ownModel === true };
  } catch {
    return NONE;
  }
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
