import type { UIMessage } from 'ai';
import type { RecordedRequest } from './requests.ts';

type MessagePart = UIMessage['parts'][number];

/** A growing part, by the id of its chunks. */
interface Growing {
  readonly type: string;
  readonly toolCallId?: string;
  text?: string | undefined;
}

/**
 * The parts of an answer after so many of its chunks; an answer that went on begins with what it had said. Only reads them: no
 * tool is run, and nothing is saved. The state of a call is what its last chunk says of it.
 */
export function partsAfter(
  { chunks, messages }: Pick<RecordedRequest, 'chunks' | 'messages'>,
  length: number,
): readonly MessagePart[] {
  const said = messages.at(-1);
  const parts = new Set<Growing>();
  const open = new Map<unknown, Growing>();
  const grow = (name: unknown, part: Growing): void => {
    parts.add(part);
    open.set(name, part);
  };
  if (said?.role === 'assistant')
    for (const part of said.parts as readonly Growing[]) grow(part?.toolCallId, { ...part });
  for (const { chunk } of chunks.slice(0, length)) {
    const { type, id, delta, toolCallId, toolName, ...rest } = chunk as Partial<Record<string, string>> &
      Growing;
    const [, kind, phase] = WORDS.exec(type) ?? [];
    const name = toolCallId ?? `${kind ?? type} ${id}`;
    const known = open.get(name);
    if (phase === 'delta' && known) known.text = `${known.text}${delta}`;
    else if (kind !== undefined) grow(name, { type: kind, text: delta ?? '' });
    else if (BOUNDS.test(type)) continue;
    else if (toolCallId === undefined) grow(name, Object.assign((id && known) || {}, chunk));
    else
      grow(
        name,
        Object.assign(known ?? { type: `tool-${toolName}`, toolCallId }, rest, {
          state: type.slice('tool-'.length),
        }),
      );
  }
  return [...parts] as unknown as readonly MessagePart[];
}

/** Chunks that are no parts: where something begins and ends, why it failed, and what comes whole later. */
const BOUNDS = /^(start|finish|abort|error|message-)|-end$|-input-delta$|-response$/;
const WORDS = /^(text|reasoning)-(start|delta)$/;
