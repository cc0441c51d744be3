import type { ContextEngine } from 'contextree';
import { useEffect } from 'react';
import { useTools } from './Dressed.tsx';

/** Records an engine's requests, and logs its events for the view Log, while mounted. */
export function useRecording(engine: ContextEngine): void {
  const tools = useTools();
  useEffect(() => tools?.logOf(engine).listen(), [tools, engine]);
  useEffect(() => engine.record(), [engine]);
}
