import type { ContextEngine, NodeInfo } from 'contextree';

/** A message and those before it, from the last one back, at most `most` of them; none without a key. */
export function chainOf(
  engine: ContextEngine,
  key: string | null | undefined,
  most: number = Infinity,
): readonly NodeInfo[] {
  const chain: NodeInfo[] = [];
  for (let at = engine.node(key ?? ''); at && chain.length < most; at = engine.node(at.parentKey ?? ''))
    chain.push(at);
  return chain;
}
