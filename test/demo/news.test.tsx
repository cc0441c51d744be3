import { waitFor } from '@testing-library/react';
import { expect, test } from 'vitest';
import { local } from '../../stories/demo/safeStorage.ts';
import { ask, furnish, openApp } from './room.tsx';

// What was seen of the branches of a chat, in all tabs.

furnish();

const key = 'demo:seen:';
const kept = (): { readonly ends: readonly string[] } =>
  JSON.parse(local.get(local.keys(key)[0] ?? '') ?? '{"ends":[]}');

test('what another tab saw of a branch that is not known here yet stays seen', async () => {
  openApp();
  await ask('Tea');
  await waitFor(() => expect(kept().ends).toHaveLength(1));
  const [name = ''] = local.keys(key);
  local.set(name, JSON.stringify({ ...kept(), ends: [...kept().ends, 'key:elsewhere 1'] }));
  await ask('Cups');
  await waitFor(() => expect(kept().ends).toContain('key:elsewhere 1'));
});

test('what was seen of branches that are long gone is forgotten', async () => {
  openApp();
  await ask('Tea');
  await waitFor(() => expect(kept().ends).toHaveLength(1));
  const [name = ''] = local.keys(key);
  const many = Array.from({ length: 500 }, (_, i) => `key:gone-${i} 1`);
  local.set(name, JSON.stringify({ ...kept(), ends: many }));
  await ask('Cups');
  await waitFor(() => expect(kept().ends.length).toBeLessThan(100));
});
