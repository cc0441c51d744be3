import type { ViewProps } from './view.ts';
import { branchAt } from './branching.ts';
import { textOf } from './messageText.ts';
import { readMessage } from './readMessage.ts';

/** What single keys do with the current message of the list; resolves when it is done, rejects with the reason of a failure. */
export const graphKeys: Readonly<Record<string, (props: ViewProps, at: string, shownIn: Window) => unknown>> =
  {
    b: ({ engine, state }, at) => branchAt(engine, state, at),
    d: ({ sight, onLook, onOpen }, at) => {
      if (sight.against === undefined) onLook({ against: at });
      else if (sight.against === at) onLook({ against: undefined });
      else onOpen('Compare', { node: at });
    },
    h: ({ state, onLook }) => state.headKey !== undefined && onLook({ node: state.headKey }),
    u: ({ engine }) => engine.undo(),
    y: async ({ engine }, at, { navigator }) => {
      const { clipboard } = navigator as Partial<Navigator>;
      if (!clipboard) throw new Error('This page may not write to the clipboard.');
      const message = await readMessage({ engine, messageKey: at });
      await clipboard.writeText(message ? textOf(message) : '');
    },
  };
