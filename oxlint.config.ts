import { defineConfig, type OxlintOverride } from 'oxlint';

// Which room may import which. A room is a folder or a file of src; what is not listed is refused, so the map
// below is the whole architecture and nobody has to remember it in a review.
const mayImport: Record<string, string[]> = {
  errors: [],
  copy: ['errors'],
  reminded: ['errors'],
  fragment: ['errors', 'copy', 'reminded'],
  render: ['errors', 'copy', 'fragment'],
  graph: ['errors', 'copy', 'reminded'],
  tokens: ['errors'],
  store: ['errors', 'copy', 'reminded', 'graph'],
  record: ['errors', 'fragment', 'render', 'tokens'],
  secrets: ['errors', 'copy', 'fragment'],
  engine: ['errors', 'copy', 'reminded', 'fragment', 'render', 'graph', 'tokens', 'store', 'record'],
  react: ['errors', 'fragment', 'render', 'graph', 'tokens', 'store', 'engine'],
  ai: ['errors', 'fragment', 'render', 'graph', 'tokens', 'store', 'record', 'secrets', 'engine', 'react'],
  reminders: ['errors', 'reminded', 'fragment'],
  tokenizers: ['errors', 'tokens'],
  session: ['errors', 'fragment', 'render', 'graph', 'store', 'record', 'secrets', 'engine'],
  core: ['errors', 'fragment', 'render', 'graph', 'tokens', 'store', 'record', 'secrets', 'engine'],
  index: ['core', 'errors', 'fragment', 'render', 'graph', 'tokens', 'store', 'engine', 'react'],
};

// Which room may import which package. Types of the AI SDK cost nothing and are welcome everywhere.
const packages: Record<string, { regex: string; rooms: string[]; allowTypeImports?: true }> = {
  idb: { regex: '^idb(/|$)', rooms: ['tests'] },
  'zustand with React': {
    regex: '^zustand($|/(?:react|shallow|traditional|context))',
    rooms: ['react', 'ai'],
  },
  'zustand/vanilla': { regex: '^zustand/vanilla', rooms: ['engine', 'react', 'ai'] },
  react: { regex: '^react(?:-dom)?(/|$)', rooms: ['react', 'ai', 'devtools'] },
  ai: { regex: '^(?:ai|@ai-sdk/[^/]+)(/|$)', rooms: ['ai'], allowTypeImports: true },
  'gpt-tokenizer': { regex: '^gpt-tokenizer(/|$)', rooms: ['tokenizers'] },
};

type Pattern = { regex: string; message: string; allowTypeImports?: boolean };

const nameless: Pattern = {
  regex: '^\\.{1,2}/(?:.*/)?(?:utils?|helpers?|common|types)(?:\\.tsx?$|/)',
  message: 'A file is named after the idea it holds; a type lives beside the function that owns it.',
};

function packagesRefusedIn(room: string): Pattern[] {
  return Object.entries(packages)
    .filter(([, { rooms }]) => !rooms.includes(room))
    .map(([name, { regex, rooms, allowTypeImports = false }]) => ({
      regex,
      message: `${name} is imported only by ${rooms.join(', ')}.`,
      allowTypeImports,
    }));
}

function roomsRefusedIn(room: string, upwards: string): Pattern[] {
  const allowed = mayImport[room] ?? [];
  const refused = Object.keys(mayImport).filter((other) => other !== room && !allowed.includes(other));
  const message = `${room} may import ${allowed.length > 0 ? allowed.join(', ') : 'no other room'}; see oxlint.config.ts.`;
  return [
    { regex: `^${upwards}(?:${refused.join('|')})(?:/|\\.tsx?$)`, message },
    {
      regex: '^(?:\\.\\./)+(?:devtools|stories|test|scripts)/',
      message: 'src knows nothing of what stands around it.',
    },
    { regex: '^contextree(/|$)', message: 'Inside src, import the file that owns the name.' },
  ];
}

function imports(files: string[], patterns: Pattern[]): OxlintOverride {
  return { files, rules: { 'no-restricted-imports': ['error', { patterns: [nameless, ...patterns] }] } };
}

// An override that matches later replaces the rule of an earlier one, so each states all of its patterns and
// the most particular folder stands last.
function roomRules() {
  const rooms = Object.keys(mayImport);
  return [
    ...rooms.map((room) =>
      imports([`src/${room}.ts`], [...roomsRefusedIn(room, '\\./'), ...packagesRefusedIn(room)]),
    ),
    ...rooms.map((room) =>
      imports([`src/${room}/**`], [...roomsRefusedIn(room, '(?:\\.\\./)+'), ...packagesRefusedIn(room)]),
    ),
    imports(
      ['src/store/indexeddb/**'],
      [...roomsRefusedIn('store', '(?:\\.\\./)+'), ...packagesRefusedIn('store/indexeddb')],
    ),
  ];
}

const byOwnName = 'Import the package by its own name, as a user does.';

const aroundSrc = [
  imports(
    ['devtools/**'],
    [
      {
        regex: '^(?:\\.\\./)+src(/|$)',
        message: 'devtools lives on what `contextree` and `contextree/tokens` export.',
      },
      {
        regex: '^contextree/(?:core|ai|store|devtools|reminders|tokenizers)(?:/|$)',
        message: 'devtools lives on what `contextree` and `contextree/tokens` export.',
      },
      ...packagesRefusedIn('devtools'),
    ],
  ),
  imports(['stories/*'], [{ regex: '^\\.\\./(?:src|devtools)/', message: byOwnName }]),
  imports(['stories/*/**'], [{ regex: '^(?:\\.\\./){2,}(?:src|devtools)/', message: byOwnName }]),
];

export default defineConfig({
  options: { typeAware: true, denyWarnings: true, reportUnusedDisableDirectives: 'error' },
  plugins: ['typescript', 'react', 'jsx-a11y', 'import', 'unicorn', 'vitest', 'promise', 'oxc'],
  categories: { correctness: 'error', suspicious: 'error' },
  ignorePatterns: ['dist', 'storybook-static', 'coverage'],
  rules: {
    // `same` is `expect` for what is compared thousands of times; properties have functions of their own.
    'vitest/expect-expect': ['error', { assertFunctionNames: ['expect', 'expect*', 'same'] }],
    'react/rules-of-hooks': 'error',
    'react/exhaustive-deps': 'error',
    'import/no-cycle': 'error',
    'typescript/consistent-type-imports': 'error',
    'typescript/no-explicit-any': 'error',
    'typescript/no-floating-promises': 'error',
    'typescript/no-non-null-assertion': 'error',
    'eslint/no-warning-comments': ['error', { terms: ['todo', 'fixme', 'xxx'] }],
    // The JSX transform brings React along.
    'react/react-in-jsx-scope': 'off',
    // Side-effect imports are how styles and polyfills of tests come in.
    'import/no-unassigned-import': 'off',
    // fast-check reads best under its one short name.
    'import/no-named-as-default-member': 'off',
    // A narrower name in an inner scope often reads best as the same word.
    'eslint/no-shadow': 'off',
    // Casts at a border that has just been validated; inside, types carry the proof.
    'typescript/no-unsafe-type-assertion': 'off',
    // IndexedDB requests have one listener, and it is ours.
    'unicorn/prefer-add-event-listener': 'off',
    // An effect returns a clean-up or nothing; TypeScript holds the functions that state what they return.
    'typescript/consistent-return': 'off',
    // Roles such as treegrid, status and region have no element that behaves alike; axe judges what is rendered.
    'jsx-a11y/prefer-tag-over-role': 'off',
    // What scrolls must be reachable by keyboard; where there may be many, a group: a region is a landmark.
    'jsx-a11y/no-noninteractive-tabindex': [
      'error',
      { tags: [], roles: ['region', 'group', 'tabpanel', 'treegrid', 'log'], allowExpressionValues: true },
    ],
    // Order matters in a walk that awaits each step.
    'eslint/no-await-in-loop': 'off',
  },
  overrides: [
    {
      files: ['test/**'],
      // A test tells its story in one place: the null that would fail it, the small function it alone uses.
      rules: { 'typescript/no-non-null-assertion': 'off', 'unicorn/consistent-function-scoping': 'off' },
    },
    {
      // Renderers name the characters that must not get out: controls, combining marks.
      files: ['src/render/**', 'test/render/**'],
      rules: { 'eslint/no-control-regex': 'off', 'eslint/no-misleading-character-class': 'off' },
    },
    ...roomRules(),
    ...aroundSrc,
  ],
});
