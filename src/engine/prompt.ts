import { ContextError, reasonOf, refuseToLoad } from '../errors.ts';
import { hasLazy } from '../fragment/copy.ts';
import type { ContextFragment } from '../fragment/fragment.ts';
import type { ContextRenderer } from '../render/renderer.ts';

/** The fragments with their lazy values loaded. */
export async function loadedFragments(
  fragments: readonly ContextFragment[],
  signal: AbortSignal | undefined,
): Promise<readonly ContextFragment[]> {
  if (!fragments.some(hasLazy)) return fragments;
  const { loadFragments } = await import('../fragment/loader.ts').catch(refuseToLoad);
  return loadFragments(fragments, signal ? { signal } : {});
}

/** The fragments as text. Throws `invalid-options` where the renderer returns no text. */
export function renderedBy(renderer: ContextRenderer, fragments: readonly ContextFragment[]): string {
  const text: unknown = renderer.render(fragments);
  if (typeof text === 'string') return text;
  const message = `The renderer "${renderer.name}" gave no text: ${reasonOf(text)}.`;
  throw new ContextError('invalid-options', message);
}
