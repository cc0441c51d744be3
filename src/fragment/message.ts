import type { UIMessage } from 'ai';
import { copyOf, refuse, walkWith } from '../copy.ts';
import { ContextError, isRecord, reasonOf } from '../errors.ts';
import { foldInto, type FoldingFragment } from './fold.ts';
import { brand, FOLD, isFragment, isLazyFragment, isMessageFragment, LAZY_ID } from './fragment.ts';
import type { ContextFragment, LazyFragment } from './fragment.ts';
import { createId } from './id.ts';

/**
 * Messages as fragments, and the one check that every message passes: it has an id, a role and parts, and is JSON, because that
 * is what it is stored and sent as. Part types and keys that we don't know are kept as they are.
 */

/** The depth is more than any tool output seen; a store writes the body with JSON.stringify, which recurses as we do. */
const RULES = { code: 'invalid-messages', maxDepth: 512, json: true } as const;

/** Options of a message, beside its content. */
export interface MessageOptions {
  /** Default: the message's own id, or a new one. */
  readonly id?: string | undefined;
  /** The message's metadata, stored with it. */
  readonly metadata?: unknown;
}

/**
 * A user message. From a `UIMessage`, it is copied and its role becomes `user`.
 *
 * Reminders go with this message alone, beside those of the prompt: `user('Deploy it', reminder('Ask first.'))`.
 */
export function user(
  content: string | UIMessage,
  ...rest: readonly (MessageOptions | FoldingFragment)[]
): ContextFragment {
  return walkWith(RULES, 'user()', () => {
    const reminders = rest.filter((one): one is FoldingFragment => isRecord(one) && FOLD in one);
    const options = rest.find((one) => isRecord(one) && !(FOLD in one));
    const made = fragmentOf(messageFrom('user', content, options ?? {}));
    if (reminders.length === 0) return made;
    const fold: FoldingFragment[typeof FOLD] = (said, context) => foldInto(said, reminders, context);
    return Object.assign(made, { [FOLD]: fold });
  });
}

/** An assistant message. From a `UIMessage`, it is copied and its role becomes `assistant`. */
export function assistant(
  content: string | UIMessage,
  options: Pick<MessageOptions, 'id'> = {},
): ContextFragment {
  return walkWith(RULES, 'assistant()', () => fragmentOf(messageFrom('assistant', content, options)));
}

/** An assistant message with this text. */
export function assistantText(text: string, options: Pick<MessageOptions, 'id'> = {}): ContextFragment {
  return assistant(text, options);
}

/** A message in its own role; a text is a user message. */
export function message(content: string | UIMessage): ContextFragment {
  return typeof content === 'string' ? user(content) : fragmentOf(normaliseMessage(content));
}

/** Replaces the text of the branch's latest assistant message at `resolve()` and `save()`. Throws `invalid-messages` for no text. */
export function lastAssistantMessage(text: string): LazyFragment {
  if (typeof text !== 'string') refuseContent('lastAssistantMessage() takes a text', text);
  return brand({
    name: 'assistant',
    type: 'message',
    persist: true,
    data: text,
    [LAZY_ID]: { type: 'last-assistant', content: text },
  });
}

/** The message as a fragment; a message fragment is returned as it is. */
export function toMessageFragment(value: UIMessage | ContextFragment): ContextFragment {
  const isMade = walkWith(RULES, 'Message', () => isFragment(value) && isMessageFragment(value));
  return isMade ? (value as ContextFragment) : message(value as UIMessage);
}

/**
 * The message that a fragment stands for, copied and checked. A fragment's own id wins over its message's.
 *
 * Asks the codec to encode; to decode only where it cannot encode.
 * @throws invalid-messages, naming the path, where there is no codec or what it gives is no message.
 */
export function messageOf(fragment: ContextFragment): UIMessage {
  const { codec, id, name } = fragment;
  if (!codec || isLazyFragment(fragment)) {
    const message = `Fragment "${reasonOf(name)}" is missing codec. Make messages with user(), assistant() or message().`;
    throw new ContextError('invalid-messages', message, { details: { fragment: name } });
  }
  const subject = `Message "${reasonOf(id ?? name)}"`;
  const encoded = walkWith(RULES, subject, (): unknown =>
    typeof codec.encode === 'function' ? codec.encode() : codec.decode(),
  );
  const content = normaliseMessage(encoded, subject);
  return id === undefined || id === content.id ? content : { ...content, id };
}

/**
 * Checks that a value is a message and holds only what JSON can hold. Unknown keys and part types pass.
 * @returns the same object
 * @throws invalid-messages, naming the path: `parts[0].input.callback`
 */
export function checkMessage(value: unknown): UIMessage {
  normaliseMessage(value);
  return value as UIMessage;
}

/**
 * The message as storage gives it back: a copy in which dates are texts, undefined keys are gone, NaN and holes in
 * lists are null. What JSON would lose without a word (functions, maps, errors, binary data) is refused.
 * @param subject how an error begins
 * @throws invalid-messages, naming the path
 */
export function normaliseMessage(value: unknown, subject = 'Message'): UIMessage {
  return checkStoredMessage(copyOf(value, subject, RULES), subject);
}

/**
 * The structural half of {@link checkMessage}, for values that came out of JSON: no copy, no walk into parts.
 * @returns the same object
 * @throws invalid-messages, naming the path
 */
export function checkStoredMessage(value: unknown, subject = 'Message'): UIMessage {
  return walkWith(RULES, subject, (walk) => {
    const expect = (holds: boolean, what: string, ...path: (string | number)[]): void => {
      if (holds) return;
      walk.path.push(...path);
      refuse(walk, `must be ${what}`);
    };
    const { id, role, parts } = Object(value) as Fields;
    expect(isRecord(value), 'a message: an object with id, role and parts');
    expect(isWord(id), WORD, 'id');
    expect(role === 'user' || role === 'assistant' || role === 'system', 'user, assistant or system', 'role');
    expect(Array.isArray(parts), 'a list', 'parts');
    for (const [i, part] of (parts as unknown[]).entries()) {
      expect(isRecord(part), 'an object', 'parts', i);
      const fields = part as Fields;
      expect(isWord(fields.type), WORD, 'parts', i, 'type');
      for (const key of textsOf(fields.type as string))
        expect(typeof fields[key] === 'string', 'a text', 'parts', i, key);
    }
    return value as UIMessage;
  });
}

type Fields = Readonly<Record<string, unknown>>;

const WORD = 'a text that is not empty';

function isWord(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

/** The texts that a part cannot do without, for the part types that we read ourselves. */
function textsOf(type: string): readonly string[] {
  if (type === 'text' || type === 'reasoning') return ['text'];
  if (type === 'file') return ['mediaType', 'url'];
  if (type === 'dynamic-tool') return ['toolName', 'toolCallId', 'state'];
  return type.startsWith('tool-') ? ['toolCallId', 'state'] : [];
}

function messageFrom(role: 'user' | 'assistant', content: string | UIMessage, options: MessageOptions) {
  const { id, metadata } = options;
  const isText = typeof content === 'string';
  const base: unknown = isText ? { id: createId(), parts: [{ type: 'text', text: content }] } : content;
  if (!isRecord(base)) refuseContent(`${role}() takes a text or a UIMessage`, content);
  const given = { ...(id !== undefined && { id }), ...(metadata !== undefined && { metadata }) };
  return normaliseMessage({ ...base, role, ...given }, `${role}()`);
}

function refuseContent(what: string, content: unknown): never {
  const kind = content === null ? 'null' : typeof content;
  throw new ContextError('invalid-messages', `${what}, not ${kind}.`);
}

function fragmentOf(content: UIMessage): ContextFragment {
  const own = (): UIMessage => content;
  return brand({
    id: content.id,
    name: content.role,
    type: 'message',
    persist: true,
    codec: { encode: own, decode: own },
  });
}
