import React from 'react';
import { flushSync } from 'react-dom';

/**
 * React's production build has no `act`, which Testing Library wraps each event and each wait in. This one shows what an event
 * changed before it returns, as React does for a person's; what is awaited shows itself, as it does in a browser.
 */
function act(callback: () => unknown): PromiseLike<unknown> {
  const result = flushSync(callback);
  const isAwaited = typeof result === 'object' && result !== null && 'then' in result;
  return Promise.resolve(result).then(async (value) => {
    if (isAwaited) await new Promise((resolve) => setTimeout(resolve));
    return value;
  });
}

Reflect.set(React, 'act', act);
