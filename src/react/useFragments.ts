import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { ContextEngine } from '../engine/engine.ts';
import { copyFragment, dataOf, keepLazy, walkFragments } from '../fragment/copy.ts';
import type { FoldingFragment } from '../fragment/fold.ts';
import { FOLD, type ContextFragment, type LazyValue, type LoadContext } from '../fragment/fragment.ts';
import { isEngine, useEngine } from './provider.tsx';

/**
 * Fragments that follow the interface: what is on the screen is in the prompt. They are new with each render, so they are
 * compared by content, and the engine's state changes when their serialised value does. Functions (promises, iterables) can't
 * be compared: the prompt holds a stand-in by position that calls the newest one at the moment of `resolve()`.
 *
 * The order in the prompt is that of first renders, parents before children; a component that mounts again goes last.
 */

/** Puts fragments into the prompt of the provider's engine while the component is mounted. They are never stored. */
export function useFragments(...fragments: readonly ContextFragment[]): void;
/** Puts fragments into the prompt of the given engine while the component is mounted. */
export function useFragments(engine: ContextEngine, ...fragments: readonly ContextFragment[]): void;
export function useFragments(...args: readonly (ContextEngine | ContextFragment)[]): void {
  const [first, ...rest] = args;
  const given = isEngine(first) ? first : undefined;
  useMountedFragments(useEngine(given), (given ? rest : args) as readonly ContextFragment[]);
}

/** Puts fragments into the prompt of an engine while the component is mounted. */
export function useMountedFragments(engine: ContextEngine, fragments: readonly ContextFragment[]): void {
  const [mount] = useState(() => ({ order: (lastOrder += 1), ...here() }));
  const newest = useRef<Captured>(NOTHING);
  const [standIn] = useState<StandIn>(() => ({
    value: (position) => (context) => {
      const lazy = newest.current.lazies[position];
      return typeof lazy === 'function' ? lazy(context) : lazy;
    },
    fold:
      (index) =>
      async (...turn) =>
        ((newest.current.own[index] as FoldingFragment | undefined)?.[FOLD] ?? unchanged)(...turn),
  }));
  const captured = capture(fragments, standIn);

  useCommitEffect(() => {
    newest.current = captured;
  });
  useCommitEffect(() => {
    const { copies } = newest.current;
    if (copies.length > 0) engine.mountFragments(mount, mount.order, copies);
    else engine.unmountFragments(mount);
  }, [engine, mount, captured.written]);
  useCommitEffect(() => () => engine.unmountFragments(mount), [engine, mount]);
}

/** The place of the call, for `engine.origin()`; in development only. */
function here(): { readonly at?: Error } {
  return process.env.NODE_ENV === 'production' ? {} : { at: new Error('here') };
}

/** Discarded renders take numbers, too: it only matters that parents take theirs before their children. */
let lastOrder = 0;

/** Before the browser paints. On a server, React 18 warns of layout effects. */
const useCommitEffect: typeof useLayoutEffect = typeof window === 'undefined' ? useEffect : useLayoutEffect;

/** What the prompt holds in place of a function that is new with each render, by position. */
interface StandIn {
  readonly value: (position: number) => (context: LoadContext) => unknown;
  readonly fold: (index: number) => Fold;
}

type Fold = FoldingFragment[typeof FOLD];

const unchanged: Fold = async (message) => message;

interface Captured {
  /** Their content, serialised. */
  readonly written: string;
  /** Copies with stand-ins for all lazy values. */
  readonly copies: readonly ContextFragment[];
  /** The lazy values, by the position of their stand-ins. */
  readonly lazies: readonly LazyValue[];
  /** The fragments themselves. */
  readonly own: readonly ContextFragment[];
}

const NOTHING: Captured = { written: '[]', copies: [], lazies: [], own: [] };

function capture(fragments: readonly ContextFragment[], standIn: StandIn): Captured {
  if (fragments.length === 0) return NOTHING;
  const lazies: LazyValue[] = [];
  const replace = (value: LazyValue): LazyValue => standIn.value(lazies.push(keepLazy(value)) - 1);
  const own = fragments.map((fragment) => copyFragment(fragment, replace));
  const copies = own.map((copy, i) => (FOLD in copy ? { ...copy, [FOLD]: standIn.fold(i) } : copy));
  return { written: written(own), copies, lazies, own };
}

/** The content of fragments, with codecs of the app's own called; all lazy values are equal. */
function written(fragments: readonly ContextFragment[]): string {
  const said = walkFragments(fragments, {
    node: (fragment, walk) => {
      const { id, name, persist } = fragment;
      return { id, name, persist, data: dataOf(fragment, walk) };
    },
    lazy: () => '\u0000lazy',
  });
  return JSON.stringify(said);
}
