import { render } from '@testing-library/react';
import { ContextDevtools } from 'contextree/devtools';
import { contextreePlugin } from 'contextree/devtools/tanstack';
import { describe, expect, it } from 'vitest';
import type { ContextreeConsole } from '../../devtools/console.ts';
import { App, chat, eventually, findPanel, rows, say, SECRET, settle, show } from './room.tsx';

const asked = (): ContextreeConsole | undefined =>
  (globalThis as Record<string, unknown>)['__CONTEXTREE__'] as ContextreeConsole | undefined;

/** The console, when it is there: its code comes with the first devtools. */
function answering(): Promise<ContextreeConsole> {
  return eventually(() => {
    const found = asked();
    if (!found) throw new Error('The console is not there yet.');
    return found;
  });
}

describe('the console of the page', () => {
  it('is there while devtools are mounted, open or not, and asks nothing before it is asked', async () => {
    expect(asked()).toBeUndefined();
    const { unmount } = show(await chat('q1'));
    await eventually(() => expect(asked()?.help).toContain('whyCacheBroke'));
    unmount();
    expect(asked()).toBeUndefined();
  });

  it('answers with plain data: chats, graph, prompt, difference, operations, storage', async () => {
    const engine = await chat('q1', 'a1', 'q2');
    await engine.checkpoint('Here', { at: 'a1' });
    show(engine);
    const page = await answering();
    expect(await page.chats()).toMatchObject([{ chatId: 'c', branch: 'main', isReadOnly: false }]);
    expect(await page.graph()).toMatchObject({ nodes: [{ id: 'q1' }, { id: 'a1' }, { id: 'q2' }] });
    const { at } = engine.graph().nodes[1]!;
    expect(await page.graph({ at })).toMatchObject({ nodes: [{ id: 'q1' }, { id: 'a1' }], at });
    expect(await page.promptAt('a1')).toMatchObject({ messages: [{ id: 'q1' }, { id: 'a1' }], system: '' });
    expect(await page.compare('a1', 'q2')).toMatchObject({ ancestorId: 'a1' });
    expect(await page.operations()).toMatchObject([{ kind: 'checkpoint', label: 'Here' }]);
    expect(await page.storage()).toMatchObject({ messages: 3, findings: [] });
    expect(await page.whyCacheBroke()).toMatch(/^No request is recorded/);
  });

  it('masks secrets, and has no way to write', async () => {
    const engine = await chat(`q1=${SECRET}`);
    show(engine);
    const page = await answering();
    expect(JSON.stringify([await page.graph(), await page.promptAt()])).not.toContain('a1B2');
    expect(Object.keys(page).join(' ')).toBe(
      'help chats graph promptAt compare whyCacheBroke operations storage',
    );
  });

  it('is asked of one of several chats by its id, and says which there are', async () => {
    const [first, second] = [await chat('q1'), await chat('q7', 'a7')];
    Object.defineProperty(second, 'chatId', { value: 'second' });
    render(
      <App engine={first}>
        <ContextDevtools engines={[first, second]} />
      </App>,
    );
    const page = await answering();
    expect(await page.graph({ chatId: 'c' })).toMatchObject({ nodes: [{ id: 'q1' }] });
    expect(await page.graph()).toMatchObject({ nodes: [{ id: 'q7' }, { id: 'a7' }] });
    await expect(page.graph({ chatId: 'third' })).rejects.toThrow(
      'There is no chat "third" here. These are: c, second.',
    );
  });

  it('comes with the engine, where that is made later than the devtools', async () => {
    const { rerender } = render(<ContextDevtools />);
    await settle();
    rerender(<ContextDevtools engine={await chat('q1')} />);
    expect(await (await answering()).graph()).toMatchObject({ nodes: [{ id: 'q1' }] });
  });

  it('asks nobody where there is no engine, and the app goes on', async () => {
    render(<ContextDevtools />);
    await settle();
    expect(asked()).toBeUndefined();
  });
});

describe('the plugin of TanStack Devtools', () => {
  it('has a fixed id, and shows the panel in the theme of its shell', async () => {
    const engine = await chat('q1', 'a1');
    const plugin = contextreePlugin({ engine });
    expect(plugin).toMatchObject({ id: 'contextree', name: 'contextree' });
    render(<>{plugin.render(document.body, { theme: 'dark' })}</>);
    await eventually(() => expect(rows()).toHaveLength(2));
    const root = findPanel()?.getRootNode() as ShadowRoot;
    expect(root.querySelector<HTMLElement>('.root')?.style.colorScheme).toBe('dark');
    await say(engine, 'q2');
    await eventually(() => expect(rows()).toHaveLength(3));
  });
});
