import { ContextError, isRecord, reasonOf } from '../errors.ts';
import type { FoldingFragment } from './fold.ts';

/**
 * A fragment is one named piece of what a model gets: a role, a hint, a policy, a message. It keeps its name and its data until
 * the last moment, so that one prompt can be rendered in four formats, counted piece by piece, stored, and shown in a panel.
 *
 * When is an object with `name` and `data` a fragment, and when a row of an app's table? Fragments made by a builder carry a
 * brand. Hand-made ones are taken for fragments at the top level and as a child of {@link fragment}; anywhere deeper, an
 * unbranded `{ name, data }` is a row.
 */

/** Messages go into the conversation, everything else into the system prompt. */
export type FragmentType = 'fragment' | 'message';

/** What a fragment is written as. Messages return a `UIMessage`; others a record with a string `type`. */
export interface FragmentCodec {
  /** The form that is stored and sent. */
  encode(): unknown;
  /** The data that is rendered. */
  decode(): unknown;
}

/** The argument of a lazy function. */
export interface LoadContext {
  /** Aborted when `resolve()` is. */
  readonly signal?: AbortSignal;
}

/** A value that `resolve()` awaits: a function, a promise, or an iterable of items, synchronous or not. */
export type LazyValue =
  | ((context: LoadContext) => unknown)
  | PromiseLike<unknown>
  | Iterable<unknown>
  | AsyncIterable<unknown>;

/** What a fragment can hold. `null` and `undefined` are left out of every rendering. */
export type FragmentData =
  | string
  | number
  | boolean
  | null
  | undefined
  | ContextFragment
  | LazyValue
  | readonly FragmentData[]
  | { readonly [key: string]: FragmentData };

/** One named piece of context. */
export interface ContextFragment<T extends FragmentData = FragmentData> {
  /** The message's id; optional for other fragments, where it serves `unset(id)`. */
  readonly id?: string;
  /** The tag, heading or key it is rendered under: `role`, `hint`. A message's role. */
  readonly name: string;
  /** Absent on messages, whose content is in the codec. */
  readonly data?: T;
  /** Default `fragment`. */
  readonly type?: FragmentType;
  /** `false` keeps a message out of `save()`, and a fragment out of `persistFragments`. */
  readonly persist?: boolean;
  readonly codec?: FragmentCodec;
  /** The app's own notes. Never rendered. */
  readonly metadata?: Record<string, unknown>;
}

/** The key under which a lazy fragment says what it stands for. The same symbol in every copy of the package. */
export const LAZY_ID: unique symbol = Symbol.for('@deepagents/context:lazy-id');

/** What a lazy fragment becomes: the latest assistant message of the branch, with this text. */
export interface LazyConfig {
  readonly type: 'last-assistant';
  readonly content: string;
}

/** A message whose id is found in `resolve()` and `save()`. */
export interface LazyFragment extends ContextFragment {
  readonly [LAZY_ID]: LazyConfig;
}

/** The key under which a fragment holds the function that folds it into a user message; see `fold.ts`. */
export const FOLD: unique symbol = Symbol.for('contextree:fold');

const BUILT: unique symbol = Symbol.for('contextree:fragment');

/** Whether a value has the shape of a fragment: a string `name`, and `data` or a `codec`. */
export function isFragment(value: unknown): value is ContextFragment {
  if (typeof value !== 'object' || value === null) return false;
  return typeof (value as ContextFragment).name === 'string' && ('data' in value || 'codec' in value);
}

/** Whether a value is a plain record: no list, no fragment, nothing that is only known later. */
export function isFragmentObject(value: unknown): value is Record<string, FragmentData> {
  return isRecord(value) && !isFragment(value) && !isLazyValue(value);
}

/** Whether a fragment belongs to the conversation rather than to the system prompt. */
export function isMessageFragment(fragment: ContextFragment): boolean {
  return fragment.type === 'message';
}

/** Whether a fragment waits for its id, as those of `lastAssistantMessage()` do. */
export function isLazyFragment(fragment: ContextFragment): fragment is LazyFragment {
  return LAZY_ID in fragment;
}

/** Whether a fragment folds text into user messages. */
export function isFolding(fragment: ContextFragment): fragment is FoldingFragment {
  return FOLD in fragment;
}

/** Whether a value is only known later; see {@link LazyValue}. Texts and arrays are not. */
export function isLazyValue(value: unknown): value is LazyValue {
  if (typeof value === 'function') return true;
  if (!isRecord(value)) return false;
  const methods = ['then', Symbol.iterator, Symbol.asyncIterator];
  return methods.some((name) => typeof (value as Record<PropertyKey, unknown>)[name] === 'function');
}

/** @internal Whether a value inside of data is a fragment and not a row: it was made by a builder, or brings a codec. */
export function isBuilt(value: object): value is ContextFragment {
  if ((value as { [BUILT]?: true })[BUILT] === true) return true;
  return isFragment(value) && typeof value.codec?.encode === 'function';
}

/** @internal Marks a fragment as made by a builder; not enumerable, so that it compares and prints as a plain object. */
export function brand<F extends ContextFragment>(fragment: F): F {
  return Object.defineProperty(fragment, BUILT, { value: true });
}

/**
 * A fragment of any name; the children are its data, in order.
 *
 * A child may be text, a number, a list, a record, a lazy value or a fragment, also a hand-made `{ name, data }`.
 */
export function fragment(name: string, ...children: FragmentData[]): ContextFragment<FragmentData[]> {
  return brand({ name, data: children.map(adopt) });
}

/** A child as a fragment that is known everywhere; the caller's object stays unmarked. */
function adopt(child: FragmentData): FragmentData {
  try {
    return isFragment(child) && !isBuilt(child) ? brand({ ...(child as ContextFragment) }) : child;
  } catch {
    // Reading the child throws. set() and the renderers refuse the fragment, with the path of the child.
    return child;
  }
}

/** The data that a fragment renders: what its codec decodes to, else its own. */
export function getFragmentData(fragment: ContextFragment): FragmentData {
  const { codec, data } = fragment;
  if (codec && !(codec as { [BIND]?: unknown })[BIND] && typeof codec.decode === 'function')
    return codec.decode() as FragmentData;
  if (data !== undefined || 'data' in fragment) return data;
  const { name } = fragment;
  const message = `Fragment "${reasonOf(name)}" is missing data and codec`;
  throw new ContextError('invalid-fragment', message, { details: { fragment: name } });
}

/** @internal On our own codecs: makes the same codec for a copy of the fragment, so that it encodes the data of the copy. */
export const BIND: unique symbol = Symbol.for('contextree:codec');

/** @internal */
export interface BoundCodec extends FragmentCodec {
  readonly [BIND]: (fragment: ContextFragment, options?: object) => BoundCodec;
}
