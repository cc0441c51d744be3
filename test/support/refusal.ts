import { ContextError, type ContextErrorCode } from '../../src/errors.ts';
import type { ContextStore } from '../../src/store/store.ts';

/** A store that can be told to refuse writes, as a full disk or a closed connection would. */
export interface RefusingStore {
  readonly store: ContextStore;
  /** From now on `append` and `saveDraft` reject with this code; undefined: they work again. */
  readonly refuse: (code: ContextErrorCode | undefined) => void;
}

/** Puts a switch in front of a store's writes. */
export function refusing(inner: ContextStore): RefusingStore {
  let refusal: ContextErrorCode | undefined;
  const store = new Proxy(inner, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== 'function') return value;
      if (refusal !== undefined && (key === 'append' || key === 'saveDraft')) {
        const code = refusal;
        return () => Promise.reject(new ContextError(code, `The store says ${code}.`));
      }
      return value.bind(target);
    },
  });
  return {
    store,
    refuse: (code) => {
      refusal = code;
    },
  };
}
