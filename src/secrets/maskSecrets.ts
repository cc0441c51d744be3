import { refuseToLoad } from '../errors.ts';

/**
 * A copy of a value, such as a snapshot of `inspect()`, for sharing: API keys, tokens, passwords, cookies and private
 * keys in its texts are replaced by placeholders such as `[OpenAI key 3fa9c1]`, and files in `data:` URLs are shortened. The
 * same secret has the same placeholder everywhere. Structure and keys stay. Takes time in proportion to the texts, in slices
 * that let the page go on. A secret that no pattern knows stays: read what you publish.
 */
export async function maskSecrets<T>(value: T): Promise<T> {
  const { maskInSlices } = await import('./mask.ts').catch(refuseToLoad);
  return (await maskInSlices(value)) as T;
}
