import { ContextError, type ContextErrorCode } from '../../src/errors.ts';
import type { ContextStore } from '../../src/store/store.ts';

/** A store that refuses writes on demand, as a full disk or a closed connection would. */
export interface RefusingStore {
  readonly store: ContextStore;
  /**
   * From now on `commit` and `saveDraft` reject with this code; undefined: they work again. With `late` they do their
   * work and reject all the same, as where a connection closes before the answer comes.
   */
  readonly refuse: (code: ContextErrorCode | undefined, options?: { readonly late?: boolean }) => void;
}

/** Wraps a store whose writes can be refused. */
export function refusing(inner: ContextStore): RefusingStore {
  let refusal: ContextErrorCode | undefined;
  let isLate = false;
  const store = new Proxy(inner, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== 'function') return value;
      if (refusal !== undefined && (key === 'commit' || key === 'saveDraft')) {
        const [code, work] = [refusal, isLate ? value.bind(target) : undefined];
        return async (...args: readonly unknown[]) => {
          await work?.(...args);
          throw new ContextError(code, `The store says ${code}.`);
        };
      }
      return value.bind(target);
    },
  });
  return {
    store,
    refuse: (code, { late = false } = {}) => {
      refusal = code;
      isLate = late;
    },
  };
}
