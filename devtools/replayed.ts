import type { UIMessage, UIMessageChunk } from 'ai';
import type { RecordedRequest } from './requests.ts';

type MessagePart = UIMessage['parts'][number];

/** A growing part, by the id of its chunks. */
type Growing = Record<string, unknown> & { readonly type: string };

/**
 * The parts of an answer after so many of its chunks. Only reads them: no tool is run, and nothing is saved. A continued answer
 * begins with the calls that its chunks end.
 */
export function partsAfter(
  { chunks, messages }: Pick<RecordedRequest, 'chunks' | 'messages'>,
  length: number,
): readonly MessagePart[] {
  const parts = new Set<Growing>();
  const open = new Map<string, Growing>();
  for (const part of (messages.at(-1)?.parts ?? []) as readonly Growing[])
    open.set(`call ${String(part?.['toolCallId'])}`, { ...part });
  for (const { chunk } of chunks.slice(0, length)) take(chunk, parts, open);
  return [...parts] as unknown as readonly MessagePart[];
}

/** Chunks that are no parts: where something begins and ends, why it failed, and what comes whole later. */
const BOUNDS = /^(start|finish|abort|error|message-)|-end$|-input-delta$/;
const WORDS = /^(text|reasoning)-(start|delta)$/;
const TOOL = /^tool-(?!input-delta)/;

/** The states of a call whose names are not those of its chunks. */
const STATES: Readonly<Record<string, string>> = {
  'input-start': 'input-streaming',
  'input-error': 'output-error',
  'approval-request': 'approval-requested',
  'approval-response': 'approval-responded',
};

function take(chunk: UIMessageChunk, parts: Set<Growing>, open: Map<string, Growing>): void {
  const { type, id, delta, toolCallId, toolName, approvalId, ...rest } = chunk as Partial<
    Record<string, string>
  > &
    Growing;
  const [, kind, phase] = WORDS.exec(type) ?? [];
  const isTool = TOOL.test(type);
  const of = `${kind ?? (isTool ? 'call' : type)} `;
  const name = of + (id ?? toolCallId ?? approvalId);
  const known = open.get(name);
  const grow = (part: Growing): void => {
    parts.add(part);
    open.set(name, part);
    // The answer to a question for approval names the question alone.
    if (approvalId) open.set(of + approvalId, part);
  };
  if (phase === 'start') grow({ type: kind ?? '', text: '' });
  else if (kind !== undefined) Object.assign(known ?? {}, { text: `${String(known?.['text'])}${delta}` });
  else if (isTool) {
    const state = type.replace('tool-', '');
    const facts = approvalId ? { approval: rest } : rest;
    grow(
      Object.assign(known ?? { type: `tool-${toolName}`, toolCallId }, facts, {
        state: STATES[state] ?? state,
      }),
    );
  } else if (!BOUNDS.test(type)) grow(Object.assign((id && known) || {}, chunk));
}
