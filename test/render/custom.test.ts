import { expect, test } from 'vitest';
import { ContextEngine } from '../../src/engine/engine.ts';
import { hint, term } from '../../src/fragment/builders.ts';
import { fragment } from '../../src/fragment/fragment.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import { jsonRenderer } from '../../stories/docs/jsonRenderer.ts';

test('a renderer of ten lines shows fragments as JSON, nested ones too', () => {
  expect(jsonRenderer.render([hint('a'), term('MRR', 'revenue'), fragment('box', hint('b'))])).toBe(
    '[{"hint":"a"},{"term":{"name":"MRR","definition":"revenue"}},{"box":[{"hint":"b"}]}]',
  );
});

test('an engine takes it as its own, or for one call', async () => {
  const options = { store: new InMemoryContextStore(), chatId: 'c', userId: 'me' };
  const engine = new ContextEngine({ ...options, renderer: jsonRenderer });
  engine.set(hint(async () => 'loaded'));
  expect((await engine.resolve()).systemPrompt).toBe('[{"hint":"loaded"}]');
  const other = new ContextEngine(options);
  other.set(hint('a'));
  expect((await other.resolve({ renderer: jsonRenderer })).systemPrompt).toBe('[{"hint":"a"}]');
});
