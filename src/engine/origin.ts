import type { ContextFragment } from '../fragment/fragment.ts';

/** Where a fragment of the prompt came from. */
export interface FragmentOrigin {
  /** `kept`: by an earlier run, with the chat. `reminder`: it goes into messages, however it was set. */
  readonly via: 'set' | 'component' | 'kept' | 'reminder';
  /** The component that called `useFragments()`; in development only. */
  readonly component?: string;
  /** The place of the call as the browser reports it, `http://localhost/src/Chat.tsx:12:3`; in development only. */
  readonly source?: string;
  /** Since when the prompt has this content there, in ms since epoch. */
  readonly since: number;
}

/** Errors created where fragments were put into a prompt: their stacks are read on demand. */
const places = new WeakMap<ContextFragment, Error>();

/** Remembers the place of a call; in development only. A page without a bundler has no `process`, and records no places. */
export function placeFragments(fragments: readonly ContextFragment[], callAt: () => Error | undefined): void {
  try {
    const at = process.env.NODE_ENV === 'production' ? undefined : callAt();
    if (at) for (const one of fragments) places.set(one, at);
  } catch {
    // There is no bundler.
  }
}

/** Where a fragment came from, with its place where known. Bundlers remove the place from production builds. */
export function originOf(
  fragment: ContextFragment,
  known: FragmentOrigin | undefined,
): FragmentOrigin | undefined {
  try {
    return process.env.NODE_ENV === 'production' ? known : withPlace(fragment, known);
  } catch {
    return known;
  }
}

function withPlace(fragment: ContextFragment, known: FragmentOrigin | undefined): FragmentOrigin | undefined {
  const stack = places.get(fragment)?.stack;
  if (!known || stack === undefined) return known;
  const { name, place } = callerIn(stack);
  const component = /^[A-Z]\w*$/.test(name) ? { component: name } : {};
  return { ...known, ...component, ...(place === '' ? {} : { source: place }) };
}

/** The caller above our own functions and the app's hooks. */
function callerIn(stack: string): { readonly name: string; readonly place: string } {
  const calls = stack.split('\n').flatMap((line) => {
    const [, name, place, otherName = '', otherPlace] = FRAME.exec(line.trim()) ?? [];
    const at = place ?? otherPlace;
    return at === undefined ? [] : [{ name: name ?? otherName, place: at }];
  });
  const ours = calls.findLastIndex(({ name }) => OURS.test(name));
  return calls.slice(ours + 1).find(({ name }) => !/^use[A-Z]/.test(name)) ?? { name: '', place: '' };
}

/** `at Name (place)` or `at place` in Chromium, `Name@place` elsewhere. */
const FRAME = /^at (?:(?:new )?(.+?) \()?((?:\w+:)?\/.+:\d+:\d+)\)?$|^([^@]*)@(.+:\d+:\d+)$/;

/** The functions that an app calls. */
const OURS = /(?:^|\.)(?:set|useFragments|useContextEngine)(?: \[as \w+\])?$/;
