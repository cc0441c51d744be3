import { expect, test } from 'vitest';
import { plural, singular } from '../../src/render/singular.ts';

const pairs = (
  'rule rules|policy policies|step steps|trigger triggers|concept concepts|term terms|hint hints|constraint constraints|' +
  'guardrail guardrails|identity identities|persona personas|alias aliases|glossary glossaries|analogy analogies|' +
  'example examples|workflow workflows|quirk quirks|styleGuide styleGuides|preference preferences|database databases|' +
  'response responses|case cases|house houses|box boxes|match matches|dish dishes|class classes|process processes|' +
  'address addresses|key keys|day days|category categories|photo photos|index indices|matrix matrices|' +
  'analysis analyses|crisis crises|child children|person people|woman women|datum data|criterion criteria|status statuses|' +
  'bus buses|leaf leaves|life lives|movie movies|cache caches|quiz quizzes|Item Items|db_child db_children|ID IDs|' +
  'wolf wolves|campus campuses|menu menus|api apis|phenomenon phenomena|mouse mice|toe toes|pie pies|API APIs|' +
  'submenu submenus|KPI KPIs|GPU GPUs|wiki wikis|emoji emojis|taxi taxis|uri uris|guru gurus|' +
  'virus viruses|bonus bonuses|focus focuses|census censuses|canvas canvases|bias biases|lens lenses|gas gases|' +
  'schema schemas|agenda agendas|quota quotas|formula formulas|idea ideas|stadium stadiums|' +
  'memorandum memoranda|curriculum curricula|bacterium bacteria|corpus corpora|radius radii|stimulus stimuli|cactus cacti|' +
  'thesis theses|hypothesis hypotheses|diagnosis diagnoses|axis axes|vertex vertices|suffix suffixes|regex regexes|' +
  'knife knives|wife wives|half halves|shelf shelves|self selves|loaf loaves|thief thieves|' +
  'belief beliefs|proof proofs|brief briefs|gulf gulfs|valve valves|olive olives|archive archives|move moves|' +
  'tooth teeth|goose geese|ox oxen|man men|salesman salesmen|human humans|german germans|talisman talismans|' +
  'hero heroes|potato potatoes|echo echoes|video videos|todo todos|shoe shoes|foe foes|canoe canoes|' +
  'cookie cookies|tie ties|lie lies|zombie zombies|calorie calories|query queries|copy copies|theory theories|glory glories|' +
  'niche niches|ache aches|headache headaches|coach coaches|approach approaches|' +
  'use uses|cause causes|clause clauses|excuse excuses|purpose purposes|exercise exercises|promise promises|' +
  'base bases|phase phases|size sizes|prize prizes|waltz waltzes|specimen specimens|slice slices|' +
  'value values|issue issues|queue queues|image images'
)
  .split('|')
  .map((pair) => pair.split(' ') as [string, string]);

test.each(pairs)('%s and %s belong together', (one, many) => {
  expect([singular(many), plural(one)]).toEqual([one, many]);
  expect([singular(one), plural(many)]).toEqual([one, many]);
});

test.each('news series species metadata information feedback software fish https dns'.split(' '))(
  '%s is both',
  (word) => {
    expect([singular(word), plural(word)]).toEqual([word, word]);
  },
);

test.each(['', 'js', 'C++', '日本', 'x1', 'mix', 'm', 'earr', '__'])('%j stays in the singular', (word) =>
  expect(singular(word)).toBe(word),
);

test.each(['hint2', 'x1', 'policy_2', 's3', 'Utf8'])('%s, which ends in a digit, gets a plural', (name) => {
  expect([plural(name), singular(`${name}s`)]).toEqual([`${name}s`, name]);
  expect([singular(name), plural(`${name}s`)]).toEqual([name, `${name}s`]);
});
