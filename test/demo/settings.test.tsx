import { beforeEach, expect, test } from 'vitest';
import { createSettings } from '../../stories/demo/settings/settings.ts';

const filled = {
  baseUrl: 'http://localhost:1/v1',
  model: 'm',
  apiKey: 'sk-secret',
  ownModel: false,
  keepKey: false,
};
const everything = (): string => JSON.stringify([localStorage, sessionStorage]);

beforeEach(() => {
  sessionStorage.clear();
  localStorage.clear();
});

test('by choice, the key stays with the tab', () => {
  createSettings().save({ ...filled, keepKey: true });
  expect(JSON.stringify(localStorage)).not.toContain('sk-secret');
  expect(createSettings().get()).toEqual({ ...filled, keepKey: true });
});

test('a choice taken back takes the key back', () => {
  const settings = createSettings();
  settings.save({ ...filled, keepKey: true });
  settings.save(filled);
  expect(everything()).not.toContain('sk-secret');
});

test('a reset leaves nothing', () => {
  const settings = createSettings();
  settings.save({ ...filled, keepKey: true });
  settings.reset();
  expect(settings.get()).toEqual({ baseUrl: '', model: '', apiKey: '', ownModel: false, keepKey: false });
  expect(everything()).toBe('[{},{}]');
});

test('damaged settings are as good as none', () => {
  localStorage.setItem('demo:model', '{"baseUrl":7');
  expect(createSettings().get().baseUrl).toBe('');
});
