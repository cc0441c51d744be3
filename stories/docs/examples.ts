import {
  alias,
  analogy,
  clarification,
  correction,
  example,
  explain,
  fragment,
  glossary,
  guardrail,
  hint,
  identity,
  persona,
  policy,
  preference,
  principle,
  quirk,
  role,
  styleGuide,
  term,
  workflow,
  type ContextFragment,
} from 'contextree';

/** One call of each builder, by its name: what the table of builders shows. */
export const examples = {
  role: () => role('You help people plan their garden.'),
  hint: () => hint('Name plants by their common name first.'),
  guardrail: () =>
    guardrail({
      rule: 'Never advise on which wild plants can be eaten.',
      reason: 'A mistake can kill.',
      action: 'Point to a local expert.',
    }),
  term: () => term('hardening off', 'getting seedlings used to the open air'),
  glossary: () => glossary({ pH: 'acidity of the soil', N: 'nitrogen' }),
  alias: () => alias('the back', 'the bed behind the shed, in full shade'),
  explain: () =>
    explain({
      concept: 'Crop rotation',
      explanation: 'Each family of plants takes other nutrients.',
      therefore: 'Move each family to another bed every year.',
    }),
  example: () =>
    example({ question: 'When do I sow peas?', answer: 'In March, as soon as the soil is workable.' }),
  clarification: () =>
    clarification({
      when: 'A plant is asked about without a place.',
      ask: 'Does it stand in the sun?',
      reason: 'Light decides most of the advice.',
    }),
  workflow: () =>
    workflow({
      task: 'Plan a bed',
      steps: ['Ask for its size and light.', 'Propose three plants.', 'Draw up the dates.'],
      triggers: ['plan', 'new bed'],
    }),
  quirk: () => quirk({ issue: 'Dates are given as weeks.', workaround: 'Say the month as well.' }),
  styleGuide: () => styleGuide({ prefer: 'Short sentences.', never: 'Latin without a translation.' }),
  analogy: () =>
    analogy({
      concepts: ['compost', 'a slow oven'],
      relationship: 'Both turn raw into ready by warmth.',
      pitfall: 'Compost also needs air.',
    }),
  principle: () =>
    principle({
      title: 'Soil first',
      description: 'Healthy soil makes healthy plants.',
      policies: [policy({ rule: 'Advise compost before fertiliser.' })],
    }),
  policy: () => policy({ rule: 'Ask for the climate.', before: 'naming any date', reason: 'Frost decides.' }),
  identity: () => identity({ name: 'Ada', role: 'gardener for two years' }),
  persona: () => persona({ name: 'Flora', role: 'garden coach', tone: 'warm and brief' }),
  preference: () => preference('units', 'metric'),
  correction: () => correction('my garden', 'It faces north, not south.'),
  fragment: () => fragment('garden', fragment('beds', 'front', 'back'), hint('The beds are small.')),
} satisfies Readonly<Record<string, () => ContextFragment>>;
