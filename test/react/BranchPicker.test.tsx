import { cleanup, fireEvent, render, screen, waitFor } from '@testing-library/react';
import { useEngine, useEngineState, type ContextEngine } from 'contextree';
import { BranchPicker, type BranchPickerProps } from 'contextree/ai';
import type { ReactNode } from 'react';
import { describe, expect, it, vi } from 'vitest';
import { settle, shown, threeAnswers, under } from './harness.tsx';

/** The list as apps show it: a message that comes in the place of another one is another element. */
function List(props: Partial<BranchPickerProps>): ReactNode {
  const engine = useEngine();
  const messages = useEngineState((state) => state.messages);
  return messages.map(({ id }) => (
    <article key={engine.node(id)?.key}>
      <BranchPicker messageId={id} {...props} />
    </article>
  ));
}

async function open(props: Partial<BranchPickerProps> = {}): Promise<ContextEngine> {
  const engine = await threeAnswers();
  render(<List {...props} />, { wrapper: under(engine) });
  await settle();
  return engine;
}

const group = (): HTMLElement => screen.getByRole('group', { name: 'Versions' });
const button = (name: string): HTMLElement => screen.getByRole('button', { name });

async function press(target: HTMLElement, key?: string): Promise<void> {
  target.focus();
  if (key === undefined) fireEvent.click(target);
  else fireEvent.keyDown(target, { key });
  await settle(2);
}

describe('BranchPicker', () => {
  it('is a named group of two buttons and a place, and nothing for a message with one version', async () => {
    await open();
    expect(screen.getAllByRole('group')).toEqual([group()]);
    expect(group().textContent).toBe('‹3 / 3›');
    expect(screen.getByText('3 / 3').dir).toBe('ltr');
    expect(button('Previous version').getAttribute('aria-disabled')).toBe('false');
    expect(button('Next version').getAttribute('aria-disabled')).toBe('true');
    expect(screen.getByRole('status').textContent).toBe('');
    expect(group().contains(screen.getByRole('status'))).toBe(false);
  });

  it('announces in a place that was there before, and outlives the pager that was pressed', async () => {
    await open();
    const [pager, place] = [group(), screen.getByRole('status')];
    await press(button('Previous version'));
    await waitFor(() => expect(place.textContent).toBe('Version 2 of 3'));
    expect(group()).not.toBe(pager);
    expect(screen.getByRole('status')).toBe(place);
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    cleanup();
    expect(place.isConnected).toBe(true);
    vi.advanceTimersByTime(1000);
    vi.useRealTimers();
    expect(place.isConnected).toBe(false);
  });

  it('shows another version, announces it, and keeps the focus on what was pressed', async () => {
    const engine = await open();
    await press(button('Previous version'));
    await waitFor(() => expect(screen.getByRole('status').textContent).toBe('Version 2 of 3'));
    expect(shown(engine)).toEqual(['q1', 'second']);
    expect(group().textContent).toContain('2 / 3');
    expect(document.activeElement).toBe(button('Previous version'));
    await press(button('Previous version'));
    await waitFor(() => expect(shown(engine)).toEqual(['q1', 'a1']));
    await waitFor(() => expect(document.activeElement).toBe(button('Previous version')));
    await press(button('Previous version'));
    expect(shown(engine)).toEqual(['q1', 'a1']);
    await press(button('Next version'));
    await waitFor(() => expect(screen.getByRole('status').textContent).toBe('Version 2 of 3'));
    expect(document.activeElement).toBe(button('Next version'));
  });

  it('leaves the focus where the person has put it meanwhile', async () => {
    const engine = await open();
    const elsewhere = document.body.appendChild(document.createElement('input'));
    fireEvent.click(button('Previous version'));
    elsewhere.focus();
    await waitFor(() => expect(group().textContent).toContain('2 / 3'));
    await settle();
    expect(shown(engine)).toEqual(['q1', 'second']);
    expect(document.activeElement).toBe(elsewhere);
    elsewhere.remove();
  });

  it.each([
    ['ArrowLeft', 'second'],
    ['Home', 'a1'],
    ['End', 'third'],
    ['ArrowRight', 'third'],
  ])('goes by %s', async (key, version) => {
    const engine = await open();
    await press(button('Next version'), key);
    await waitFor(() => expect(shown(engine)).toEqual(['q1', version]));
  });

  it('turns the arrows round where text runs from right to left', async () => {
    const engine = await open({ style: { direction: 'rtl' } });
    await press(button('Previous version'), 'ArrowRight');
    await waitFor(() => expect(shown(engine)).toEqual(['q1', 'second']));
  });

  it('leaves the arrows to the browser where they go back a page', async () => {
    const engine = await open();
    fireEvent.keyDown(button('Previous version'), { key: 'ArrowLeft', altKey: true });
    await settle(2);
    expect(shown(engine)).toEqual(['q1', 'third']);
  });

  it('speaks other languages, and wears what it is given', async () => {
    await open({
      labels: {
        group: 'Versionen',
        previous: 'Zurück',
        next: 'Weiter',
        position: (n, of) => `${n} von ${of}`,
      },
      icons: { previous: <b>-</b>, next: <b>+</b> },
      className: 'pager',
      buttonClassName: 'small',
    });
    const pager = screen.getByRole('group', { name: 'Versionen' });
    expect([pager.className, button('Weiter').className, pager.textContent]).toEqual([
      'pager',
      'small',
      '-3 / 3+',
    ]);
    await press(button('Zurück'));
    await waitFor(() => expect(screen.getByRole('status').textContent).toBe('2 von 3'));
  });
});
