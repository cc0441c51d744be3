import { afterEach, describe, expect, test, vi } from 'vitest';
import { findModel, loadModels, registerModel } from '../../src/tokens/models.ts';

afterEach(() => vi.unstubAllGlobals());

const today = (): string => new Date().toISOString().slice(0, 10);

/** What models.dev answers, in small. */
const catalogue = {
  acme: {
    id: 'acme',
    models: {
      'rocket-1': {
        id: 'rocket-1',
        name: 'Rocket 1',
        cost: {
          input: 1.5,
          output: 6,
          cache_read: 0.15,
          cache_write: 2,
          reasoning: 7,
          context_over_200k: { input: 3, output: 9 },
        },
        limit: { context: 200_000, output: 32_000 },
      },
      painter: { id: 'painter', name: 'Painter', limit: { context: 0, output: 0 } },
    },
  },
};

function answers(body: string, status = 200): ReturnType<typeof vi.fn<typeof fetch>> {
  const fetching = vi.fn<typeof fetch>(async () => new Response(body, { status }));
  vi.stubGlobal('fetch', fetching);
  return fetching;
}

describe('a model', () => {
  test('of the table is known, with its day, without a request', async () => {
    const fetching = answers('');
    expect(await findModel('openai:gpt-4o')).toMatchObject({
      context: expect.any(Number),
      prices: { input: expect.any(Number), output: expect.any(Number) },
      asOf: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
    });
    expect(fetching).not.toHaveBeenCalled();
  });

  test.each([
    ['anthropic:claude-sonnet-4-5-20250929', 'anthropic:claude-sonnet-4-5'],
    ['openai:gpt-4o-2024-08-06', 'openai:gpt-4o'],
    ['anthropic:claude-opus-4-5@20251101', 'anthropic:claude-opus-4-5'],
    // As a provider names it in its answer.
    ['claude-sonnet-4-5-20250929', 'anthropic:claude-sonnet-4-5'],
    ['gpt-4o-2024-08-06', 'openai:gpt-4o'],
    ['groq:gpt-oss-20b', 'groq:openai/gpt-oss-20b'],
  ])('named %s is %s', async (id, full) => {
    const model = await findModel(full);
    expect(model?.prices).toMatchObject({ input: expect.any(Number) });
    expect(await findModel(id)).toEqual(model);
  });

  test('with a date is that of the day where it is known, and the app’s own where it told of one', async () => {
    await loadModels([
      { id: 'acme:moon', context: 1 },
      { id: 'acme:moon-2026-01-02', context: 2 },
      { id: 'openai:gpt-4.1-nano', context: 3 },
      { id: 'gateway:gpt-4.1-nano', context: 4 },
    ]);
    const contextOf = async (id: string): Promise<unknown> => (await findModel(id))?.context;
    expect(await contextOf('acme:moon-2026-01-02')).toBe(2);
    expect(await contextOf('acme:moon-2026-03-04')).toBe(1);
    expect(await contextOf('gpt-4.1-nano-2025-04-14')).toBe(3);
  });

  test('of two makers has no short form', async () => {
    await loadModels([{ id: 'hub:acme/sun' }, { id: 'hub:other/sun' }, { id: 'hub:acme/star' }]);
    expect(await findModel('hub:sun')).toBeUndefined();
    expect(await findModel('hub:star')).toMatchObject({ id: 'hub:acme/star' });
    expect(await findModel('hub:ar')).toBeUndefined();
    expect(await findModel('hub:other/star')).toBeUndefined();
  });

  test('that had another price on its day is not given the later one', async () => {
    for (const id of ['openai:gpt-4o-2024-05-13', 'gpt-4o-2024-05-13'])
      expect(await findModel(id)).toBeUndefined();
  });

  test.each([
    '',
    'gpt-4o',
    'openai:',
    '-2024-08-06',
    'openai:-2024-08-06',
    'azure:gpt-4o-2024-08-06',
    'openai:gpt-4o-2024-13-06',
    '__proto__',
    'constructor:name',
    'toString',
  ])('of which nobody knows is none: "%s"', async (id) => expect(await findModel(id)).toBeUndefined());

  test('that the app registers is known to the next question, also before the registration is awaited', async () => {
    void registerModel({ id: 'local:llama', context: 8_192 });
    expect(await findModel('local:llama')).toEqual({
      id: 'local:llama',
      context: 8_192,
      output: null,
      prices: null,
      asOf: today(),
    });
  });

  test('that the app registers wins over the table, and the later over the earlier', async () => {
    const of = async (): Promise<unknown> => (await findModel('openai:gpt-4o-mini'))?.prices;
    for (const input of [11, 12]) {
      await registerModel({ id: 'openai:gpt-4o-mini', prices: { input, output: 44 } });
      expect(await of()).toEqual({ input, output: 44 });
    }
  });

  test('with the name of something inherited is a model like any other', async () => {
    await loadModels(
      JSON.parse('{"__proto__": {"models": {"__proto__": {"limit": {"context": 5}}}}}') as object,
    );
    expect(await findModel('__proto__:__proto__')).toMatchObject({ context: 5 });
    expect(({} as { models?: unknown }).models).toBeUndefined();
  });

  test.each<[string, object]>([
    ['id', { id: 'llama' }],
    ['id', { id: 7 }],
    ['context', { id: 'a:b', context: -1 }],
    ['output', { id: 'a:b', output: Number.NaN }],
    ['prices', { id: 'a:b', prices: 3 }],
    ['prices.output', { id: 'a:b', prices: { input: 1 } }],
    ['prices.input', { id: 'a:b', prices: { input: '1', output: 2 } }],
    ['prices.cacheRead', { id: 'a:b', prices: { input: 1, output: 2, cacheRead: Infinity } }],
    ['prices.longPrompt.above', { id: 'a:b', prices: { input: 1, output: 2, longPrompt: { input: 2 } } }],
    ['asOf', { id: 'a:b', asOf: 'yesterday' }],
    ['encoding', { id: 'a:b', encoding: 'p50k' }],
  ])('with a wrong %s is refused by its name', async (field, model) => {
    const refusal = await registerModel(model as { id: string }).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: 'invalid-options', details: { field } });
    expect(String(refusal)).toContain(`registerModel(): ${field} must be`);
    expect(await findModel('a:b')).toBeUndefined();
  });
});

describe('a price that is spelt wrong', () => {
  const prices = { input: 1, output: 2 };
  test.each<[string, object]>([
    ['prices.cache_read', { id: 'a:b', prices: { ...prices, cache_read: 0.1 } }],
    ['prices.cachedInput', { id: 'a:b', prices: { ...prices, cachedInput: 0.1 } }],
    [
      'prices.longPrompt.over',
      { id: 'a:b', prices: { ...prices, longPrompt: { above: 9, input: 2, output: 2, over: 1 } } },
    ],
    ['price', { id: 'a:b', price: prices }],
    ['cost', { id: 'a:b', cost: prices }],
  ])('%s is refused by its name, and nothing is kept', async (field, model) => {
    const told = { details: { field }, message: expect.stringContaining(`${field} is unknown`) as string };
    await expect(registerModel(model as { id: string })).rejects.toMatchObject({
      code: 'invalid-options',
      ...told,
    });
    await expect(loadModels([model])).rejects.toMatchObject({ code: 'invalid-import', ...told });
    expect(await findModel('a:b')).toBeUndefined();
  });

  test('is no field that says undefined', async () => {
    await registerModel({ id: 'a:undefined', prices: { ...prices, old: undefined } } as { id: string });
    expect(await findModel('a:undefined')).toMatchObject({ prices });
  });
});

describe('loadModels()', () => {
  test('reads what models.dev offers', async () => {
    expect(await loadModels(catalogue, { asOf: '2026-01-02' })).toBe(2);
    expect(await findModel('acme:rocket-1')).toEqual({
      id: 'acme:rocket-1',
      name: 'Rocket 1',
      context: 200_000,
      output: 32_000,
      prices: {
        input: 1.5,
        output: 6,
        cacheRead: 0.15,
        cacheWrite: 2,
        reasoning: 7,
        longPrompt: { above: 200_000, input: 2, output: 1.5 },
      },
      asOf: '2026-01-02',
    });
    expect(await findModel('acme:painter')).toMatchObject({ context: null, output: null, prices: null });
  });

  test('reads rows of our own, each with its day', async () => {
    const rows = [
      { id: 'acme:one', context: 1_000, prices: { input: 1, output: 2 }, asOf: '2025-05-05', source: 'us' },
      { id: 'acme:two', unknown: true },
    ];
    expect(await loadModels(rows)).toBe(2);
    expect(await findModel('acme:one')).toEqual({ output: null, ...rows[0] });
    expect(await findModel('acme:two')).toEqual({
      id: 'acme:two',
      context: null,
      output: null,
      prices: null,
      asOf: today(),
    });
  });

  test('fetches an address, and only that', async () => {
    const fetching = answers(JSON.stringify(catalogue));
    const { signal } = new AbortController();
    expect(await loadModels(new URL('https://models.test/api.json'), { signal })).toBe(2);
    expect(fetching).toHaveBeenCalledExactlyOnceWith('https://models.test/api.json', { signal });
  });

  test.each<[string, object, string, string]>([
    ['a row of ours', [{ id: 'x:kept' }, { id: 'x:b', context: 'big' }], 'models[1]', 'context'],
    [
      'a row of theirs',
      { x: { models: { kept: {}, b: { cost: { input: 1 } } } } },
      'x.models.b',
      'prices.output',
    ],
  ])('changes nothing when %s is wrong, and names it', async (_, table, row, field) => {
    const refusal = await loadModels(table).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: 'invalid-import', details: { row, field } });
    expect(String(refusal)).toContain(`${row}: ${field} must be`);
    expect(await findModel('x:kept')).toBeUndefined();
  });

  test.each<[unknown, string]>([
    [null, 'the table'],
    [7, 'the table'],
    [{ acme: [] }, 'acme'],
    [{ acme: {} }, 'acme.models'],
    [{ acme: { models: { one: 1 } } }, 'acme.models.one'],
  ])('refuses %j: %s is no record', async (table, row) => {
    const loading = loadModels(table as object);
    await expect(loading).rejects.toMatchObject({ code: 'invalid-import', details: { row } });
  });

  test('says why an address gave nothing', async () => {
    const reasonFor = (address: string): Promise<unknown> =>
      loadModels(address).catch((error: unknown) => error);
    answers('gone', 404);
    expect(await reasonFor('/models.json')).toMatchObject({
      code: 'store-unavailable',
      message: expect.stringContaining('/models.json could not be loaded: 404'),
    });
    answers('<html>');
    expect(await reasonFor('/models.json')).toMatchObject({
      code: 'invalid-import',
      message: 'What came from /models.json is no JSON: "<html>"',
    });
    vi.stubGlobal('fetch', () => Promise.reject(new TypeError('Failed to fetch')));
    expect(await reasonFor('/models.json')).toMatchObject({ code: 'store-unavailable' });
  });

  test.each<[string, (long: string) => Promise<unknown>]>([
    ['an address', (long) => loadModels(`/${long}`)],
    ['a provider', (long) => loadModels({ [long]: 1 })],
    ['a model', (long) => loadModels({ acme: { models: { [long]: { cost: { input: 1 } } } } })],
    ['a field', (long) => registerModel({ id: 'a:b', prices: { input: 1, output: 2, [long]: 3 } })],
    ['an id', (long) => registerModel({ id: long })],
    ['a price', (long) => registerModel({ id: 'a:b', prices: { input: 1, output: long } } as never)],
  ])('is refused with at most 200 characters of what is wrong: %s', async (_, refused) => {
    vi.stubGlobal('fetch', () => Promise.reject(new TypeError('Failed to fetch')));
    const long = 'x'.repeat(10_000);
    const error = await refused(long).then(String, String);
    expect(error).toContain('xxx');
    expect(error).not.toContain('x'.repeat(201));
  });

  test('refuses models whose fields throw', async () => {
    const get = (): never => {
      throw new Error('boom');
    };
    const throwing = Object.defineProperty({ id: 'a:b' }, 'name', { enumerable: true, get });
    await expect(registerModel(throwing)).rejects.toMatchObject({ code: 'invalid-options' });
    for (const table of [[throwing], { acme: { models: { one: throwing } } }])
      await expect(loadModels(table)).rejects.toMatchObject({ code: 'invalid-import' });
  });

  test('stops when it is told to', async () => {
    vi.stubGlobal('fetch', (_: string, { signal }: RequestInit) => {
      signal?.throwIfAborted();
      return new Promise(() => undefined);
    });
    const loading = loadModels('/models.json', { signal: AbortSignal.abort() });
    await expect(loading).rejects.toMatchObject({ code: 'aborted' });
  });
});
