import React from 'react';

/**
 * Development React makes an error, with its stack, for each of the first 10,000 elements of a second, to say in warnings
 * who made them: a sixth of what the demo's tests cost. It thinks here that it has made them already; it warns as ever.
 */
const shared: unknown = Reflect.get(React, '__CLIENT_INTERNALS_DO_NOT_USE_OR_WARN_USERS_THEY_CANNOT_UPGRADE');
if (typeof shared === 'object' && shared !== null)
  Object.defineProperty(shared, 'recentlyCreatedOwnerStacks', {
    configurable: true,
    get: () => Infinity,
    set() {},
  });
