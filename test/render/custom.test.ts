import { expect, test } from 'vitest';
import { hint, term } from '../../src/fragment/builders.ts';
import { fragment } from '../../src/fragment/fragment.ts';
import { jsonRenderer } from '../../stories/docs/jsonRenderer.ts';

test('a renderer of ten lines shows fragments as JSON, nested ones too', () => {
  expect(jsonRenderer.render([hint('a'), term('MRR', 'revenue'), fragment('box', hint('b'))])).toBe(
    '[{"hint":"a"},{"term":{"name":"MRR","definition":"revenue"}},{"box":[{"hint":"b"}]}]',
  );
});
