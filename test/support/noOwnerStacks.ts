import React from 'react';

/**
 * For each of the first 10,000 elements in a second, React's development build makes an error with its stack, to name their
 * makers in warnings: a sixth of the time of the demo's tests. This makes React think that it has made them already; it warns
 * as ever.
 */
const shared: unknown = Reflect.get(React, '__CLIENT_INTERNALS_DO_NOT_USE_OR_WARN_USERS_THEY_CANNOT_UPGRADE');
if (typeof shared === 'object' && shared !== null)
  Object.defineProperty(shared, 'recentlyCreatedOwnerStacks', {
    configurable: true,
    get: () => Infinity,
    set() {},
  });
