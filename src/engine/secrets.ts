import { inWords, readable } from './plain.ts';

/**
 * What must not leave with a snapshot.
 *
 * A chat holds what people paste: keys, cookies, connection strings. A snapshot that goes into a bug report takes them
 * along. So what is handed out is read once more, and each secret gives way to a placeholder that says what stood there
 * and, by a short print, whether it is the same as in another place. The print of a short secret is shorter, so that a
 * password can't be guessed from it.
 *
 * Two kinds of signs tell a secret. Most issuers mark what they issue (`sk-ant-`, `ghp_`, `AKIA`), and a mark is
 * enough when something random follows. Where there is no mark a name must say it: `api_key=`, `"password":`,
 * `Authorization:`. A name alone is not enough either, or half of all code would be masked; the value has to look like
 * one. Uncertain things stay: a reader who can't trust the snapshot has no use for it.
 *
 * Every pattern begins at a fixed text and runs over one class of characters, or to a bound, so that hostile texts cost
 * no more than others: time grows with the length, never with its square.
 */

/**
 * A copy in which secrets are masked. Records keep their keys in order, unless a key is a secret itself. What has no
 * keys (dates, maps, errors) and what can't be read stands there in words, as `inspect()` has it.
 */
export function mask(value: unknown): unknown {
  return maskAt(value, '', { trail: [], masked: new Map() });
}

/** Where the walk is, and what it has done. */
interface Walk {
  /** The objects that the value is in. */
  readonly trail: object[];
  /** What became of each object under a name that tells of secrets, or under any other: shared ones are read once. */
  readonly masked: Map<string, Map<object, unknown>>;
}

/** Deeper than any snapshot; what is deeper still is cut. */
const MAX_DEPTH = 1000;

function maskAt(value: unknown, name: string, walk: Walk): unknown {
  if (typeof value === 'string') return maskNamed(value, name);
  if (typeof value !== 'object' || value === null) return value;
  const { trail } = walk;
  if (trail.includes(value)) return '[circular]';
  if (trail.length >= MAX_DEPTH) return '[too deep]';
  const masked = maskedUnder(name, walk);
  if (!masked.has(value)) {
    trail.push(value);
    masked.set(
      value,
      legible(() => maskInside(value, name, walk)),
    );
    trail.pop();
  }
  return masked.get(value);
}

function maskedUnder(name: string, { masked }: Walk): Map<object, unknown> {
  const key = KEY_NAME.test(name) || WHOLE_NAME.test(name) ? name : '';
  const found = masked.get(key) ?? new Map<object, unknown>();
  masked.set(key, found);
  return found;
}

function maskInside(value: object, name: string, walk: Walk): unknown {
  if (Array.isArray(value)) return value.map((item) => maskAt(item, name, walk));
  const words = inWords(value);
  if (words !== undefined) return words;
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === 'function') return maskAt(toJSON.call(value, name), name, walk);
  const fields = value as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    Object.keys(fields).map((key) => [maskText(key), legible(() => maskAt(fields[key], key, walk))]),
  );
}

/** What can be read, or why it can't: there may be a secret in the reason, too. */
function legible(read: () => unknown): unknown {
  const found = readable(read);
  return typeof found === 'string' ? maskText(found) : found;
}

/** A text that stands under a name, which may be all that tells of a secret. */
function maskNamed(text: string, name: string): string {
  const masked = maskText(text);
  if (masked !== text || text === '' || isPlaceholder(text)) return masked;
  if (WHOLE_NAME.test(name)) return placeholder(kindOf(name), text);
  return KEY_NAME.test(name) && isRandom(text) ? placeholder(kindOf(name), text) : masked;
}

/** A text without the secrets in it. */
export function maskText(text: string): string {
  if (text.length < SHORTEST) return text;
  let masked = maskPrivateKeys(text.replace(DATA_URL, shortened));
  for (const [kind, pattern, isSecret] of PATTERNS) {
    masked = masked.replace(pattern, (whole: string, before: string | undefined, secret: string) => {
      if (isPlaceholder(secret) || !isSecret(secret)) return whole;
      return (
        (before ?? '') +
        placeholder(kind === '' ? kindOf(before ?? '') : kind, secret) +
        whole.slice((before ?? '').length + secret.length)
      );
    });
  }
  return masked.includes('[AWS key ') ? masked.replace(AWS_SECRET, awsSecret) : masked;
}

/** The least that can be a secret with its name: `pwd=1234`. */
const SHORTEST = 8;

/** Not within a word; but after an escape, `\n` in JSON or `%20` in an address. */
const START = String.raw`(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2}))`;

type Row = readonly [kind: string, pattern: RegExp, isSecret: (secret: string) => boolean];

/** Secrets that their issuer has marked. Each: what comes before it, which stays, and the secret. */
function marked(kind: string, secret: string, isSecret: Row[2] = isVaried): Row {
  return [kind, new RegExp(`${START}()(${secret})`, 'g'), isSecret];
}

/** What a value is called, after which one stands; a name ends here, as in `OPENAI_API_KEY`, `clientSecret`, `token`. */
const PASSWORD =
  'passw(?:or)?[dt]|passphrase|passwd|pwd|kennwort|mot[ _-]?de[ _-]?passe|contrase(?:ñ|n\u0303?)as?|(?<![a-z])mdp';
const KEY_NAMES = `(?:api|access|secret|private|auth|encryption|signing|account|master|service|license)[ _-]?key|secret|token|${PASSWORD}|credentials?`;
const WHOLE_NAMES = `${PASSWORD}|cookie|authorization`;

const KEY_NAME = new RegExp(`(?:${KEY_NAMES}|[_-]key)$`, 'i');
const WHOLE_NAME = new RegExp(`(?:^|[_-]|[a-z])(?:${WHOLE_NAMES})$`, 'i');

/** In JSON, and in code like it: up to the quote that closes, also within a text that is JSON, where it is escaped. */
function quotedPassword(quote: string): Row {
  const name = String.raw`(["'](?:${PASSWORD})\\?["']\s{0,3}:\s{0,3}\\?${quote})`;
  const plain = String.raw`(?<!\\.)(?:[^${quote}\\\r\n]|\\[^\r\n]){1,256}(?=${quote})`;
  const escaped = String.raw`(?<=\\.)[^${quote}\\\r\n]{1,256}(?=\\${quote})`;
  return ['password', new RegExp(`${name}(${plain}|${escaped})`, 'gi'), isPassword];
}

const CUT =
  '(?:sk-|AIza|gh[pousr]_|github_pat_|glpat-|AKIA|ASIA|xox[a-z]-|[sr]k_(?:live|test)_|whsec_|npm_|hf_|gsk_|xai-|pplx-)';

const always = (): boolean => true;

const PATTERNS: readonly Row[] = [
  marked('Anthropic key', String.raw`sk-ant-[\w-]{16,}`, isRandom),
  marked('OpenRouter key', String.raw`sk-or-[\w-]{16,}`, isRandom),
  marked('OpenAI key', String.raw`sk-[\w-]{16,}`, isRandom),
  marked('Google key', String.raw`AIza[\w-]{30,}`),
  marked('Google secret', String.raw`(?:ya29\.|GOCSPX-)[\w-]{16,}`),
  marked('GitHub token', String.raw`(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,})`),
  marked('GitLab token', String.raw`glpat-[\w-]{16,}`),
  marked('AWS key', '(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])', always),
  marked(
    'Slack token',
    String.raw`(?:xox[a-z]|xapp)-[\w-]{10,}`,
    (token) => isRandom(token) || /\d{8}/.test(token),
  ),
  marked('Stripe key', String.raw`(?:[sr]k_(?:live|test)_|whsec_)\w{10,}`),
  marked('npm token', 'npm_[A-Za-z0-9]{30,}'),
  marked('PyPI token', String.raw`pypi-[\w-]{40,}`),
  marked('Hugging Face token', 'hf_[A-Za-z0-9]{20,}'),
  marked('SendGrid key', String.raw`SG\.[\w-]{16,}\.[\w-]{16,}`),
  marked(
    'API key',
    String.raw`(?:gsk_|xai-|pplx-|r8_|lin_api_|dop_v1_|shp[a-z]{2}_|sbp_|sb_secret_|tskey-|dapi|ntn_|vercel_[a-z]{2,12}_|dp\.(?:pt|st|ct)\.)[\w-]{20,}`,
  ),
  marked('API key', String.raw`(?:nvapi-|pcsk_|lsv2_(?:pt|sk)_|dckr_pat_|glsa_|ATATT3|sq0csp-)[\w-]{20,}`),
  marked('API key', String.raw`(?:tvly-|csk-|fw_|figd_|rpa_)[\w-]{20,}`, isRandom),
  marked('Telegram token', String.raw`\d{8,10}:AA[\w-]{30,}`),
  marked('age key', 'AGE-SECRET-KEY-1[A-Z0-9]{20,}', always),
  marked('JWT', String.raw`eyJ[\w-]{8,}\.[\w-]{4,}(?:\.[\w-]*){1,3}`, always),
  // Previews end in the middle of a word, and what is left of a key is still a part of it.
  ['cut key', new RegExp(`${START}()(${CUT}[\\w-]{4,60})(?=\\.\\.\\.$)`, 'g'), isPartOfKey],
  ['cut password', /(:\/\/[^\s:@/"'`<>]{1,128}:)([^\s:@/"'`<>[\]{}]{1,60})(?=\.\.\.$)/g, isPartOfPassword],
  ['webhook', /(hooks\.slack\.com\/services\/|discord(?:app)?\.com\/api\/webhooks\/)([\w/-]{20,})/g, always],
  ['password', /(:\/\/[^\s:@/"'`<>]{0,128}:)([^\s/"'`<>[\]{}]{1,256})(?=@[\w.[-])/g, isNoBlank],
  [
    'cookie',
    /\b((?:set-)?cookie["']?\s{0,3}:\s{0,3}["']?)([\w.$%!#&*+^|~-]{1,128}=[^\r\n"'<>]{1,4096})/gi,
    always,
  ],
  [
    'credentials',
    /\b(Basic\s{1,3})([A-Za-z0-9+/]{8,}={0,2})(?![\w+/=])/g,
    (base64) => isRandom(base64.replaceAll(/[+/]/g, '')),
  ],
  ['bearer token', /\b(Bearer\s{1,3})([\w.~+/-]{12,}=*)/gi, isRandom],
  quotedPassword('"'),
  quotedPassword("'"),
  ['password', /(;\s{0,3}(?:password|pwd)\s{0,3}=\s{0,3})([^;\s"'`{}[\]]{1,256})/gi, isNoBlank],
  [
    '',
    new RegExp(
      String.raw`((?:${KEY_NAMES})\\?["']?\s{0,3}(?:=>|:=|[:=])\s{0,3}\\?["'${'`'}]?)((?<=["'${'`'}])[^\s"'${'`'}<>\\]{6,}|[^\s"'${'`'}<>(){}[\],;&|\\]{6,})`,
      'gi',
    ),
    isNamedSecret,
  ],
];

/** Values that stand for a secret to come. */
function isNoBlank(text: string): boolean {
  return !/^(?:\$|%|\*+$|x+$|\.+$|:)/i.test(text);
}

function isPartOfKey(text: string): boolean {
  return /\d|[a-z][A-Z]|[A-Z]{4}/.test(text);
}

/** More than a port. */
function isPartOfPassword(text: string): boolean {
  return isNoBlank(text) && /\D/.test(text);
}

/** What is quoted as a password, if it is none of the words that a schema or a form has there. */
function isPassword(text: string): boolean {
  return (
    isNoBlank(text) &&
    !/^(?:string|text|password|passwort|kennwort|contraseña|required|optional|hidden|true|false|null|undefined|number|\p{L}+\?|\S+ .*)$/iu.test(
      text,
    )
  );
}

/** What is assigned to a name without quotes around the name: code does that too, with its own names and calls. */
function isNamedSecret(text: string): boolean {
  if (
    !isNoBlank(text) ||
    /^(?:process|import|os|env|this|self|config|options|req|ctx|props|state)[.?]/.test(text)
  )
    return false;
  return (
    isRandom(text) || isAwsSecret(text) || /^(?=.*\d)(?=.*[a-z])[a-z][\w!@#$%^*?~,;&()-]{5,11}$/i.test(text)
  );
}

/** Whether a text was drawn rather than written: one of its words mixes letters and digits, or large and small ones. */
function isRandom(text: string): boolean {
  return text.split(/[^A-Za-z0-9]+/).some((word) => {
    if (word.length < 8) return false;
    const capitals = word.replaceAll(/[^A-Z]/g, '').length / word.length;
    const digits = word.replaceAll(/\D/g, '').length;
    return (digits > 0 && digits < word.length) || (word.length >= 16 && capitals > 0.3 && capitals < 0.9);
  });
}

/** Whether a text is more than a row of crosses, as examples have it. */
function isVaried(text: string): boolean {
  return new Set(text).size >= 10;
}

/** A secret AWS key has no mark; it stands beside the id of one. */
const AWS_SECRET = /(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=])/g;

function awsSecret(text: string): string {
  return isAwsSecret(text) ? placeholder('AWS secret', text) : text;
}

/** Forty characters of base64, drawn from all of it. */
function isAwsSecret(text: string): boolean {
  return /^[A-Za-z0-9+/]{40}$/.test(text) && [/[A-Z]/, /[a-z]/, /\d/].every((kind) => kind.test(text));
}

const KEY_BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----/g;
const KEY_END = '-----END ';

/** Blocks of private keys, also one that breaks off. */
function maskPrivateKeys(text: string): string {
  let masked = '';
  let done = 0;
  for (const { index } of text.matchAll(KEY_BEGIN)) {
    if (index < done) continue;
    const end = text.indexOf(KEY_END, index);
    const close = end < 0 ? -1 : text.indexOf('-----', end + KEY_END.length);
    const to = close < 0 ? text.length : close + '-----'.length;
    masked += text.slice(done, index) + placeholder('private key', text.slice(index, to));
    done = to;
  }
  return masked + text.slice(done);
}

/** Files that stand in an address: no secrets, but nobody reads them either. */
const DATA_URL = /\b(data:(?:[\w.+-]{1,60}\/[\w.+-]{1,80})?(?:;[\w=.-]{1,60}){0,4},)([^\s"'<>()\\]{64,})/g;

function shortened(_whole: string, head: string, content: string): string {
  return `${head}[${content.length} characters ${print(content, 6)}]`;
}

/** `API key` for `x-api-key: `, `password` for `DB_PASSWORD=`. */
function kindOf(name: string): string {
  const [found = 'secret'] =
    /passw|pass|pwd|kennwort|mdp|contrase|cookie|auth|token|key|secret|credential/i.exec(name) ?? [];
  const kinds: Readonly<Record<string, string>> = {
    pass: 'password',
    passw: 'password',
    pwd: 'password',
    kennwort: 'password',
    mdp: 'password',
    contrase: 'password',
    auth: 'credentials',
    key: 'API key',
    credential: 'credentials',
  };
  return kinds[found.toLowerCase()] ?? found.toLowerCase();
}

function placeholder(kind: string, secret: string): string {
  return `[${kind} ${print(secret, secret.length < 20 ? 2 : 6)}]`;
}

function isPlaceholder(text: string): boolean {
  return /^\[[A-Za-z ]{3,20} [0-9a-f]{2,6}\]/.test(text);
}

/** The same for the same text: hexadecimal digits of its FNV-1a hash. */
function print(text: string, digits: number): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0').slice(-digits);
}
