import { act } from '@testing-library/react';
import { settle, type Exchange, type ScriptedTransport } from '../support/transport.ts';

/** Runs an action, and returns the request that it leads to; its answer has begun with these words. */
export async function requestOf(
  script: ScriptedTransport,
  action: () => unknown,
  ...answer: string[]
): Promise<Exchange> {
  let exchange!: Exchange;
  await act(async () => {
    void action();
    exchange = await script.next();
    await settle();
  });
  if (answer.length > 0) await act(() => exchange.say(...answer));
  return exchange;
}
