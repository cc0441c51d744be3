import type { UIMessageChunk } from 'ai';
import type { RecordedRequest, TimedChunk } from './record.ts';

/**
 * A record with secrets masked by `mask`. A key that is streamed word by word is in none of the chunks, so the words of a part
 * are masked together; where there is a secret in them, the part's first chunk gets the whole masked text.
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

/** Returns a copy in which secrets are masked. */
export type Mask = <T>(value: T) => Promise<T>;

async function maskedChunks(chunks: readonly TimedChunk[], mask: Mask): Promise<readonly TimedChunk[]> {
  const whole = new Map<string, string>();
  for (const delta of chunks.flatMap(({ chunk }) => deltaOf(chunk) ?? []))
    whole.set(delta.part, (whole.get(delta.part) ?? '') + delta.text);
  const masked = await mask([...whole.values()]);
  const words = [...whole.keys()].map((part, i) => [part, masked[i] ?? ''] as const);
  const secret = new Map(words.filter(([part, text]) => text !== whole.get(part)));
  // All other chunks are masked together, because each call has a cost.
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

/** The words that a chunk adds to a streamed part. */
function deltaOf(chunk: UIMessageChunk) {
  if (chunk.type === 'text-delta' || chunk.type === 'reasoning-delta')
    return { part: `${chunk.type} ${chunk.id}`, field: 'delta', text: chunk.delta };
  if (chunk.type === 'tool-input-delta')
    return { part: `${chunk.type} ${chunk.toolCallId}`, field: 'inputTextDelta', text: chunk.inputTextDelta };
  return undefined;
}
