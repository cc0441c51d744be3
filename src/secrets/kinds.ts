/**
 * How secrets are recognised: by the prefix of their issuer (`ghp_`, `sk-ant-`), or by a name that says that one follows.
 *
 * A prefix counts wherever it stands, except within a long row of random characters; behind letters, what follows has to look
 * random (`sk-` is also how words end). A preview may cut a key off (`ghp_ab...`), so a kind also says what its cut end
 * consists of. Each pattern begins at a fixed text and runs over one class of characters, or to a bound: the time is linear in
 * the length.
 */

/** One kind of secret. */
export interface SecretKind {
  /** Its name; '' where the name before the secret gives it. */
  readonly kind: string;
  /** Matches the text before the secret, which stays, and the secret. */
  readonly pattern: RegExp;
  readonly isSecret: (secret: string) => boolean;
  /** Whether it has an issuer's prefix: then it may stand within a word, where it looks random. */
  readonly isMarked: boolean;
  /** Matches every text that holds one; without it, any text may. */
  readonly hint?: RegExp;
}

type Test = SecretKind['isSecret'];

interface Mark {
  readonly kind: string;
  /** The prefix, as a pattern; '' for none. */
  readonly sign: string;
  /** Without a prefix: what every text with such a secret contains. */
  readonly hint?: string;
  /** What follows it, as a pattern. */
  readonly rest: string;
  /** The characters that its cut end consists of: a class. */
  readonly of: string;
  readonly isSecret: Test;
  /** Whether words begin like it: its cut end must then look random. */
  readonly isLikeWord?: true;
  /** What may not stand before it. Default: {@link BLOB}. */
  readonly start?: string;
}

/** Not within a long row of random characters. */
const BLOB = String.raw`(?:(?<![\w+/=-]{64})|(?<=[_-]))`;
/** An escape of another character, whatever letter it ends with: `\u003a`, `%2A`. */
const ESCAPE = String.raw`(?<=\\u[\dA-Fa-f]{4}|%[\dA-Fa-f]{2}|\\[nrt])`;
/** Not the end of a word like `task` or `TASK`, unless the key can't be anything else. */
const NO_WORD = String.raw`(?:(?<![aeiou])|${ESCAPE}|(?=sk-(?:ant|or|proj|svcacct)-[\w-]{40}|sk-(?=[a-z\d]{0,40}[A-Z])[A-Za-z\d]{40}))`;
const NO_LOUD_WORD = String.raw`(?:(?<![AEIOU])|${ESCAPE})`;

const WEB = String.raw`\w-`;
const ANY = String.raw`A-Za-z\d`;
const HEX = String.raw`\da-f`;

/** A prefix, and at least so many characters of a class. */
function run(kind: string, sign: string, of: string, least: number, isSecret: Test = isVaried): Mark {
  return { kind, sign, rest: `[${of}]{${least},}`, of, isSecret };
}

function always(): boolean {
  return true;
}

const MARKS: readonly Mark[] = [
  { ...run('Anthropic key', 'sk-ant-', WEB, 16, isRandom), start: NO_WORD },
  { ...run('OpenRouter key', 'sk-or-', WEB, 16, isRandom), start: NO_WORD },
  { ...run('OpenAI key', 'sk-(?:proj|svcacct)-', WEB, 16, isRandom), start: NO_WORD },
  { ...run('OpenAI key', 'sk-', WEB, 16, isRandom), start: NO_WORD },
  { ...run('Azure key', '', ANY, 0), hint: 'JQQJ', rest: `[${ANY}]{52}JQQJ[${ANY}]{20,}` },
  run('Google key', 'AIza', WEB, 30),
  run('Google secret', String.raw`(?:ya29\.|GOCSPX-)`, WEB, 16),
  run('GitHub token', 'gh[pousr]_', ANY, 20),
  run('GitHub token', 'github_pat_', String.raw`\w`, 20),
  {
    ...run('GitLab token', 'gl(?:pat|ptt|dt|rtr?|cbt|ft|imt|agent|oas|soat|ffct|wt)-', WEB, 16),
    rest: String.raw`[\w-]{16,}(?:\.[a-z\d]{2}\.[a-z\d]{9})?`,
  },
  { ...run('AWS key', 'A(?:KI|SI|BI|CC)A', String.raw`A-Z\d`, 16, always), rest: `[A-Z\\d]{16}(?![${ANY}])` },
  run('Slack token', '(?:xox[a-z]|xapp)-', WEB, 10, (token) => isRandom(token) || /\d{8}/.test(token)),
  { ...run('Stripe key', '[sr]k_(?:live|test)_', String.raw`\w`, 10), start: NO_WORD },
  run('Stripe key', 'whsec_', ANY, 10),
  run('npm token', 'npm_', ANY, 30),
  run('PyPI token', 'pypi-', WEB, 40),
  {
    ...run('SendGrid key', String.raw`SG\.`, String.raw`\w.-`, 0),
    rest: String.raw`[\w-]{16,32}\.[\w-]{32,64}`,
  },
  {
    ...run('Twilio key', 'SK', HEX, 32, always),
    rest: `[${HEX}]{32}(?![${ANY}])`,
    isLikeWord: true,
    start: NO_LOUD_WORD,
  },
  {
    ...run('Mailgun key', 'key-', HEX, 32, always),
    isLikeWord: true,
    rest: `[${HEX}]{32}(?![${ANY}-])`,
    // `cache-key-` and a checksum is no secret.
    start: `(?:(?<![${ANY}-])|${ESCAPE})`,
  },
  {
    ...run('Mailgun key', '', HEX, 0, always),
    hint: `-[${HEX}]{8}-[${HEX}]{8}`,
    rest: `[${HEX}]{32}-[${HEX}]{8}-[${HEX}]{8}(?![${ANY}-])`,
  },
  {
    ...run('Discord token', '', WEB, 0, (token) => token.split('.').every(isRandomAnyhow)),
    hint: String.raw`\.[\w-]{6,7}\.[\w-]{27}`,
    rest: String.raw`[MNO][\w-]{22,27}\.[\w-]{6,7}\.[\w-]{27,40}(?![${ANY}-])`,
  },
  run('Vault token', String.raw`hv[sbr]\.`, WEB, 20),
  run('Notion key', 'ntn_', ANY, 20),
  run('Notion key', 'secret_', ANY, 43, isRandom),
  run('Heroku key', 'HRKU-', WEB, 30),
  run('Sentry token', 'sntry[a-z]_', String.raw`\w+/=-`, 30),
  run('PlanetScale key', 'pscale_(?:tkn|oauth|pw|app)_', String.raw`\w.=-`, 20),
  { ...run('Pulumi token', 'pul-', HEX, 40, always), isLikeWord: true },
  run('API key', '(?:lin_api_|dop_v1_|sbp_|sb_secret_|vercel_[a-z]{2,12}_)', WEB, 20),
  run('API key', String.raw`(?:xai-|pplx-|tskey-|dp\.(?:pt|st|ct)\.|nvapi-|glsa_|ATATT3|sq0csp-)`, WEB, 20),
  run('API key', '(?:shp[a-z]{2}_|pcsk_|lsv2_(?:pt|sk)_|dckr_pat_)', WEB, 20),
  { ...run('API key', 'dapi', HEX, 32, always), isLikeWord: true },
  run('API key', '(?:tvly-|figd_|rpa_)', WEB, 20, isRandom),
  run('Telegram token', String.raw`\d{8,10}:AA`, WEB, 30),
  run('age key', 'AGE-SECRET-KEY-1', String.raw`A-Z\d`, 20, always),
  {
    ...run('JWT', 'eyJ', String.raw`\w.-`, 0, always),
    isLikeWord: true,
    rest: String.raw`[\w-]{8,}\.[\w-]{4,}(?:\.[\w-]*){1,3}`,
  },
  // Last, because the other kinds may contain such short ones by chance.
  run('Hugging Face token', 'hf_', ANY, 20),
  run('API key', '(?:gsk_|r8_)', WEB, 20),
  run('API key', '(?:csk-|fw_)', WEB, 20, isRandom),
];

/** The ends of names before a secret: `OPENAI_API_KEY`, `clientSecret`, `token`. */
const PASSWORD =
  'passw(?:or)?[dt]|passphrase|passwd|pwd|kennwort|mot[ _-]?de[ _-]?passe|contrase(?:ñ|n\u0303?)as?|(?<![a-z])mdp';
const KEY_NAMES = `(?:api|access|secret|private|auth|encryption|signing|account|master|service|license)[ _-]?key|secret|token|${PASSWORD}|credentials?`;
const WHOLE_NAMES = `${PASSWORD}|cookie|authorization`;

/** Names of fields whose random values are secrets, and of those whose values always are. */
export const KEY_NAME: RegExp = new RegExp(`(?:${KEY_NAMES}|[_-]key)$`, 'i');
export const WHOLE_NAME: RegExp = new RegExp(`(?:^|[_-]|[a-z])(?:${WHOLE_NAMES})$`, 'i');

/** What stands between a name and its value, as it is, in JSON or in a URL; then perhaps a quote. */
const IS = String.raw`\s{0,3}(?:=>|:=|[:=]|\\{1,2}u003[ad]|%3[AaDd])\s{0,3}`;
const QUOTE = String.raw`(?:\\?["'\x60]|\\u002[27]|%2[27])?`;
const NAMED = String.raw`(?:${KEY_NAMES})\\?["']?${IS}${QUOTE}`;

/** A quoted password in JSON and code, also within escaped JSON. */
function quotedPassword(quote: string): SecretKind {
  const name = String.raw`(["'](?:${PASSWORD})\\?["']\s{0,3}:\s{0,3}\\?${quote})`;
  const plain = String.raw`(?<!\\.)(?:[^${quote}\\\r\n]|\\[^\r\n]){1,256}(?=${quote})`;
  const escaped = String.raw`(?<=\\.)[^${quote}\\\r\n]{1,256}(?=\\${quote})`;
  return named('password', new RegExp(`${name}(${plain}|${escaped})`, 'gi'), isPassword);
}

function named(kind: string, pattern: RegExp, isSecret: Test): SecretKind {
  return { kind, pattern, isSecret, isMarked: false };
}

function marked({ kind, sign, hint = sign, rest, isSecret, start = BLOB }: Mark): SecretKind {
  const pattern = new RegExp(`${sign === '' ? '' : `(?=${sign})`}${start}()(${sign}${rest})`, 'g');
  return { kind, pattern, isSecret, isMarked: true, hint: new RegExp(hint) };
}

function cut(kind: string, pattern: string, isSecret: Test, flags = 'g'): SecretKind {
  return named(kind, new RegExp(pattern + CUT, flags), isSecret);
}

function isDrawn(part: string): boolean {
  return [/[A-Z]/, /[a-z]/, /\d/].every((of) => of.test(part));
}

const CUT = String.raw`(?=\.\.\.$)`;

const CUT_KINDS: readonly SecretKind[] = [
  ...MARKS.filter(({ sign }) => sign !== '').map(({ kind, sign, of, start = BLOB, isSecret, isLikeWord }) => {
    const pattern = new RegExp(`(?=${sign})${start}()(${sign}[${of}]{1,64})${CUT}`, 'g');
    const word = new RegExp(`^${sign}[a-z_.-]*$`);
    const isSure = !isLikeWord && isSecret !== isRandom;
    const hint = new RegExp(sign);
    return { ...named(kind, pattern, (part) => isSure || !word.test(part)), hint };
  }),
  cut('cut key', String.raw`()((?<![\w.-])[\w.-]{16,80})`, isDrawn),
  cut('cut key', String.raw`(${NAMED})([^\s"'\x60<>(){}[\],;&|\\]{1,64})`, isPart, 'gi'),
  cut('cut key', String.raw`\b(Bearer\s{1,3}|Basic\s{1,3})([\w.~+/-]{1,64})`, isPart, 'gi'),
  cut('cut key', String.raw`(hooks\.slack\.com/services/|/api/webhooks/)([\w/-]{1,64})`, isPart),
  cut(
    'cut password',
    String.raw`((?:${PASSWORD})\\?["']?${IS}${QUOTE})([^\s"'\x60<>\\]{1,64})`,
    isPartOfPassword,
    'gi',
  ),
  cut(
    'cut password',
    String.raw`(://[^\s:@/"'\x60<>]{0,128}:)([^\s:@/"'\x60<>[\]{}]{1,60})`,
    isPartOfPassword,
  ),
];

const NAMED_KINDS: readonly SecretKind[] = [
  named(
    'webhook',
    /(hooks\.slack\.com\/services\/|discord(?:app)?\.com\/api\/webhooks\/)([\w/-]{20,})/g,
    always,
  ),
  named('password', /(:\\?\/\\?\/[^\s:@/"'`<>]{0,128}:)([^\s/"'`<>[\]{}]{1,256})(?=@[\w.[-])/g, isNoBlank),
  named(
    'password',
    /(\bcurl(?:[^\r\n\\]|\\[^\r\n]|\\\r?\n){0,500}?\s(?:-u|--user)[\s=]{0,3}\\?["']?[^\s:"'\\]{1,128}:)((?!\[)[^\s"'\\]{1,256})/g,
    isNoBlank,
  ),
  named(
    'cookie',
    /\b((?:set-)?cookie["']?\s{0,3}:\s{0,3}["']?)([\w.$%!#&*+^|~-]{1,128}=[^\r\n"'<>]{1,4096})/gi,
    always,
  ),
  named('credentials', /\b(Basic\s{1,3})([A-Za-z0-9+/]{8,}={0,2})(?![\w+/=])/g, (base64) =>
    isRandom(base64.replaceAll(/[+/]/g, '')),
  ),
  named('bearer token', /\b(Bearer(?:\s{1,3}|%20|\\u0020))([\w.~+/-]{12,}=*)/gi, isRandom),
  quotedPassword('"'),
  quotedPassword("'"),
  named('password', /(;\s{0,3}(?:password|pwd)\s{0,3}=\s{0,3})([^;\s"'`{}[\]]{1,256})/gi, isNoBlank),
  named(
    '',
    new RegExp(String.raw`(${NAMED})((?<=["'\x60])[^\s"'\x60<>\\]{6,}|[^\s"'\x60<>(){}[\],;&|\\]{6,})`, 'gi'),
    isNamedSecret,
  ),
];

const MARKED_KINDS: readonly SecretKind[] = MARKS.map(marked);

/** A quick check that nearly all texts fail: only those that pass are searched for prefixes and names. */
const LONG_WORD = /(?:^|[^\w-])[\w-]{15}/;
const SIGN_OF_NAME = /[:=]|%3|u003|bearer|basic|hooks/i;
const MARK = new RegExp(MARKS.map(({ sign, hint = sign }) => hint).join('|'));
const NAMES =
  /key|secret|token|passw|passphrase|passe|pwd|kennwort|contrase|mdp|credential|bearer|basic|cookie|:\\?\/\\?\/|hooks|curl/i;

/** The kinds of secrets that a text may hold, in the order to search for them. */
export function kindsIn(text: string): readonly SecretKind[] {
  const isCut = text.endsWith('...');
  const isMarked = (isCut || LONG_WORD.test(text)) && MARK.test(text);
  const isNamed = SIGN_OF_NAME.test(text) && NAMES.test(text);
  if (!isMarked && !isNamed && !isCut) return NO_KINDS;
  return [
    ...(isMarked ? MARKED_KINDS.filter(({ hint }) => hint?.test(text)) : NO_KINDS),
    ...(isCut ? CUT_KINDS.filter(({ hint }) => !hint || isMarked) : NO_KINDS),
    ...(isNamed ? NAMED_KINDS : NO_KINDS),
  ];
}

const NO_KINDS: readonly SecretKind[] = [];

/** Whether a text is no placeholder for a secret. */
function isNoBlank(text: string): boolean {
  return !/^(?:\$|%|\*+$|x+$|\.+$|:)/i.test(text);
}

/** Whether the cut end behind a name is more than a plain word. */
function isPart(text: string): boolean {
  return isNoBlank(text) && !/^\p{L}?[\p{Ll}'_-]*[.,]?$/u.test(text);
}

/** Whether the cut end of a URL's password is more than a port. */
function isPartOfPassword(text: string): boolean {
  return isNoBlank(text) && /\D/.test(text);
}

/** Whether a quoted value is a password, and not a word of a schema or a form. */
function isPassword(text: string): boolean {
  return isNoBlank(text) && !OF_A_FORM.test(text);
}

const OF_A_FORM =
  /^(?:string|text|password|passwort|kennwort|contraseña|required|optional|hidden|true|false|null|undefined|number|\p{L}+\?|\S+ .*)$/iu;

/** Whether the value of an unquoted name is a secret; in code it is often a name or a call. */
function isNamedSecret(text: string): boolean {
  const isCode = /^(?:process|import|os|env|this|self|config|options|req|ctx|props|state)[.?]/.test(text);
  if (isCode || !isNoBlank(text)) return false;
  return (
    isRandom(text) || isAwsSecret(text) || /^(?=.*\d)(?=.*[a-z])[a-z][\w!@#$%^*?~,;&()-]{5,11}$/i.test(text)
  );
}

/** Whether a text looks random: one of its words mixes letters and digits, or upper and lower case. */
export function isRandom(text: string): boolean {
  return text.split(/[^A-Za-z0-9]+/).some((word) => {
    if (word.length < 8) return false;
    const capitals = word.replaceAll(/[^A-Z]/g, '').length / word.length;
    const digits = word.replaceAll(/\D/g, '').length;
    return (digits > 0 && digits < word.length) || (word.length >= 16 && capitals > 0.3 && capitals < 0.9);
  });
}

/** Whether a short piece looks random: upper and lower case letters, or a digit. */
function isRandomAnyhow(text: string): boolean {
  return /[A-Z]/.test(text) && /[a-z\d]/.test(text);
}

/** Whether a text is more than a row of crosses, as in examples. */
function isVaried(text: string): boolean {
  return new Set(text).size >= 10;
}

/** Whether a text has forty random characters of base64. */
export function isAwsSecret(text: string): boolean {
  return /^[A-Za-z0-9+/]{40}$/.test(text) && [/[A-Z]/, /[a-z]/, /\d/].every((kind) => kind.test(text));
}
