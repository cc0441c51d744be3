import { expect, test } from 'vitest';
import { hint, term } from '../../src/fragment/builders.ts';
import { getFragmentData, isFragment, type ContextFragment } from '../../src/fragment/fragment.ts';
import type { ContextRenderer } from '../../src/render/renderer.ts';

/** A renderer of one's own: a name, and one method from fragments to text. */
const json: ContextRenderer = {
  name: 'json',
  render: (fragments) =>
    JSON.stringify(fragments.map(pair), (_, value: unknown) => (isFragment(value) ? pair(value) : value)),
};

function pair(fragment: ContextFragment): Record<string, unknown> {
  return { [fragment.name]: getFragmentData(fragment) };
}

test('a renderer of ten lines shows fragments as JSON', () => {
  expect(json.render([hint('a'), term('MRR', 'revenue')])).toBe(
    '[{"hint":"a"},{"term":{"name":"MRR","definition":"revenue"}}]',
  );
});
