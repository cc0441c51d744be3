import { describe, expect, test } from 'vitest';
import { maskSecrets } from '../../src/secrets/maskSecrets.ts';
import { maskInSlices, maskText } from '../../src/secrets/mask.ts';
import { hint } from '../../src/fragment/builders.ts';
import { user } from '../../src/fragment/message.ts';
import { engineOn } from '../support/engine.ts';
import { falseSamples } from './secretsFalse.ts';
import { ISSUED, trueSamples } from './secretsTrue.ts';

describe('the corpus', () => {
  test('has at least 200 samples of each', () => {
    expect(new Set(trueSamples.map(({ text }) => text)).size).toBeGreaterThanOrEqual(200);
    expect(new Set(falseSamples).size).toBeGreaterThanOrEqual(200);
  });

  test('no secret is missed, in a text or in a record, and what stands around it stays', () => {
    const missed = trueSamples.filter(({ text, secret }) => {
      const masked = maskText(text);
      const at = text.indexOf(secret);
      const isGone = pieces(secret).every((piece) => !masked.includes(piece));
      return !isGone || !masked.startsWith(text.slice(0, Math.min(at, 3))) || maskText(masked) !== masked;
    });
    expect(missed.map(({ text }) => [text, maskText(text)])).toEqual([]);
  });

  test('nothing else is masked', () => {
    const masked = falseSamples.filter((text) => maskText(text) !== text);
    expect(masked.map((text) => [text, maskText(text)])).toEqual([]);
  });
});

/** What must not be left of a secret: any eight of its characters. */
function pieces(secret: string): string[] {
  if (secret.length <= 8) return [secret];
  return Array.from({ length: secret.length - 7 }, (_, i) => secret.slice(i, i + 8)).filter(
    (piece) => !/^[-A-Z ]+$/.test(piece),
  );
}

const key = `sk-proj-${'a1B2c3D4'.repeat(5)}`;

describe('maskSecrets()', () => {
  test('keeps the structure: keys in order, lists, numbers, and objects that are shared', async () => {
    const shared = { note: key };
    const value = { b: 1, a: [null, true, key, shared], shared, [key]: 2, tokens: 12, when: new Date(0) };
    const masked = await maskSecrets(value);
    const sign = /^\[OpenAI key [0-9a-f]{6}\]$/;
    expect(Object.keys(masked).map((name) => name.replace(sign, 'KEY'))).toEqual(
      Object.keys(value).map((name) => name.replace(key, 'KEY')),
    );
    expect(masked.a[2]).toMatch(sign);
    expect(masked.shared).toEqual({ note: masked.a[2] });
    expect(masked).toMatchObject({ b: 1, tokens: 12, when: '1970-01-01T00:00:00.000Z' });
    expect(JSON.stringify(masked)).not.toContain(key);
    expect(value.a[2]).toBe(key);
  });

  test('knows secrets by the name of their key', async () => {
    const drawn = 'q7'.repeat(8);
    const value = {
      password: 'correct horse',
      dbPassword: 'hunter',
      apiKey: drawn,
      headers: { 'x-api-key': drawn, Authorization: 'Token abc', Cookie: ['a=1', 'b=2'] },
      token: 'greeting',
      tokenizer: drawn,
    };
    expect(await maskSecrets(value)).toEqual({
      password: expect.stringMatching(/^\[password [0-9a-f]{2}\]$/) as string,
      dbPassword: expect.stringMatching(/^\[password /) as string,
      apiKey: expect.stringMatching(/^\[API key /) as string,
      headers: {
        'x-api-key': expect.stringMatching(/^\[API key /) as string,
        Authorization: expect.stringMatching(/^\[credentials /) as string,
        Cookie: [expect.stringMatching(/^\[cookie /), expect.stringMatching(/^\[cookie /)] as string[],
      },
      token: 'greeting',
      tokenizer: drawn,
    });
  });

  test('gives the same secret the same placeholder, and another one another', async () => {
    const other = key.replace('a1', 'z9');
    const [first, second, third] = await maskSecrets([`one ${key}`, `two ${key}`, `three ${other}`]);
    expect(first?.slice('one '.length)).toBe(second?.slice('two '.length));
    expect(third?.slice('three '.length)).not.toBe(second?.slice('two '.length));
    expect(await maskSecrets(await maskSecrets([key]))).toEqual(await maskSecrets([key]));
  });

  test('shortens files in addresses', async () => {
    const file = `data:image/png;base64,${'iVBORw0KGgo'.repeat(100)}`;
    expect(maskText(`![](${file}) and more`)).toMatch(
      /^!\[\]\(data:image\/png;base64,\[1100 characters [0-9a-f]{6}\]\) and more$/,
    );
    expect(maskText('data:text/plain,hello')).toBe('data:text/plain,hello');
  });

  test('has words for what has no keys, as inspect() has, and for what can not be read', async () => {
    const odd = {
      when: new Date(0),
      never: new Date(Number.NaN),
      map: new Map([[key, key]]),
      set: new Set([1, 2]),
      bytes: new Uint8Array(3),
      failed: new Error(`no access with ${key}`),
      get gone() {
        throw new Error(key);
      },
      many: [[new Date(0)]],
    };
    expect(await maskSecrets(odd)).toEqual({
      when: '1970-01-01T00:00:00.000Z',
      never: 'Invalid Date',
      map: '[Map of 1]',
      set: '[Set of 2]',
      bytes: '[Uint8Array of 3 bytes]',
      failed: expect.stringMatching(/^\[Error: no access with \[OpenAI key [0-9a-f]{6}\]\]$/) as string,
      gone: expect.stringMatching(/^\[unreadable: \[OpenAI key [0-9a-f]{6}\]\]$/) as string,
      many: [['1970-01-01T00:00:00.000Z']],
    });
  });

  test('bears cycles and depth', async () => {
    const circle: Record<string, unknown> = { key };
    circle['again'] = circle;
    expect(await maskSecrets(circle)).toMatchObject({ again: '[circular]' });
    let deep: unknown = key;
    for (let i = 0; i < 20_000; i++) deep = [deep];
    expect(JSON.stringify(await maskSecrets(deep))).toContain('[too deep]');
  });

  test('reads an object once, however often it stands there', async () => {
    let [records, lists, reads]: unknown[] = [{ key }, [key], 0];
    const counted = Object.defineProperty({}, 'key', {
      enumerable: true,
      get: () => ((reads = Number(reads) + 1), key),
    });
    for (let i = 0; i < 100; i++)
      [records, lists] = [{ a: records, b: records, tokens: records, counted }, [lists, lists]];
    const { a, b } = (await maskSecrets(records)) as { a: unknown; b: unknown };
    expect(a).toBe(b);
    expect(reads).toBe(1);
    expect(await maskSecrets(lists)).toHaveLength(2);
  });

  test('masks a shared list where its name tells of secrets, and only there', async () => {
    const list = ['q7'.repeat(8)];
    expect(await maskSecrets({ ids: list, secret: list, also: list })).toEqual({
      ids: list,
      secret: [expect.stringMatching(/^\[secret /)],
      also: list,
    });
  });
});

describe('maskSecrets()', () => {
  test('masks what inspect() gives: messages, fragments, the prompt, and previews that end within a key', async () => {
    const engine = engineOn().set(hint(`Use ${key}.`));
    await engine.set(user(`My key is ${key}`), user(`${' '.repeat(35)}${key}`)).save();
    await engine.set(user(`postgres://me:${'geheim'.repeat(9)}@db.example.com/app`)).save();
    const snapshot = await engine.inspect();
    const masked = await maskSecrets(snapshot);
    expect(JSON.stringify(snapshot)).toContain('a1B2');
    expect(JSON.stringify(masked)).not.toMatch(/a1B2|geheim/);
    expect(masked.meta).toEqual(snapshot.meta);
    expect(masked.rendered).toMatch(/^<hint>Use \[OpenAI key [0-9a-f]{6}\].<\/hint>$/);
    expect(maskText('see http://localhost:3000...')).toBe('see http://localhost:3000...');
    expect(maskText('begin with sk-your-key-goes...')).toBe('begin with sk-your-key-goes...');
  });
});

describe('the cut end of a key', () => {
  const keys = trueSamples.slice(0, ISSUED * 6).filter((_, i) => i % 6 === 0);

  test('of no issuer stays in a preview, wherever it is cut', () => {
    const kept = keys.flatMap(({ secret }) =>
      Array.from({ length: 24 }, (_, i) => secret.slice(0, i + 12))
        .filter((part) => part.length < secret.length)
        .map((part) => [part, maskText(`My key is ${part}...`)] as const)
        .filter(([part, masked]) => isDrawn(part) && masked.includes(part.slice(-8))),
    );
    expect(kept).toEqual([]);
  });

  test('of what only a name tells of stays neither', () => {
    const texts = [
      'OPENAI_API_KEY=q7Zk...',
      'password: hunt...',
      '"clientSecret":"Zx8...',
      'Authorization: Bearer Ab3d...',
      'curl -u admin:geh...',
      'postgres://me:geh...',
      'Passwort: gehe...',
    ];
    const secrets = /q7Zk|hunt|Zx8|Ab3d|geh/;
    expect(texts.filter((text) => secrets.test(maskText(text)))).toEqual([]);
  });
});

/** More than the mark; and of what is marked further back, more than may be a name. */
function isDrawn(part: string): boolean {
  return !/^(?:sk-)?[a-z_-]+$|^[A-Z1-]+$|^[\da-f-]+$|^\d+:?A?A?$|^[A-Za-z\d]{0,15}$/.test(part);
}

describe('long texts', () => {
  const filler = 'The quick brown fox jumps over the lazy dog. '.repeat(40);
  const long = (...secrets: readonly string[]): string =>
    secrets.map((secret) => `${filler.repeat(20)}\n${secret}\n`).join(filler);

  test('are masked in pieces, and say the same as in one', async () => {
    const text = long(
      key,
      `-----BEGIN PRIVATE KEY-----\n${filler}\n-----END PRIVATE KEY-----`,
      'password=hunter2',
    );
    expect(text.length).toBeGreaterThan(100_000);
    const masked = maskText(text);
    expect(masked).not.toMatch(/a1B2|hunter2/);
    expect(masked.match(/\[private key/g)).toHaveLength(1);
    expect(await maskSecrets({ text, apiKey: text })).toEqual({ text: masked, apiKey: masked });
  });

  test('that hold no place to break are masked, too', async () => {
    const text = `${'x'.repeat(200_000)} ${key} ${'y'.repeat(200_000)}`;
    expect((await maskSecrets({ text })).text).not.toContain('a1B2');
  });
});

test('a large snapshot is masked in steps, between which other tasks come', async () => {
  let rests = 0;
  const count = (): void => {
    rests += 1;
    timer = setTimeout(count);
  };
  let timer = setTimeout(count);
  const many = Array.from({ length: 60_000 }, (_, i) => ({ text: `${i} of many words ${key}` }));
  const masked = await maskSecrets(many);
  clearTimeout(timer);
  expect(rests).toBeGreaterThan(2);
  expect(masked).toHaveLength(many.length);
  expect(masked.at(-1)?.text).toMatch(/^59999 of many words \[OpenAI key [0-9a-f]{6}\]$/);
});

test('tells what it masked, by kind', async () => {
  const kinds: string[] = [];
  await maskInSlices({ a: key, b: `${key} password=hunter2` }, (kind) => kinds.push(kind));
  expect(kinds).toEqual(['OpenAI key', 'OpenAI key', 'password']);
});

describe('hostile texts', () => {
  const seeds = [
    ...'a|sk-|sk-ant-|eyJ|eyJaaaaaaaaaa.|eyJa.|-----BEGIN PRIVATE KEY-----|-----BEGIN |-----END |://|://a:'.split(
      '|',
    ),
    ...'://a:b|password|password:|password="|"password":"|secret |token=|Bearer |bearer a1|Basic a|cookie:'.split(
      '|',
    ),
    ...'cookie: a|cookie: a=|data:|data:,|data:a/b;|xox|SG.|SG.aaaaaaaaaaaaaaaa|api|api_key|;pwd=|AKIA|AIza'.split(
      '|',
    ),
    ...'[|hooks.slack.com/services/|A1|=|.|SK|key-|JQQJ|MAaaaaaaaaaaaaaaaaaaaaaaaaa.|.aaaaaa|f-|hvs.|glpat-'.split(
      '|',
    ),
    ...'curl |curl -u| -u a:|PuTTY-User-Key-File-3:|Private-Lines:|_|task-'.split('|'),
    ' ',
    '\\',
    '"',
    '%20',
    '\\u003d',
    '\n',
  ];
  test.each(seeds)('cost time that grows with their length, not its square: %j', (seed) => {
    const time = (length: number): number => {
      const text = seed.repeat(Math.ceil(length / seed.length));
      return Math.min(...[1, 2, 3].map(() => timed(() => maskText(text))));
    };
    time(10_000);
    // A square would make it 64 times as long, and seconds in all, each time; a few milliseconds, or a bad moment, are only noise.
    const isLinear = (): boolean => time(400_000) < Math.max(time(50_000) * 24, 40);
    expect([isLinear, isLinear, isLinear].some((again) => again())).toBe(true);
  });
});

/** Milliseconds of this thread, whatever else the machine does. */
function timed(work: () => unknown): number {
  const { user } = process.threadCpuUsage();
  work();
  return (process.threadCpuUsage().user - user) / 1000;
}
