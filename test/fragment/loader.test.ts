import { describe, expect, test, vi } from 'vitest';
import { hint, term, workflow } from '../../src/fragment/builders.ts';
import { copyFragment } from '../../src/fragment/copy.ts';
import {
  fragment,
  getFragmentData,
  type ContextFragment,
  type FragmentData,
  type LoadContext,
} from '../../src/fragment/fragment.ts';
import { loadFragments, type LoadOptions } from '../../src/fragment/loader.ts';
import { fromFragment } from '../../src/fragment/serialize.ts';
import { XmlRenderer } from '../../src/render/xml.ts';

async function loaded(data: FragmentData, options?: LoadOptions): Promise<unknown> {
  const [first] = await loadFragments([{ name: 'x', data }], options);
  return getFragmentData(first as ContextFragment);
}

async function* slowly<T>(...items: T[]): AsyncGenerator<T> {
  for (const item of items) {
    await Promise.resolve();
    yield item;
  }
}

describe('loadFragments() awaits', () => {
  test.each<[string, () => FragmentData, unknown]>([
    ['a function', () => () => 'x', 'x'],
    ['an async function', () => async () => ({ a: 1 }), { a: 1 }],
    ['a promise', () => Promise.resolve('x'), 'x'],
    ['an iterable', () => new Set(['a', 'b']), ['a', 'b']],
    ['a map', () => new Map([['a', 1]]), [['a', 1]]],
    ['an async iterable', () => slowly('a', 'b'), ['a', 'b']],
    [
      'a generator function',
      () =>
        function* () {
          yield 1;
          yield 2;
        },
      [1, 2],
    ],
    ['an async generator function', () => () => slowly(1, 2), [1, 2]],
    ['an iterable of promises', () => [Promise.resolve(1), 2][Symbol.iterator](), [1, 2]],
    ['what a function gives later', () => () => () => Promise.resolve([() => 'x']), ['x']],
    [
      'values anywhere in data',
      () => ({ a: [{ b: () => 'x' }], c: Promise.resolve({ d: slowly(1) }) }),
      { a: [{ b: 'x' }], c: { d: [1] } },
    ],
  ])('%s', async (_, data, expected) => expect(await loaded(data())).toEqual(expected));

  test('values in nested fragments, whose codecs then encode the results', async () => {
    const fragments = [
      hint(async () => 'later'),
      fragment('db', workflow({ task: () => 't', steps: [Promise.resolve('s')] })),
      term('a', () => 'b'),
    ];
    const result = await loadFragments(fragments);
    expect(new XmlRenderer().render(result)).toBe(
      '<hint>later</hint>\n<db>\n  <workflow>\n    <task>t</task>\n    <steps>\n      <step>s</step>\n    </steps>\n  </workflow>\n</db>\n<term>\n  <name>a</name>\n  <definition>b</definition>\n</term>',
    );
    expect(fromFragment(result[2] as ContextFragment)).toEqual({ type: 'term', name: 'a', definition: 'b' });
  });

  test('fragments that a function gives', async () => {
    const [result] = await loadFragments([fragment('db', () => [hint('a'), hint('b')])]);
    expect(new XmlRenderer().render([result as ContextFragment])).toContain('<hint>a</hint>');
  });

  test('what the codec of an app decodes to, and keeps what it encodes to', async () => {
    const own = {
      name: 'own',
      codec: { encode: () => ({ type: 'hint', text: 'stored' }), decode: () => [() => 'shown'] },
    };
    const [result] = await loadFragments([own]);
    expect(getFragmentData(result as ContextFragment)).toEqual(['shown']);
    expect(fromFragment(result as ContextFragment)).toEqual({ type: 'hint', text: 'stored' });
  });
});

describe('loadFragments() costs nothing it need not', () => {
  test('leaves the lazy fragment as it is and asks it anew each time', async () => {
    let calls = 0;
    const lazy = [hint(() => `call ${++calls}`)];
    expect((await loadFragments(lazy))[0]?.data).toBe('call 1');
    expect((await loadFragments(lazy))[0]?.data).toBe('call 2');
  });

  test('asks all at once', async () => {
    const order: string[] = [];
    const slow = (name: string) => async () => {
      order.push(`${name} begins`);
      await new Promise((done) => setTimeout(done, 5));
      order.push(`${name} ends`);
      return name;
    };
    expect(await loaded([slow('a'), { b: slow('b') }])).toEqual(['a', { b: 'b' }]);
    expect(order).toEqual(['a begins', 'b begins', 'a ends', 'b ends']);
  });

  test('reads an iterator once and remembers what it gave', async () => {
    const once = slowly('a', 'b');
    const fragments = [{ name: 'x', data: once }];
    expect((await loadFragments(fragments))[0]?.data).toEqual(['a', 'b']);
    expect((await loadFragments(fragments))[0]?.data).toEqual(['a', 'b']);
  });
});

describe('loadFragments() stops', () => {
  const failing = (cause: unknown) => (): never => {
    throw cause;
  };

  test('when it is aborted, and hands the signal to functions', async () => {
    const controller = new AbortController();
    const seen = vi.fn<(context: LoadContext) => Promise<never>>(() => new Promise(() => undefined));
    const loading = loadFragments([hint(seen)], { signal: controller.signal });
    await Promise.resolve();
    controller.abort('enough');
    await expect(loading).rejects.toMatchObject({ code: 'aborted', cause: 'enough' });
    expect(seen.mock.calls[0]?.[0].signal).toBe(controller.signal);
  });

  test('before it calls anything when it is aborted already', async () => {
    const call = vi.fn<() => string>(() => 'x');
    await expect(loadFragments([hint(call)], { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'aborted',
    });
    expect(call).not.toHaveBeenCalled();
  });

  test('an abort does not cost the next load the items of an iterator', async () => {
    const fragments = [{ name: 'x', data: slowly('a', 'b', 'c') }];
    const controller = new AbortController();
    const first = loadFragments(fragments, { signal: controller.signal });
    controller.abort();
    await expect(first).rejects.toMatchObject({ code: 'aborted' });
    expect((await loadFragments(fragments))[0]?.data).toEqual(['a', 'b', 'c']);
  });

  test('naming fragment and path when a value fails', async () => {
    const cause = new Error('boom');
    const load = (value: FragmentData) =>
      loadFragments([copyFragment({ name: 'db', data: { items: ['a', value] } })]);
    async function* late() {
      yield 1;
      throw cause;
    }
    const details = { path: 'data.items[1]' };
    const message = 'Fragment "db": data.items[1] could not be loaded: boom';
    for (const value of [failing(cause), Promise.reject(cause), late()])
      await expect(load(value)).rejects.toMatchObject({ code: 'invalid-fragment', message, cause, details });
    await expect(load(() => [[async () => failing(cause)()]])).rejects.toMatchObject({
      message: message.replace('[1]', '[1][0][0]'),
    });
  });

  test('at its limits of depth and items', async () => {
    const endless = (): unknown => endless;
    function* numbers() {
      for (let i = 0; ; i++) yield i;
    }
    await expect(loaded(endless as never)).rejects.toThrow(
      'Fragment "x": data is lazy in more than 10 levels',
    );
    await expect(loaded(numbers)).rejects.toThrow(
      'Fragment "x": data could not be loaded: more than 10000 items',
    );
  });

  test('at what a value must not hold, with its whole path', async () => {
    const loop: unknown[] = [];
    loop.push(loop);
    await expect(loaded({ a: () => ({ b: [loop] }) })).rejects.toThrow('data.a.b[0][0] is circular');
    await expect(loaded({ a: () => ({ b: 1n }) })).rejects.toThrow('data.a.b is of type bigint');
  });
});
