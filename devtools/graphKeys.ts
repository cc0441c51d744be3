import type { ViewProps } from './view.ts';
import { branchAt } from './branching.ts';
import { writeClipboard } from './Copy.tsx';
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
      const message = await readMessage({ engine, messageKey: at });
      await writeClipboard(navigator, () => (message ? textOf(message) : ''));
    },
  };
