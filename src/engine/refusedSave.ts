import type { NodeInfo } from '../graph/graph.ts';
import type { Pending } from './desk.ts';
import { sameJson } from './sameJson.ts';
import type { SavePlan } from './save.ts';

/**
 * A `save()` that is repeated.
 *
 * A disk that says no may have taken it all the same. Planned anew, the same words would then be other words than those
 * that are there, and make a second version of them, on a second branch. So a save that was refused is repeated as it was
 * planned: with the ids of its messages and branches the store knows what it has already. What was set since is planned by
 * itself, and follows it.
 */
export interface RefusedSave {
  /** What was to be saved... */
  readonly messages: readonly Pending[];
  /** ...and those of it that the plan is about. */
  readonly planned: readonly Pending[];
  readonly plan: SavePlan;
  readonly place: Place;
  readonly repeat: () => Promise<unknown>;
}

/** What a plan is made for: what is shown, what is known of the messages, and the option of `save()`. */
export interface Place {
  readonly branchId: string;
  readonly head: string | null;
  readonly detached: boolean;
  /** The saved messages that the plan compares with. */
  readonly compared: readonly NodeInfo[];
  readonly inPlace: boolean;
}

/** Messages that are to be saved, in the parts to be saved one after another: first what was refused before, if it is among them. */
export function partsOf(
  messages: readonly Pending[],
  refused: RefusedSave | undefined,
): (readonly Pending[])[] {
  if (!refused) return [messages];
  const known = lastOnes(refused.planned);
  const first = messages.filter((one) => known.has(keyOf(one)));
  const rest = messages.filter((one) => !known.has(keyOf(one)));
  // New words for the last answer may be for one that is among the others.
  const areNamed = messages.every(({ content }) => content.kind === 'message');
  return areNamed && rest.length > 0 && areSame(first, refused.planned) ? [first, rest] : [messages];
}

/** The plan of a save that was refused, if it is still what this one asks for. */
export function planAgain(
  refused: RefusedSave | undefined,
  messages: readonly Pending[],
  place: Place,
): SavePlan | undefined {
  if (!refused || !areSame(messages, refused.planned)) return undefined;
  // What it replaced is found replaced, by any plan.
  const isStill = refused.plan.replaced.size === 0 && isPlaceOf(refused, place);
  return isStill ? refused.plan : undefined;
}

/** Whether what the plan was made from still holds. */
function isPlaceOf({ plan, planned, place: before }: RefusedSave, now: Place): boolean {
  // What it made itself may be known by now.
  const made = new Set(plan.ops.flatMap((op) => (op.op === 'insert' ? op.id : [])));
  const compared = now.compared.filter(({ id }) => !made.has(id));
  if (now.inPlace !== before.inPlace || !sameJson(states(compared), states(before.compared))) return false;
  // A version stands beside what it changes, whatever is shown by now; what is new goes behind that.
  const isNamed = planned.every(({ content }) => content.kind === 'message');
  if (isNamed && !before.detached && plan.ops.every(({ op }) => op !== 'head')) return true;
  return now.branchId === before.branchId && now.head === before.head && now.detached === before.detached;
}

function states(infos: readonly NodeInfo[]): unknown {
  return infos.map(({ id, rev, status }) => [id, rev, status]);
}

function areSame(some: readonly Pending[], others: readonly Pending[]): boolean {
  return sameJson([...lastOnes(some).values()], [...lastOnes(others).values()]);
}

/** Of what was set twice, the later one counts, in the place of the first. */
function lastOnes(messages: readonly Pending[]): Map<unknown, Pending['content']> {
  return new Map(messages.map((one) => [keyOf(one), one.content]));
}

function keyOf({ content }: Pending): unknown {
  return content.kind === 'message' ? content.message.id : content.kind;
}
