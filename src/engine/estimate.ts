import type { ContextFragment } from '../fragment/fragment.ts';
import type { ContextRenderer } from '../render/renderer.ts';
import type { EstimateResult } from '../tokens/estimate.ts';
import { refuseToLoad } from '../errors.ts';

/**
 * The size of fragments for a model, in tokens and US dollars, without an engine: rendered together, and each alone. Messages
 * among them count as messages. Lazy values are loaded. Uses no network; for an unknown model costs are null.
 *
 * @throws invalid-fragment or invalid-messages, naming the path, for a value that can't be read, loaded or rendered
 */
export async function estimate(
  modelId: string,
  renderer: ContextRenderer,
  ...fragments: ContextFragment[]
): Promise<EstimateResult> {
  const { estimateSubject } = await import('./inspect.ts').catch(refuseToLoad);
  const nothing = { fragments: [], renderer, messages: [], chatMetadata: undefined };
  return estimateSubject(nothing, { modelId, fragments });
}
