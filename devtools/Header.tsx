import { Select } from './kit.tsx';
import type { ContextEngine } from 'contextree';
import type { ReactNode } from 'react';

/** Chooses which of several engines is shown. */
export function enginePicker(
  engines: readonly ContextEngine[],
  picked: ContextEngine | undefined,
  onPick: (engine: ContextEngine | undefined) => void,
): ReactNode {
  return (
    <Select
      label="Chat"
      value={String(engines.findIndex((engine) => engine === picked))}
      options={engines.map((engine, i) => [String(i), nameOf(engine)])}
      onChange={(index) => onPick(engines[Number(index)])}
    />
  );
}

/** What a person knows a chat by: its title, else its first words. Its id says nothing, and stands where there are none. */
function nameOf(engine: ContextEngine): string {
  return engine.chat?.title || engine.graph().nodes[0]?.content || engine.chatId;
}
