import { act, fireEvent, render } from '@testing-library/react';
import { ContextDevtools, ContextDevtoolsPanel } from 'contextree/devtools';
import { renderToString } from 'react-dom/server';
import { describe, expect, it, vi } from 'vitest';
import {
  App,
  chat,
  eventually,
  findPanel,
  focused,
  open,
  opener,
  panel,
  press,
  say,
  settle,
  show,
  type,
  stopFrames,
} from './room.tsx';

describe('the button', () => {
  it('takes no focus when the page opens with the panel', async () => {
    show(await chat('q1'), { initialIsOpen: true });
    await eventually(panel);
    await settle();
    expect(focused()).toBe(document.body);
  });

  it('that was never pressed leaves an open panel open at the next visit', async () => {
    const engine = await chat('q1');
    const { unmount } = show(engine, { initialIsOpen: true });
    await eventually(panel);
    unmount();
    expect(findPanel()).toBeNull();
    show(engine);
    await eventually(() => expect(findPanel()).not.toBeNull());
  });

  it('works where the browser refuses to remember', async () => {
    const refuse = (): never => {
      throw new DOMException('denied', 'SecurityError');
    };
    vi.spyOn(Storage.prototype, 'getItem').mockImplementation(refuse);
    vi.spyOn(Storage.prototype, 'setItem').mockImplementation(refuse);
    await open(await chat('q1'));
    expect(findPanel()).not.toBeNull();
    vi.restoreAllMocks();
  });

  it('takes damaged memory for a first visit', async () => {
    localStorage.setItem('contextree:devtools', 'null');
    show(await chat('q1'));
    await settle();
    expect(findPanel()).toBeNull();
    localStorage.setItem('contextree:devtools', '{"tab":"Gone"');
    await press(opener());
    await eventually(panel);
    expect(panel().getByRole('tab', { name: 'Graph' }).getAttribute('aria-selected')).toBe('true');
  });

  it('tells the app when it opens and closes', async () => {
    const told = vi.fn<(isOpen: boolean) => void>();
    show(await chat('q1'), { onOpenChange: told });
    await settle();
    expect(told).toHaveBeenLastCalledWith(false);
    await press(opener());
    expect(told).toHaveBeenLastCalledWith(true);
  });

  it('opens and closes with its hotkey, whatever the layout of the keyboard, but not while an app uses the keys', async () => {
    show(await chat('q1'));
    await settle();
    await hotkey({ code: 'Period', key: ':' });
    await eventually(panel);
    await hotkey({ code: 'Period', key: ':' });
    expect(findPanel()).toBeNull();
    const take = (event: KeyboardEvent): void => event.preventDefault();
    document.addEventListener('keydown', take);
    await hotkey({ code: 'Period' });
    document.removeEventListener('keydown', take);
    await hotkey({ code: 'Period', isComposing: true });
    expect(findPanel()).toBeNull();
  });

  it('opens again with its hotkey from the button, which has the focus after it was closed', async () => {
    await open(await chat('q1', 'a1'));
    const keys = { code: 'Period', key: ':', ctrlKey: true, shiftKey: true, bubbles: true, composed: true };
    const pressKeys = async (): Promise<void> => {
      await act(async () => void fireEvent.keyDown(focused() as HTMLElement, keys));
      await settle();
    };
    await pressKeys();
    expect(findPanel()).toBeNull();
    expect(focused()).toBe(opener());
    await pressKeys();
    expect(findPanel()).not.toBeNull();
  });

  it('has the hotkey that it is given, or none', async () => {
    const engine = await chat('q1');
    const { unmount } = show(engine, { hotkey: 'Alt+KeyD' });
    await settle();
    await hotkey({ code: 'KeyD', ctrlKey: false, shiftKey: false, altKey: true });
    await eventually(panel);
    unmount();
    localStorage.clear();
    show(engine, { hotkey: null });
    await settle();
    await hotkey({ code: 'Period' });
    expect(findPanel()).toBeNull();
  });

  it('renders nothing on a server', async () => {
    const engine = await chat('q1');
    const html = renderToString(
      <App engine={engine}>
        <ContextDevtools initialIsOpen />
        <ContextDevtoolsPanel />
      </App>,
    );
    expect(html).toBe('<main>the app</main>');
  });
});

/** Presses the keys of the default hotkey in the page, or others. */
async function hotkey(keys: KeyboardEventInit): Promise<void> {
  const init = { ctrlKey: true, shiftKey: true, bubbles: true, cancelable: true, ...keys };
  await act(async () => void document.body.dispatchEvent(new KeyboardEvent('keydown', init)));
  await settle();
}

describe('its place', () => {
  const insets = (): string[] =>
    ['top', 'right', 'bottom', 'left'].map((side) =>
      document.documentElement.style.getPropertyValue(`--contextree-inset-${side}`),
    );

  it('is told to the app and to its styles, and given back when it closes', async () => {
    const told = vi.fn<(insets: object) => void>();
    show(await chat('q1'), { onInsetsChange: told, position: 'bottom' });
    await press(opener());
    await eventually(panel);
    const { bottom } = (told.mock.lastCall as [{ bottom: number }])[0];
    expect(bottom).toBeGreaterThan(100);
    expect(insets()).toEqual(['0px', '0px', `${bottom}px`, '0px']);
    await type(focused() as HTMLElement, 'Escape');
    expect(told).toHaveBeenLastCalledWith({ top: 0, right: 0, bottom: 0, left: 0 });
    expect(insets()).toEqual(['0px', '0px', '0px', '0px']);
  });

  it('is chosen from a menu, which Escape closes alone, and remembered', async () => {
    const engine = await chat('q1');
    const { unmount } = await open(engine);
    const menu = panel().getByRole('button', { name: 'Dock and theme' });
    await press(menu);
    await eventually(() => panel().getByRole('menu'));
    await type(focused() as HTMLElement, 'ArrowDown');
    expect(focused()?.textContent).toBe('Bottom');
    await type(focused() as HTMLElement, 'Escape');
    expect(focused()).toBe(menu);
    expect(panel().queryByRole('menu')).toBeNull();
    await press(menu);
    await press(panel().getByRole('menuitemradio', { name: 'Bottom' }));
    expect(insets()[2]).not.toBe('0px');
    await press(menu);
    await press(panel().getByRole('menuitemradio', { name: 'Dark' }));
    unmount();
    show(engine);
    await eventually(panel);
    expect(insets()[2]).not.toBe('0px');
    expect(findPanel()?.closest<HTMLElement>('.root')?.style.colorScheme).toBe('dark');
  });

  it('is not offered where the window has no room, and the menu says from which width on it has', async () => {
    await open(await chat('q1'));
    await press(panel().getByRole('button', { name: 'Dock and theme' }));
    const items = await eventually(() =>
      panel().getAllByRole('menuitemradio', { name: /Right|Left|Bottom/ }),
    );
    expect(items.map(({ textContent }) => textContent)).toEqual([
      'Right - from 1,152 px on',
      'Bottom',
      'Left - from 1,152 px on',
    ]);
    expect(items.map((item) => item.getAttribute('aria-disabled'))).toEqual(['true', 'false', 'true']);
    const { innerWidth } = window;
    await act(async () => {
      window.innerWidth = 1152;
      window.dispatchEvent(new Event('resize'));
    });
    expect(items.map(({ textContent }) => textContent)).toEqual(['Right', 'Bottom', 'Left']);
    await press(items[2] as HTMLElement);
    expect(insets()[3]).toBe('420px');
    window.innerWidth = innerWidth;
  });

  it('stays in the page where the browser blocks its window, and says what to do', async () => {
    vi.spyOn(window, 'open').mockReturnValue(null);
    await open(await chat('q1'));
    await press(panel().getByRole('button', { name: 'Dock and theme' }));
    await press(await eventually(() => panel().getByRole('menuitemradio', { name: 'Own window' })));
    const alert = await eventually(() => panel().getByRole('alert'));
    expect(alert.textContent).toBe(
      'The browser blocked the window. Allow pop-ups for this site, then try again.',
    );
    await press(panel().getByRole('button', { name: 'Close the message' }));
    expect(panel().queryByRole('alert')).toBeNull();
    vi.restoreAllMocks();
  });

  it('folds while a focused field of the app is under it, also where it was scrolled to', async () => {
    await open(await chat('q1'), undefined, { position: 'top' });
    const field = document.body.appendChild(document.createElement('input'));
    const place = vi.spyOn(field, 'getBoundingClientRect');
    const scrollTo = (top: number): Promise<void> =>
      act(async () => {
        place.mockReturnValue(new DOMRect(0, top, 100, 20));
        document.body.dispatchEvent(new Event('scroll'));
      });
    await scrollTo(700);
    await act(async () => field.focus());
    const isFolded = (): boolean => findPanel()?.closest('.collapsed') !== null;
    expect(isFolded()).toBe(false);
    await scrollTo(100);
    expect(isFolded()).toBe(true);
    await scrollTo(700);
    expect(isFolded()).toBe(false);
    field.remove();
  });

  it('grows and shrinks with the keyboard', async () => {
    await open(await chat('q1'), undefined, { position: 'bottom' });
    const separator = findPanel()?.parentElement?.querySelector('[role=separator]') as HTMLElement;
    const before = Number(separator.ariaValueNow ?? separator.getAttribute('aria-valuenow'));
    await type(separator, 'ArrowDown', 'ArrowDown');
    expect(Number(separator.getAttribute('aria-valuenow'))).toBe(before - 32);
    expect(insets()[2]).toBe(`${before - 32}px`);
  });
});

describe('a closed panel', () => {
  it('reads nothing while the conversation goes on', async () => {
    const engine = await chat('q1', 'a1');
    show(engine);
    const read = vi.spyOn(engine, 'graph');
    await say(engine, 'q2', 'a2');
    expect(read).not.toHaveBeenCalled();
  });
});

describe('an open panel', () => {
  it('draws at most once per animation frame, whatever happens in between', async () => {
    const engine = await chat('q1', 'a1');
    await open(engine);
    const read = vi.spyOn(engine, 'graph');
    const frames = stopFrames();
    for (let i = 0; i < 20; i += 1) await act(() => engine.checkpoint(`point-${i}`));
    expect(frames.asked()).toBe(1);
    await frames.go();
    expect(read.mock.calls.length).toBeLessThanOrEqual(2);
    expect(panel().getAllByText(/^checkpoint point-/)).toHaveLength(20);
  });

  it('keeps its keys and clicks from the app around it', async () => {
    const engine = await chat('q1', 'a1');
    const heard = vi.fn<() => void>();
    render(
      <App engine={engine}>
        {/* oxlint-disable-next-line jsx-a11y/no-static-element-interactions */}
        <div onClick={heard} onKeyDown={heard} onFocus={heard}>
          <ContextDevtools buttonPosition="relative" />
        </div>
      </App>,
    );
    await press(opener());
    await eventually(panel);
    await type(focused() as HTMLElement, 'ArrowRight', 'x');
    expect(heard).not.toHaveBeenCalled();
  });

  it('stands in a page without a button to close it', async () => {
    render(
      <App engine={await chat('q1', 'a1')}>
        <ContextDevtoolsPanel />
      </App>,
    );
    await eventually(() => expect(panel().getAllByRole('row')).toHaveLength(2));
    expect(panel().queryByRole('button', { name: 'Close contextree devtools' })).toBeNull();
  });

  it('shows the engine that it is given rather than the provider’s', async () => {
    const other = await chat('q-other');
    show(await chat('q1'), { engine: other, initialIsOpen: true });
    await eventually(() => expect(panel().getByRole('row').textContent).toContain('q-other'));
  });
});

describe('a panel that fails', () => {
  it('tries again when it is told to', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const engine = await chat('q1', 'a1');
    vi.spyOn(engine, 'graph').mockImplementation(() => {
      throw new Error('a row is corrupt');
    });
    await open(engine);
    expect(panel().getByRole('alert').textContent).toContain('a row is corrupt');
    vi.restoreAllMocks();
    await press(panel().getByRole('button', { name: 'Try again' }));
    expect(panel().getAllByRole('row')).toHaveLength(2);
  });

  it('says what is missing where there is neither engine nor provider', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => undefined);
    render(<ContextDevtools initialIsOpen />);
    await eventually(() =>
      expect(panel().getByRole('alert').textContent).toContain('<ContextEngineProvider'),
    );
    vi.restoreAllMocks();
  });
});
