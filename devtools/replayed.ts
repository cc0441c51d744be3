import type { UIMessage, UIMessageChunk } from 'ai';
import type { RecordedRequest } from './requests.ts';

type MessagePart = UIMessage['parts'][number];

/** A growing part, by the id of its chunks. */
type Growing = Record<string, unknown> & { readonly type: string };

/** The parts of an answer after so many of its chunks. Only reads them: no tool is run, and nothing is saved. */
export function partsAfter(chunks: RecordedRequest['chunks'], length: number): readonly MessagePart[] {
  const parts: Growing[] = [];
  const open = new Map<string, Growing>();
  for (const { chunk } of chunks.slice(0, length)) take(chunk, parts, open);
  return parts as unknown as readonly MessagePart[];
}

/** Chunks that are no parts: where something begins and ends, and what comes whole later. */
const BOUNDS = /^(start|finish|abort|message-)|-end$|-input-delta$/;
const WORDS = /^(text|reasoning)-(start|delta)$/;
const TOOL = /^tool-(input-(start|available)|output-(available|error))$/;

function take(chunk: UIMessageChunk, parts: Growing[], open: Map<string, Growing>): void {
  const begin = (name: string, part: Growing): Growing => {
    parts.push(part);
    open.set(name, part);
    return part;
  };
  const { type, id, delta, toolCallId, toolName, ...rest } = chunk as Partial<Record<string, string>> &
    Growing;
  const [, kind, phase] = WORDS.exec(type) ?? [];
  const name = `${kind ?? 'call'} ${id ?? toolCallId}`;
  const known = open.get(name);
  if (phase === 'start') begin(name, { type: kind ?? '', text: '' });
  else if (kind !== undefined) Object.assign(known ?? {}, { text: `${String(known?.['text'])}${delta}` });
  else if (TOOL.test(type))
    Object.assign(known ?? begin(name, { type: `tool-${toolName}`, toolCallId }), rest, {
      state: type === 'tool-input-start' ? 'input-streaming' : type.replace('tool-', ''),
    });
  else if (!BOUNDS.test(type)) parts.push(chunk);
}
