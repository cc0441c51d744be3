import { expect, test } from 'vitest';
import { plural, singular } from '../../src/render/singular.ts';

const pairs = (
  'rule rules|policy policies|step steps|trigger triggers|concept concepts|term terms|hint hints|constraint constraints|' +
  'guardrail guardrails|identity identities|persona personas|alias aliases|glossary glossaries|analogy analogies|' +
  'example examples|workflow workflows|quirk quirks|styleGuide styleGuides|preference preferences|database databases|' +
  'response responses|case cases|house houses|box boxes|match matches|dish dishes|class classes|process processes|' +
  'address addresses|key keys|day days|category categories|photo photos|index indices|matrix matrices|' +
  'analysis analyses|crisis crises|child children|person people|woman women|datum data|criterion criteria|status statuses|' +
  'bus buses|leaf leaves|life lives|movie movies|cache caches|quiz quizzes|Item Items|db_child db_children|ID IDs'
)
  .split('|')
  .map((pair) => pair.split(' ') as [string, string]);

test.each(pairs)('%s and %s belong together', (one, many) => {
  expect([singular(many), plural(one)]).toEqual([one, many]);
  expect([singular(one), plural(many)]).toEqual([one, many]);
});

test.each(['news', 'series', 'species', 'metadata', 'information', 'https'])('%s is both', (word) => {
  expect([singular(word), plural(word)]).toEqual([word, word]);
});

test.each(['', 'js', 'C++', '日本', 'x1', 'mix', 'm', 'earr', '__'])('%j stays in the singular', (word) =>
  expect(singular(word)).toBe(word),
);

test('is done in no time with names of any length', () => {
  for (const name of ['s'.repeat(100_000), 'A'.repeat(100_000), 'aA'.repeat(50_000), 'ies'.repeat(30_000)]) {
    const start = performance.now();
    singular(name);
    plural(name);
    expect(performance.now() - start).toBeLessThan(5000);
  }
});
