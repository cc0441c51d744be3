import { webcrypto } from 'node:crypto';
import type { UIMessage } from 'ai';
import { validateUIMessages } from 'ai';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { isContextError } from '../../src/errors.ts';
import { createId } from '../../src/fragment/id.ts';
import {
  assistant,
  assistantText,
  checkMessage,
  lastAssistantMessage,
  message,
  messageOf,
  normaliseMessage,
  user,
} from '../../src/fragment/message.ts';
import { campaign } from '../support/campaign.ts';

const uuid = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

const toolTurn: UIMessage = {
  id: 'a1',
  role: 'assistant',
  metadata: { model: 'm', usage: { totalTokens: 3 } },
  parts: [
    { type: 'step-start' },
    { type: 'reasoning', text: 'hm', state: 'done' },
    { type: 'tool-rollDice', toolCallId: 't1', state: 'output-available', input: { sides: 6 }, output: [4] },
    { type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,AA==' },
    { type: 'text', text: 'A four.' },
  ] as UIMessage['parts'],
};

describe('the message builders', () => {
  test('make messages of texts', () => {
    expect(messageOf(user('Hello', { id: 'q1' }))).toEqual({
      id: 'q1',
      role: 'user',
      parts: [{ type: 'text', text: 'Hello' }],
    });
    expect(messageOf(assistant('Hi', { id: 'a1' }))).toEqual(messageOf(assistantText('Hi', { id: 'a1' })));
    expect(messageOf(message('Hello')).role).toBe('user');
    expect(messageOf(user('Hello')).id).toMatch(uuid);
  });

  test('make fragments that carry the id, the role as name, and a codec, and no data', () => {
    const made = user('Hello', { id: 'q1' });
    expect(made).toMatchObject({ id: 'q1', name: 'user', type: 'message', persist: true });
    expect('data' in made).toBe(false);
    expect(made.codec?.encode()).toBe(made.codec?.decode());
  });

  test('copy a UIMessage and give it the role', () => {
    const own: UIMessage = { id: 'x', role: 'system', parts: [{ type: 'text', text: 't' }] };
    expect(messageOf(user(own)).role).toBe('user');
    expect(messageOf(assistant(own)).role).toBe('assistant');
    expect(messageOf(message(own)).role).toBe('system');
    expect(own.role).toBe('system');
    const made = message(own);
    (own.parts[0] as { text: string }).text = 'changed later';
    expect(messageOf(made).parts).toEqual([{ type: 'text', text: 't' }]);
  });

  test('take an id and metadata for the message', () => {
    expect(messageOf(user('Hello', { id: 'q1', metadata: { at: 1 } }))).toMatchObject({
      id: 'q1',
      metadata: { at: 1 },
    });
    expect(messageOf(assistant(toolTurn, { id: 'a2' }))).toEqual({ ...toolTurn, id: 'a2' });
  });

  test('refuse what is neither text nor message', () => {
    expect(() => user(undefined as never)).toThrow('user() takes a text or a UIMessage, not undefined.');
    expect(() => assistant(5 as never)).toThrow(expect.objectContaining({ code: 'invalid-messages' }));
    expect(() => message({ id: 'x' } as never)).toThrow('role must be user, assistant or system');
  });
});

const gone = (): never => {
  throw new Error('gone');
};

describe('messageOf()', () => {
  const stored: UIMessage = { id: 'm', role: 'user', parts: [] };
  const made = { name: 'user', type: 'message' } as const;

  test('gives the message the id of its fragment, so that row and message agree', () => {
    const codec = { encode: () => stored, decode: () => stored };
    expect(messageOf({ ...made, id: 'row', codec }).id).toBe('row');
    expect(stored.id).toBe('m');
  });

  test.each([5, null, undefined, {}])('lastAssistantMessage(%j) is refused: it would be lost', (text) => {
    expect(() => lastAssistantMessage(text as never)).toThrow(
      expect.objectContaining({ code: 'invalid-messages', message: expect.stringContaining('takes a text') }),
    );
  });

  test('refuses a fragment without a codec, and a lazy one', () => {
    expect(() => messageOf({ ...made, data: 'content' })).toThrow('Fragment "user" is missing codec.');
    expect(() => messageOf(lastAssistantMessage('x'))).toThrow(
      expect.objectContaining({ code: 'invalid-messages' }),
    );
  });

  test('refuses what a codec makes of it, naming the path', () => {
    const of = (encode: () => unknown) => () =>
      messageOf({ ...made, id: 'q1', codec: { encode, decode: encode } });
    expect(of(() => 'text')).toThrow('Message "q1": it must be a message');
    expect(of(() => ({ ...stored, parts: [{ type: 'text' }] }))).toThrow(
      'Message "q1": parts[0].text must be a text',
    );
    expect(of(gone)).toThrow('Message "q1": it cannot be read: gone');
  });
});

describe('checkMessage()', () => {
  const withPart = (part: unknown): unknown => ({
    id: 'x',
    role: 'user',
    parts: [{ type: 'text', text: 'ok' }, part],
  });
  const loop: Record<string, unknown> = { type: 'data-x' };
  loop.data = { back: loop };

  test.each<[unknown, string]>([
    [null, 'it must be a message'],
    ['text', 'it must be a message'],
    [[], 'it must be a message'],
    [{ role: 'user', parts: [] }, 'id must be a text'],
    [{ id: '', role: 'user', parts: [] }, 'id must be a text'],
    [{ id: 'x', role: 'tool', parts: [] }, 'role must be user'],
    [{ id: 'x', role: 'user' }, 'parts must be a list'],
    [{ id: 'x', role: 'user', content: 'text', parts: 'text' }, 'parts must be a list'],
    [withPart(null), 'parts[1] must be an object'],
    [withPart({ text: 'x' }), 'parts[1].type must be a text'],
    [withPart({ type: 'text', text: 5 }), 'parts[1].text must be a text'],
    [withPart({ type: 'file', mediaType: 'a/b' }), 'parts[1].url must be a text'],
    [withPart({ type: 'tool-x', state: 'input-available' }), 'parts[1].toolCallId must be a text'],
    [withPart({ type: 'dynamic-tool', toolCallId: 't', state: 's' }), 'parts[1].toolName must be a text'],
    [
      withPart({ type: 'tool-x', toolCallId: 't', state: 's', input: { callback: () => 1 } }),
      'parts[1].input.callback is of type function',
    ],
    [
      withPart({ type: 'data-x', data: { 'odd key': [Symbol('s')] } }),
      'parts[1].data["odd key"][0] is of type symbol',
    ],
    [withPart({ type: 'data-x', data: 1n }), 'parts[1].data is of type bigint'],
    [withPart({ type: 'data-x', data: new Map() }), 'parts[1].data is of type Map'],
    [withPart({ type: 'data-x', data: new Uint8Array(2) }), 'parts[1].data is of type Uint8Array'],
    [withPart({ type: 'data-x', data: new Error('x') }), 'parts[1].data is of type Error'],
    [withPart({ type: 'data-x', data: Promise.resolve() }), 'parts[1].data is of type Promise'],
    [
      withPart(Object.defineProperty({ type: 'data-x' }, 'data', { get: gone, enumerable: true })),
      'parts[1].data cannot be read: gone',
    ],
    [withPart(loop), 'parts[1].data.back is circular'],
  ])('refuses this: %#', (value, text) => {
    expect(() => checkMessage(value)).toThrow(
      expect.objectContaining({ code: 'invalid-messages', message: expect.stringContaining(text) as string }),
    );
  });

  test('takes what the AI SDK takes', async () => {
    expect(checkMessage(toolTurn)).toBe(toolTurn);
    await expect(validateUIMessages({ messages: [toolTurn] })).resolves.toHaveLength(1);
  });

  test('takes a tool output of 300 levels and 100,000 values', () => {
    let deep: unknown = 1;
    for (let i = 0; i < 300; i++) deep = [deep];
    const wide = Array.from({ length: 100_000 }, (_, i) => i);
    expect(() => checkMessage(withPart({ type: 'data-x', data: { deep, wide } }))).not.toThrow();
  });
});

function storedOrRefused(given: unknown): string {
  try {
    return JSON.stringify(normaliseMessage(given));
  } catch (error) {
    return isContextError(error, 'invalid-messages') ? 'refused' : `thrown: ${String(error)}`;
  }
}

describe('normaliseMessage()', () => {
  test('gives what storage gives back', () => {
    const at = new Date(0);
    const given = {
      id: 'x',
      role: 'user',
      metadata: { at, gone: undefined, list: [undefined, NaN, -Infinity] },
      parts: [],
    };
    const copy = normaliseMessage(given);
    expect(copy).toEqual(JSON.parse(JSON.stringify(given)));
    expect('gone' in (copy.metadata as object)).toBe(false);
    expect(given.metadata.at).toBe(at);
  });

  test('is the same as a trip through JSON, or a typed error', () => {
    const kinds = { withDate: true, withMap: true, withBigInt: true, withSparseArray: true };
    const data = fc.anything({ ...kinds, withNullPrototype: true, maxDepth: 4 });
    fc.assert(
      fc.property(data, (metadata) => {
        const given = { id: 'x', role: 'user', metadata, parts: [] };
        const kept = storedOrRefused(given);
        expect(kept === 'refused' || kept === JSON.stringify(given)).toBe(true);
      }),
      campaign(500),
    );
  });

  test('keeps a key __proto__ as a key', () => {
    const copy = normaliseMessage(
      JSON.parse('{"id":"x","role":"user","parts":[],"metadata":{"__proto__":{"polluted":1}}}'),
    );
    expect(JSON.stringify(copy.metadata)).toBe('{"__proto__":{"polluted":1}}');
    expect('polluted' in {}).toBe(false);
  });
});

describe('createId()', () => {
  test('gives UUIDs, also where randomUUID is missing', () => {
    const ids = Array.from({ length: 100 }, () => createId());
    vi.stubGlobal('crypto', {
      getRandomValues: (bytes: Uint8Array<ArrayBuffer>) => webcrypto.getRandomValues(bytes),
    });
    ids.push(...Array.from({ length: 100 }, () => createId()));
    vi.unstubAllGlobals();
    expect(new Set(ids).size).toBe(200);
    for (const id of ids) expect(id).toMatch(uuid);
  });
});
