import { render } from '@testing-library/react';
import { ContextEngine, hint, InMemoryContextStore, role, useFragments } from 'contextree';
import { reminder } from 'contextree/reminders';
import type { ReactNode } from 'react';
import { describe, expect, it } from 'vitest';
import { engineOn, under } from './harness.tsx';

function Tutor({ words }: { readonly words: string }): ReactNode {
  useTutor(words);
  return null;
}

/** A hook of the app's own, around ours. */
function useTutor(words: string): void {
  useFragments(role(words));
}

describe('where a fragment came from', () => {
  it('is the component that mounted it, and its place, since it says so', () => {
    const engine = engineOn();
    const start = Date.now();
    const { rerender, unmount } = render(<Tutor words="A tutor." />, { wrapper: under(engine) });
    const [fragment] = engine.state.getState().fragments;
    const origin = engine.origin(fragment!);
    expect(origin).toMatchObject({ via: 'component', component: 'Tutor' });
    expect(origin!.source).toMatch(/origin\.test\.tsx.*:\d+:\d+$/);
    expect(origin!.since).toBeGreaterThanOrEqual(start);
    rerender(<Tutor words="A teacher." />);
    const [next] = engine.state.getState().fragments;
    expect(next).not.toBe(fragment);
    expect(engine.origin(next!)).toMatchObject({ component: 'Tutor', source: origin!.source });
    unmount();
    expect(engine.origin(next!)).toMatchObject({ component: 'Tutor' });
  });

  it('is set(), or a reminder, or nothing', () => {
    const engine = engineOn().set(hint('Be brief.'), reminder('Think.'));
    const [set, folding] = engine.state.getState().fragments;
    expect(engine.origin(set!)).toMatchObject({ via: 'set' });
    expect(engine.origin(set!)!.source).toMatch(/origin\.test\.tsx.*:\d+:\d+$/);
    expect(engine.origin(folding!)).toMatchObject({ via: 'reminder' });
    expect(engine.origin(hint('Be brief.'))).toBeUndefined();
  });

  it('is what was kept with the chat', async () => {
    const store = new InMemoryContextStore();
    const options = { store, chatId: 'c', userId: 'me', persistFragments: true };
    await new ContextEngine(options).set(hint('Be brief.')).save();
    const later = new ContextEngine(options);
    await later.ready();
    expect(later.origin(later.state.getState().fragments[0]!)).toMatchObject({ via: 'kept' });
  });
});
