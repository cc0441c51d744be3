import { BranchPicker } from 'contextree/ai';
import type { ReactNode } from 'react';
import { ActionBarPrimitive, MessagePrimitive, useAuiState } from './looks/assistantUi.tsx';

/** A message in the primitives of assistant-ui, with the versions of every visit. */
export function ThreadMessage(): ReactNode {
  const id = useAuiState(({ message }) => message.id);
  return (
    <MessagePrimitive.Root className="flex flex-col gap-1">
      <MessagePrimitive.Parts />
      <div className="flex items-center gap-2">
        <BranchPicker messageId={id} className="flex items-center gap-1 text-xs" labels={german} />
        <ActionBarPrimitive.Root>
          <ActionBarPrimitive.Reload>Noch einmal</ActionBarPrimitive.Reload>
        </ActionBarPrimitive.Root>
      </div>
    </MessagePrimitive.Root>
  );
}

const german = {
  group: 'Fassungen',
  previous: 'Vorige Fassung',
  next: 'Nächste Fassung',
  position: (version: number, count: number) => `Fassung ${version} von ${count}`,
};
