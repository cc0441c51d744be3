/** The builders that both sides have; each side gets its own fragments. */
export interface Builders {
  readonly fragment: (name: string, ...children: unknown[]) => unknown;
  readonly role: (content: string) => unknown;
  readonly term: (name: string, definition: string) => unknown;
  readonly hint: (text: string) => unknown;
  readonly guardrail: (input: { rule: string; reason?: string; action?: string }) => unknown;
  readonly explain: (input: { concept: string; explanation: string; therefore?: string }) => unknown;
  readonly example: (input: { question: string; answer: string; note?: string }) => unknown;
  readonly workflow: (input: {
    task: string;
    steps: string[];
    triggers?: string[];
    notes?: string;
  }) => unknown;
  readonly styleGuide: (input: { prefer: string; never?: string }) => unknown;
  readonly principle: (input: { title: string; description: string; policies?: unknown[] }) => unknown;
  readonly policy: (input: {
    rule: string;
    before?: string;
    reason?: string;
    policies?: unknown[];
  }) => unknown;
  readonly identity: (input: { name?: string; role?: string }) => unknown;
  readonly preference: (aspect: string, value: string) => unknown;
}

/** A prompt of 200 fragments. */
export interface Shape {
  readonly name: string;
  readonly build: (side: Builders) => unknown[];
}

const SENTENCES = [
  'Answer with numbers from the warehouse, never from memory.',
  "If a question is unclear, ask for the customer's goal first.",
  'Revenue is booked on the day of delivery; refunds count against the day of the order.',
  'Prefer `LEFT JOIN` over sub-selects & keep <aliases> short.',
  'Dates are ISO 8601: 2026-01-31, in the zone of the shop.',
];

function sentence(i: number): string {
  return SENTENCES[i % SENTENCES.length] as string;
}

/** About 2 kB in paragraphs, lists and a block of code. */
function essay(i: number): string {
  const paragraph = SENTENCES.join(' ');
  return `${paragraph}\n\n- ${sentence(i)}\n- ${sentence(i + 1)}\n\n\`\`\`sql\nSELECT id, total -- of case ${i}\nFROM orders WHERE total > ${i};\n\`\`\`\n\n${paragraph} ${paragraph}\n${paragraph} ${paragraph}`;
}

function rows(i: number): { id: number; name: string; price: number; sold: boolean }[] {
  return Array.from({ length: 10 }, (_, row) => ({
    id: i * 10 + row,
    name: `Product ${row}`,
    price: row * 1.25,
    sold: row % 3 === 0,
  }));
}

function times(build: (i: number) => unknown): unknown[] {
  return Array.from({ length: 200 }, (_, i) => build(i));
}

export const shapes: readonly Shape[] = [
  { name: 'flat hints', build: ({ hint }) => times((i) => hint(`${sentence(i)} (${i})`)) },
  {
    name: 'nested policies and workflows',
    build: ({ policy, principle, workflow }) =>
      times((i) =>
        i % 2 === 0
          ? principle({
              title: `Principle ${i}`,
              description: sentence(i),
              policies: [
                policy({ rule: sentence(i + 1), reason: sentence(i + 2) }),
                policy({ rule: sentence(i + 3), policies: [policy({ rule: sentence(i + 4) })] }),
              ],
            })
          : workflow({ task: sentence(i), steps: SENTENCES, triggers: ['a refund', 'an audit'] }),
      ),
  },
  {
    name: 'tables of rows',
    build: ({ fragment }) =>
      times((i) => fragment(`table_${i}`, fragment('rows', ...rows(i)), { primaryKey: 'id', indexed: true })),
  },
  { name: 'long texts', build: ({ fragment }) => times((i) => fragment('chapter', essay(i))) },
  {
    name: 'a bit of everything',
    build: (side) => {
      const builds: ((i: number) => unknown)[] = [
        (i) => side.role(`You are assistant ${i}.`),
        (i) => side.term(`MRR${i}`, 'monthly recurring revenue'),
        (i) => side.hint(sentence(i)),
        (i) => side.guardrail({ rule: sentence(i), reason: 'policy', action: 'refuse politely' }),
        (i) => side.explain({ concept: 'churn', explanation: sentence(i), therefore: sentence(i + 1) }),
        (i) => side.example({ question: sentence(i), answer: 'SELECT *\nFROM t\nWHERE a < 3', note: 'fast' }),
        (i) => side.workflow({ task: 'report', steps: [sentence(i), sentence(i + 1), 'send it'] }),
        (i) => side.styleGuide({ prefer: sentence(i), never: 'shout' }),
        (i) =>
          side.principle({
            title: 'Care',
            description: sentence(i),
            policies: [side.policy({ rule: 'ask' })],
          }),
        (i) => side.identity({ name: `User ${i}`, role: 'analyst' }),
        (i) => side.preference('tone', sentence(i)),
        (i) =>
          side.fragment(
            'database',
            side.hint(sentence(i)),
            side.fragment('tables', 'users', 'orders', 'items'),
          ),
        (i) => side.fragment('limits', { rows: i, timeout: 30, tags: ['a', 'b'], nested: { deep: true } }),
      ];
      return times((i) => builds[i % builds.length]?.(i));
    },
  },
];
