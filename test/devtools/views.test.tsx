import { expect, it } from 'vitest';
import { chat, eventually, open, panel, press, show } from './room.tsx';

const tab = (name: string): HTMLElement => panel().getByRole('tab', { name });
const shown = (): string | null => panel().getByRole('tab', { selected: true }).textContent;

it('opens with the view that was shown last; with the graph, where that is unknown', async () => {
  const engine = await chat('q1');
  const first = await open(engine, 'Prompt');
  first.unmount();
  const second = show(engine);
  await eventually(() => expect(shown()).toBe('Prompt'));
  second.unmount();
  localStorage.setItem('contextree:devtools', '{"isOpen":true,"tab":"Of a later version"}');
  show(engine);
  await eventually(() => expect(shown()).toBe('Graph'));
});

it('keeps the selected message while one looks at other views', async () => {
  await open(await chat('q1', 'a1'));
  await press(panel().getAllByRole('row')[0] as HTMLElement);
  await press(tab('Snapshot'));
  await press(tab('Graph'));
  expect(panel().getAllByRole('row')[0]?.getAttribute('aria-selected')).toBe('true');
});
