import type { UIMessage } from 'ai';
import type { ContextFragment } from '../fragment/fragment.ts';
import type { RecordedRequest } from './record.ts';

/**
 * A prompt as a provider's cache sees it: a row of sections, of which the cache keeps the longest beginning that it has read
 * before. Tools come first, then the system prompt, fragment by fragment, then the messages.
 */

/** One section. Two are equal when `kind` and `text` are. */
export interface Section {
  readonly kind: 'tool' | 'fragment' | 'message';
  /** A tool's name, a fragment's id or name, a message's id. */
  readonly id: string;
  /** What the model reads: a tool as JSON, a fragment as rendered, a message's role and parts as JSON. */
  readonly text: string;
  /** The fragment, for a section that is one. */
  readonly fragment?: ContextFragment;
}

/** All sections of a request. */
export function sectionsOf(request: RecordedRequest): readonly Section[] {
  return [...toolSections(request), ...systemSections(request), ...request.messages.map(messageSection)];
}

/** The sections of the tools; none where they were not reported. */
export function toolSections({ told }: RecordedRequest): readonly Section[] {
  return Object.entries(told.tools ?? {}).map(([id, tool]) => {
    const { description, inputSchema } = Object(tool) as { description?: unknown; inputSchema?: unknown };
    return { kind: 'tool', id, text: jsonOf([id, description, schemaOf(inputSchema)]) };
  });
}

/** A JSON schema: itself, from the AI SDK's `jsonSchema()`, or the definition inside of a library's schema. */
function schemaOf(schema: unknown): unknown {
  const { jsonSchema, _zod, _def } = Object(schema) as Record<string, unknown>;
  return jsonSchema ?? Object(_zod).def ?? _def ?? schema;
}

/** The sections of the system prompt. Text between fragments belongs to none; a prompt without spans is one section. */
export function systemSections({ system, spans }: RecordedRequest): readonly Section[] {
  if (system === '') return [];
  const places = spans.filter(({ start }, i) => start !== spans[i - 1]?.start);
  const own = places.map(({ fragment, start }, i): Section => {
    const text = system.slice(start, places[i + 1]?.start ?? system.length).trimEnd();
    return { kind: 'fragment', id: fragment.id ?? fragment.name, text, fragment };
  });
  const before = system.slice(0, places[0]?.start);
  return before === '' ? own : [{ kind: 'fragment', id: 'system', text: before }, ...own];
}

/** The section of a message. Its text is written on demand, which is seldom in a long chat. */
export function messageSection(message: UIMessage): Section {
  return {
    kind: 'message',
    id: message.id,
    get text() {
      return jsonOf([message.role, message.parts]);
    },
  };
}

/** Whether a provider's cache would take one section for the other. */
export function isSame(a: Section | undefined, b: Section | undefined): boolean {
  return a !== undefined && a.kind === b?.kind && a.text === b.text;
}

/** The value as JSON, or the reason why it can't be: schemas may be circular. */
export function jsonOf(value: unknown): string {
  const trail = new Set<unknown>();
  try {
    return JSON.stringify(value, (_key, item: unknown) => {
      if (typeof item === 'function' || typeof item === 'bigint') return String(item);
      if (typeof item !== 'object' || item === null) return item;
      if (trail.has(item)) return '[again]';
      if (trail.size > 5_000) return '[more]';
      trail.add(item);
      return item;
    });
  } catch (error) {
    return String(error);
  }
}
