import type { UIMessage } from 'ai';
import { useEngineState } from 'contextree';
import type { ReactNode } from 'react';
import { Parts } from './Parts.tsx';

/** What another tab is writing on this branch, as it grows: to be read, and to be used when it is whole. */
export function Elsewhere({ shown }: { readonly shown: readonly UIMessage[] }): ReactNode {
  const elsewhere = useEngineState((state) => state.elsewhere);
  return elsewhere
    .filter(({ id }) => !shown.some((message) => message.id === id))
    .map((message) => (
      <article
        key={message.id}
        className="message"
        aria-label={message.role === 'user' ? 'You' : 'Assistant'}
        aria-busy={message.role === 'assistant' || undefined}
        data-role={message.role}
      >
        <div className="message-body">
          <Parts message={message} isLast={false} />
        </div>
      </article>
    ));
}

/** These messages, with what another tab has added to one that it goes on with. */
export function useGrown(messages: readonly UIMessage[]): readonly UIMessage[] {
  const elsewhere = useEngineState((state) => state.elsewhere);
  if (elsewhere.length === 0) return messages;
  return messages.map((message) => elsewhere.find(({ id }) => id === message.id) ?? message);
}
