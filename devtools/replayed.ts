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

function take(chunk: UIMessageChunk, parts: Growing[], open: Map<string, Growing>): void {
  const begin = (name: string, part: Growing): Growing => {
    parts.push(part);
    open.set(name, part);
    return part;
  };
  const call = (id: string, tool: string): Growing =>
    open.get(`call ${id}`) ?? begin(`call ${id}`, { type: `tool-${tool}`, toolCallId: id });
  switch (chunk.type) {
    case 'text-start':
    case 'reasoning-start':
      begin(chunk.type.replace('start', chunk.id), { type: chunk.type.replace('-start', ''), text: '' });
      return;
    case 'text-delta':
    case 'reasoning-delta': {
      const part = open.get(chunk.type.replace('delta', chunk.id));
      if (part) part['text'] = String(part['text']) + chunk.delta;
      return;
    }
    case 'tool-input-start':
      call(chunk.toolCallId, chunk.toolName)['state'] = 'input-streaming';
      return;
    case 'tool-input-available':
      Object.assign(call(chunk.toolCallId, chunk.toolName), { state: 'input-available', input: chunk.input });
      return;
    case 'tool-output-available':
      Object.assign(call(chunk.toolCallId, ''), { state: 'output-available', output: chunk.output });
      return;
    case 'tool-output-error':
      Object.assign(call(chunk.toolCallId, ''), { state: 'output-error', errorText: chunk.errorText });
      return;
    case 'error':
      parts.push({ type: 'error', errorText: chunk.errorText });
      return;
    default:
      if (!BOUNDS.test(chunk.type)) parts.push(chunk);
  }
}
