import { copyAt, copyValue, refuse, walkWith, type CopyRules, type Walk } from '../copy.ts';
import { ContextError, reasonOf } from '../errors.ts';
import {
  BIND,
  brand,
  getFragmentData,
  isBuilt,
  isFragment,
  isLazyValue,
  isMessageFragment,
} from './fragment.ts';
import type { BoundCodec, ContextFragment, FragmentData, LazyValue } from './fragment.ts';

/** The walk of `copy.ts` over fragments: the rules of a walk say how nested fragments and lazy values are copied. */

/** Levels of nesting in fragments: lists, records and fragments each count one. */
export const MAX_DEPTH = 128;

/** What a walk over fragments does with what it meets. */
export interface FragmentRules<R> extends Pick<CopyRules, 'dropNull' | 'record' | 'text'> {
  /** Maps a fragment. */
  readonly node: (fragment: ContextFragment, walk: Walk) => R;
  /** Maps a lazy value. */
  readonly lazy: (value: LazyValue, walk: Walk) => unknown;
}

/** These rules, as rules for the walk over data. */
export function rulesOf<R>({ node, lazy, ...rest }: FragmentRules<R>): CopyRules {
  const named = namedOnly(node);
  const special = (value: object): typeof named | typeof lazy | undefined =>
    isBuilt(value) ? named : isLazyValue(value) ? lazy : undefined;
  return { code: 'invalid-fragment', maxDepth: MAX_DEPTH, ...rest, special };
}

function namedOnly<R>(node: FragmentRules<R>['node']): FragmentRules<R>['node'] {
  return (fragment, walk) =>
    typeof fragment.name === 'string' && fragment.name ? node(fragment, walk) : refuse(walk, 'has no name');
}

/** Maps these fragments, and all inside them, by the rules. */
export function walkFragments<R>(fragments: readonly ContextFragment[], rules: FragmentRules<R>): R[] {
  const node = namedOnly(rules.node);
  return walkWith(rulesOf(rules), 'Fragment', (walk) =>
    fragments.map((fragment) => {
      if (!isFragment(fragment)) {
        const message = 'Not a fragment: it needs a name and data, as role() and fragment() give them.';
        throw new ContextError('invalid-fragment', message, { details: { path: '' } });
      }
      walk.subject = `Fragment "${reasonOf(fragment.name)}"`;
      walk.met = 0;
      walk.trail.push(fragment);
      const made = node(fragment, walk);
      walk.trail.pop();
      return made;
    }),
  );
}

/**
 * A copy that the engine may keep: data is copied in depth, so the caller's objects are never changed and later
 * changes to them are not seen. Lazy values and an app's own codecs stay the objects they are.
 * @throws invalid-fragment, naming the path, for what is no fragment or holds what cannot be rendered
 */
export function copyFragment<F extends ContextFragment>(
  fragment: F,
  lazy: FragmentRules<F>['lazy'] = keepLazy,
): F {
  return walkFragments([fragment], { node: copyNode, lazy })[0] as F;
}

function copyNode(fragment: ContextFragment, walk: Walk): ContextFragment {
  const copy =
    isMessageFragment(fragment) || !('data' in fragment)
      ? brand({ ...fragment })
      : withData(fragment, copyAt(fragment, 'data', walk) as FragmentData);
  expectText(copy.name, 'name', walk);
  expectText(copy.id ?? '', 'id', walk);
  return copy;
}

/** Spreading a fragment does not copy getters of a class, and a hand-made fragment may have fields of any type. */
function expectText(value: unknown, key: string, walk: Walk): void {
  if (typeof value === 'string') return;
  walk.path.push(key);
  refuse(walk, 'must be a text, and a property of the fragment itself');
}

/** A copy of what {@link getFragmentData} gives. */
export function dataOf(fragment: ContextFragment, walk: Walk): FragmentData {
  walk.path.push('data');
  const copy = copyValue(getFragmentData(fragment), walk);
  walk.path.pop();
  return copy as FragmentData;
}

/** For walks that need every value now: throws for a lazy one. */
export function refuseLazy(value: LazyValue, walk: Walk): never {
  const kind = typeof value === 'function' ? 'a function' : 'then' in value ? 'a promise' : 'an iterable';
  return refuse(walk, `is ${kind} that is not loaded yet; resolve() loads it`);
}

/** A promise may reject before `resolve()` awaits it and reports that; until then it must not be an unhandled rejection. */
export function keepLazy(value: LazyValue): LazyValue {
  if (value instanceof Promise) value.catch(() => undefined);
  return value;
}

/** A copy of the fragment with other data, which a codec of ours then encodes. */
export function withData(fragment: ContextFragment, data: FragmentData): ContextFragment {
  const copy: { -readonly [K in keyof ContextFragment]: ContextFragment[K] } = { ...fragment, data };
  const bind = (fragment.codec as BoundCodec | undefined)?.[BIND];
  if (bind) copy.codec = bind(copy);
  return brand(copy);
}

/** Whether a fragment contains a lazy value. */
export function hasLazy(fragment: ContextFragment): boolean {
  let found = false;
  walkFragments([fragment], { node: dataOf, lazy: () => (found = true) });
  return found;
}
