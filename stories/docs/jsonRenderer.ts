import { getFragmentData, isFragment, type ContextFragment, type ContextRenderer } from 'contextree';

/** Shows fragments as JSON: a name, and one method from fragments to text. */
export const jsonRenderer: ContextRenderer = {
  name: 'json',
  render: (fragments) =>
    JSON.stringify(fragments.map(pair), (_, value: unknown) => (isFragment(value) ? pair(value) : value)),
};

function pair(fragment: ContextFragment): Record<string, unknown> {
  return { [fragment.name]: getFragmentData(fragment) };
}
