/**
 * The singular and plural of English nouns, as far as names in prompts need them: `rules` holds items named `rule`,
 * several `policy` fragments group under `policies`.
 *
 * A name may be several words (`styleGuides`, `db_children`); its last word is what changes. Words that the rules
 * below would get wrong stand in the list; a name that nothing applies to stays as it is.
 */

const PAIRS = (
  'child children|person people|man men|woman women|foot feet|quiz quizzes|datum data|criterion criteria|index indices|' +
  'vertex vertices|matrix matrices|analysis analyses|thesis theses|hypothesis hypotheses|crisis crises|' +
  'diagnosis diagnoses|knife knives|life lives|half halves|shelf shelves|leaf leaves|movie movies|cookie cookies|' +
  'tie ties|cache caches|shoe shoes|alias aliases|bias biases|status statuses|bus buses|bonus bonuses|virus viruses|' +
  'canvas canvases|lens lenses|news|series|species|means|media|metadata|information|feedback|dns|https'
)
  .split('|')
  .map((pair): [singular: string, plural: string] => {
    const [one = '', many = one] = pair.split(' ');
    return [one, many];
  });

const PLURAL_OF = new Map(PAIRS);
const SINGULAR_OF = new Map(PAIRS.map(([one, many]) => [many, one]));

/** `rules` -> `rule`, `policies` -> `policy`; a singular stays. */
export function singular(name: string): string {
  return changeLastWord(name, (word) => {
    if (SINGULAR_OF.has(word)) return SINGULAR_OF.get(word);
    if (PLURAL_OF.has(word) || word.length < 3 || /[sui]s$/.test(word)) return word;
    if (word.endsWith('ies')) return word.replace(/ies$/, 'y');
    return word.replace(/(ch|sh|x|ss|zz|[^aeiou]o)es$|s$/, '$1');
  });
}

/** `rule` -> `rules`, `policy` -> `policies`; a plural stays. */
export function plural(name: string): string {
  return changeLastWord(name, (word) => {
    if (PLURAL_OF.has(word)) return PLURAL_OF.get(word);
    if (/(?:ss|x|z|ch|sh)$/.test(word)) return `${word}es`;
    if (word.endsWith('sis')) return word.replace(/is$/, 'es');
    if (word.endsWith('s') || SINGULAR_OF.has(word)) return word;
    return /[^aeiou]y$/.test(word) ? word.replace(/y$/, 'ies') : `${word}s`;
  });
}

/** The change sees the word in lower case and gives as much of it back in the word's own case as it kept. */
function changeLastWord(name: string, change: (word: string) => string | undefined): string {
  return name.replace(LAST_WORD, (word) => {
    const lower = word.toLowerCase();
    const changed = change(lower) ?? lower;
    let kept = 0;
    while (kept < changed.length && changed[kept] === lower[kept]) kept++;
    return word.slice(0, kept) + changed.slice(kept);
  });
}

/** Looks behind, so that a run of letters is tried from its beginning only: names may be long. */
const LAST_WORD = /(?:(?<![A-Z])[A-Z]{2,}s?|(?:[A-Z]|(?<![A-Za-z]))[a-z]+)$/;
