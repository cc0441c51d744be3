import type { UIMessageChunk } from 'ai';
import type { RecordedRequest, TimedChunk } from './record.ts';

/**
 * What of a record may be shown, copied or exported, secrets masked by `mask`. A key that comes word by word stands in
 * none of its chunks: so the words of a part are looked at together, and where there is a secret in them, its first chunk
 * says all of them, masked.
 */
export async function maskedRequest(record: RecordedRequest, mask: Mask): Promise<RecordedRequest> {
  const { chunks, spans, sections: _sections, masked: _masked, ...rest } = record;
  const masked = await mask(rest);
  const isSame = masked.system === record.system;
  const own = await maskedChunks(chunks, mask);
  const shown: RecordedRequest = {
    ...masked,
    spans: isSame ? spans : [],
    chunks: own,
    sections: [],
    masked: () => Promise.resolve(shown),
  };
  return shown;
}

/** Gives a copy in which secrets are masked. */
export type Mask = <T>(value: T) => Promise<T>;

async function maskedChunks(chunks: readonly TimedChunk[], mask: Mask): Promise<readonly TimedChunk[]> {
  const whole = new Map<string, string>();
  for (const { chunk } of chunks) {
    const delta = deltaOf(chunk);
    if (delta) whole.set(delta.part, (whole.get(delta.part) ?? '') + delta.text);
  }
  const secret = new Map<string, string>();
  const masked = await mask([...whole.values()]);
  for (const [i, [part, text]] of [...whole].entries()) {
    const words = masked[i] ?? '';
    if (words !== text) secret.set(part, words);
  }
  // What comes in one piece is looked at together, too: masking costs by the call.
  const others = await mask(chunks.map(({ chunk }) => (deltaOf(chunk) ? null : chunk)));
  return chunks.map(({ ms, chunk }, i) => {
    const delta = deltaOf(chunk);
    if (!delta) return { ms, chunk: others[i] ?? chunk };
    const words = secret.get(delta.part);
    if (words === undefined) return { ms, chunk };
    secret.set(delta.part, '');
    return { ms, chunk: { ...chunk, [delta.field]: words } };
  });
}

/** What a chunk adds to a part that comes piece by piece. */
function deltaOf(
  chunk: UIMessageChunk,
): { readonly part: string; readonly field: string; readonly text: string } | undefined {
  if (chunk.type === 'text-delta' || chunk.type === 'reasoning-delta')
    return { part: `${chunk.type} ${chunk.id}`, field: 'delta', text: chunk.delta };
  if (chunk.type === 'tool-input-delta')
    return { part: `${chunk.type} ${chunk.toolCallId}`, field: 'inputTextDelta', text: chunk.inputTextDelta };
  return undefined;
}
