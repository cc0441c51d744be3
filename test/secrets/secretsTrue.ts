// Secrets that nobody has: put together when the tests run, so that no scanner finds one in this file.

/** A text, and the secret in it. */
export interface Sample {
  readonly text: string;
  readonly secret: string;
}

let seed = 7;
function random(): number {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fff_ffff;
  return (seed >>> 8) / 2 ** 23;
}
const drawn = (alphabet: string, length: number): string =>
  Array.from({ length }, () => alphabet[Math.floor(random() * alphabet.length)]).join('');
const DIGITS = '0123456789';
const SMALL = 'abcdefghijklmnopqrstuvwxyz';
const hex = (length: number): string => drawn(`${DIGITS}abcdef`, length);
const any = (length: number): string => drawn(SMALL + SMALL.toUpperCase() + DIGITS, length);
const letters = (length: number): string => drawn(SMALL + SMALL.toUpperCase(), length);
const capitals = (length: number): string => drawn(SMALL.toUpperCase() + DIGITS, length);
const web = (length: number): string =>
  drawn(`${SMALL}${SMALL.toUpperCase()}${DIGITS}-_`, length - 1) + any(1);
const base64 = (length: number): string =>
  drawn(`${SMALL}${SMALL.toUpperCase()}${DIGITS}+/`, length - 2) + any(2);
const jwt = (): string => `eyJ${any(24)}.eyJ${web(60)}.${web(43)}`;

const kinds: Readonly<Record<string, (length: number) => string>> = {
  hex,
  any,
  letters,
  capitals,
  web,
  base64,
  jwt,
  digits: (length) => drawn(DIGITS, length),
  counted: (length) => drawn('123456789', length),
  plain: (length) => drawn(DIGITS + SMALL, length),
};

/** One secret of each issuer, by the way it is marked: `<any48>` stands for so many characters of a kind. */
const issued: (() => string)[] = `
  sk-<any48> sk-proj-<web120> sk-svcacct-<web74> sk-<hex32> sk-ant-api03-<web93>AA sk-ant-oat01-<web80>
  sk-or-v1-<hex64> AIza<web35> ya29.<web80> GOCSPX-<web28> ghp_<any36> nvapi-<web64> tvly-dev-<any32>
  pcsk_<any6>_<any60> csk-<any48> fw_<any24> lsv2_pt_<hex32>_<hex10> dckr_pat_<web27> glsa_<any32>_<hex8>
  figd_<web40> ATATT3xFfGF0<web60> gho_<any36> ghs_<any36> github_pat_<any22>_<any59> glpat-<any20>
  AKIA<capitals16> ASIA<capitals16> xoxb-<digits12>-<digits13>-<any24> xoxp-<digits12>-<digits12>-<hex32>
  xapp-1-A<capitals10>-<digits13>-<hex64> sk_live_<any24> rk_live_<any99> sk_test_<any24> whsec_<any32>
  npm_<any36> pypi-AgEIcHlwaS5vcmc<web120> hf_<letters34> ntn_<any46> vercel_blob_rw_<any16>_<any30>
  dp.pt.<any43> <counted9>:AA<web33> SG.<web22>.<web43> gsk_<any52> xai-<any80> pplx-<any48> shpat_<hex32>
  lin_api_<any40> AGE-SECRET-KEY-1<capitals58> SK<hex32> key-<hex32> <hex32>-<hex8>-<hex8>
  <any52>JQQJ99<capitals10>ACOG<any8> M<any25>.G<any5>.<web38> hvs.<web90> secret_<any43> HRKU-AA<web58>
  sntrys_eyJ<any60>_<base6443> pscale_tkn_<web43> pul-<hex40> glpat-<web27>.01.<plain9> <jwt1>
`
  .trim()
  .split(/\s+/)
  .map(
    (form) => () =>
      form.replaceAll(/<(base64|\D+)(\d+)>/g, (_, kind: string, length: string) =>
        kinds[kind]!(Number(length)),
      ),
  );

/** How many issuers there are: the first samples are theirs, six each. */
export const ISSUED: number = issued.length;

/** Where people leave them. */
const places: ((secret: string) => string)[] = [
  (secret) => secret,
  (secret) => `My key is ${secret}, please don't share it.`,
  (secret) => `curl "https://example.com/v1?key=${secret}&n=1"`,
  (secret) => JSON.stringify({ said: [`line\n${secret}\nline`] }),
  (secret) => `export SOME_KEY='${secret}'`,
  (secret) => `https://example.com/?q=%20${secret}%20`,
];

/** Where they stand within what looks like one word. */
const withinWords: ((secret: string) => string)[] = [
  (secret) => `so _${secret}_ it is`,
  (secret) => `__${secret}__`,
  (secret) => `KEY_${secret}`,
  (secret) => `x${secret}`,
  (secret) => `the-${secret}`,
  (secret) => `a\\u003d${secret}`,
  (secret) => `a\\u003a${secret}`,
  (secret) => `?of%3A${secret}`,
];

/** Names, and forms of giving a value to a name. */
const names =
  'api_key apiKey API-KEY x-api-key OPENAI_API_KEY clientSecret client_secret secret token access_token refreshToken AUTH_TOKEN secretAccessKey encryption_key private_key SIGNING_KEY'.split(
    ' ',
  );
const assignments: ((name: string, value: string) => string)[] = [
  (name, value) => `${name}=${value}`,
  (name, value) => `${name}: ${value}`,
  (name, value) => `{"${name}": "${value}"}`,
  (name, value) => JSON.stringify({ output: JSON.stringify({ [name]: value }) }),
  (name, value) => `const ${name} = '${value}';`,
  (name, value) => `?a=1&${name}=${value}&b=2`,
  (name, value) => `?a=1\\u0026${name}\\u003d${value}\\u0026b=2`,
  (name, value) => `?next=%2F%3F${name}%3D${value}`,
];

const pem = (kind: string): string =>
  `-----BEGIN ${kind}PRIVATE KEY-----\n${[1, 2, 3].map(() => base64(64)).join('\n')}\n-----END ${kind}PRIVATE KEY-----`;

const putty = (): string =>
  [
    'PuTTY-User-Key-File-3: ssh-ed25519',
    'Encryption: none',
    'Comment: me@example.com',
    'Public-Lines: 2',
    ...[1, 2].map(() => base64(64)),
    'Private-Lines: 1',
    base64(48),
    `Private-MAC: ${hex(64)}`,
  ].join('\n');

const of = (secret: string, place: (secret: string) => string): Sample => ({ secret, text: place(secret) });

export const trueSamples: readonly Sample[] = [
  ...issued.flatMap((make) => places.map((place) => of(make(), place))),
  ...issued
    .flatMap((make) => withinWords.map((place) => of(make(), place)))
    // `monkey-` and a sum: of this one, only what stands before it tells.
    .filter(({ text }) => !/(?:x|the-)key-/.test(text)),
  ...names.flatMap((name) =>
    assignments.map((assign, i) =>
      of([hex(32), any(24), `${hex(8)}-${hex(4)}-${hex(12)}`][i % 3] as string, (value) =>
        assign(name, value),
      ),
    ),
  ),
  // Bearer tokens and headers.
  ...[any(32), web(43), hex(40), jwt(), `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`].flatMap(
    (secret) => [
      of(secret, (value) => `Authorization: Bearer ${value}`),
      of(secret, (value) => `-H "authorization: bearer ${value}"`),
      of(secret, (value) => `{ headers: { Authorization: \`Bearer ${value}\` } }`),
    ],
  ),
  of(`${base64(20)}==`, (value) => `Authorization: Basic ${value}`),
  of(base64(40), (value) => `proxy-authorization: Basic ${value}`),
  // AWS: the secret beside the id.
  of(base64(40), (value) => `keys: AKIA${capitals(16)} ${value}`),
  of(
    base64(40),
    (value) => `[default]\naws_access_key_id = AKIA${capitals(16)}\naws_secret_access_key = ${value}\n`,
  ),
  of(base64(40), (value) => `aws_secret_access_key=${value}`),
  // Private keys.
  ...['', 'RSA ', 'EC ', 'OPENSSH ', 'ENCRYPTED '].flatMap((kind) => [
    of(pem(kind), (value) => value),
    of(pem(kind), (value) => `here:\n${value}\nthanks`),
    of(pem(kind).slice(0, 150), (value) => `cut off: ${value}`),
  ]),
  // PuTTY's, whole and cut off.
  ...[300, 1000].map((length) => of(putty().slice(0, length), (value) => `saved:\n${value}`)),
  // The command line.
  of(any(14), (value) => `curl -u admin:${value} https://example.com`),
  of(
    any(14),
    (value) => `curl -X POST https://example.com \\\n  -H 'a: b' \\\n  -u 'me@example.com:${value}'`,
  ),
  of(any(14), (value) => `curl --user="admin:${value}" https://example.com`),
  of(any(14), (value) => JSON.stringify({ said: `curl -u "admin:${value}" https://example.com` })),
  of(`${drawn('123456789', 9)}:AA${web(33)}`, (value) => `https://api.telegram.org/bot${value}/getMe`),
  of(any(12), (value) => JSON.stringify(`postgres://admin:${value}@db/app`).replaceAll('/', String.raw`\/`)),
  // Cookies.
  of(`sid=${hex(32)}; theme=dark`, (value) => `Cookie: ${value}`),
  of(`session=${any(24)}; Path=/; HttpOnly`, (value) => `Set-Cookie: ${value}\r\nDate: today`),
  of(`_ga=GA1.2.${drawn(DIGITS, 9)}; auth=${any(20)}`, (value) => `{"cookie":"${value}"}`),
  // Connection strings.
  ...['postgres', 'mysql', 'mongodb+srv', 'redis', 'amqps', 'https'].flatMap((scheme) => [
    of(any(12), (value) => `${scheme}://admin:${value}@db.example.com:5432/app`),
    of(`p@${any(6)}!`, (value) => `url = "${scheme}://u.ser:${value}@10.0.0.1/app?ssl=true"`),
  ]),
  of(any(10), (value) => `redis://:${value}@localhost:6379`),
  of('letmein', (value) => `Server=db;Database=app;User Id=sa;Password=${value};Encrypt=true`),
  of('pwdpwd', (value) => `Driver={SQL};Server=db;Pwd=${value}`),
  of(
    `${base64(86)}==`,
    (value) => `DefaultEndpointsProtocol=https;AccountName=a;AccountKey=${value};EndpointSuffix=x`,
  ),
  // The one that the documentation of AWS shows, without the id that it belongs to.
  of('wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY', (value) => `aws_secret_access_key = ${value}`),
  // Passwords.
  of('hunter2', (value) => `password=${value}`),
  of('Passw0rd!', (value) => `DB_PASSWORD: ${value}`),
  of('correcthorse', (value) => `{"password":"${value}"}`),
  of('tr0ub4dor&3', (value) => `{"user":"me","passwd" : "${value}"}`),
  of('letmein', (value) => JSON.stringify({ output: JSON.stringify({ password: value }) })),
  // Under their names in German, French and Spanish.
  of('geheim123', (value) => `Passwort: ${value}`),
  of('Sommer2025!', (value) => `Kennwort = ${value}`),
  of('kaffee', (value) => `{"kennwort": "${value}"}`),
  of("it's-mine", (value) => `{"password": "${value}"}`),
  of('say"friend"', (value) => `{'password': '${value}', 'user': 'x'}`),
  of('pa\\"ss\\\\word', (value) => `{"password":"${value}","user":"x"}`),
  of('Tr0ub&dor;3', (value) => `password="${value}"`),
  of('a1,b2(c3)', (value) => `db.password = '${value}'`),
  of('sesame&open', (value) => `{"contraseñas":"${value}"}`),
  of('azerty123', (value) => `Mot de passe : ${value}`),
  of('soleil75', (value) => `mot_de_passe=${value}`),
  of('azerty123', (value) => `mdp: ${value}`),
  of('verano2024', (value) => `Contraseña: ${value}`),
  of('verano2024', (value) => `contrasena=${value}`),
  of('sol y mar'.replaceAll(' ', ''), (value) => JSON.stringify({ contraseña: value })),
  of('verano2024', (value) => `contrasen\u0303a: ${value}`),
  of(`T${capitals(8)}/B${capitals(8)}/${any(24)}`, (value) => `https://hooks.slack.com/services/${value}`),
  of(`${drawn(DIGITS, 18)}/${web(68)}`, (value) => `https://discord.com/api/webhooks/${value}`),
];
