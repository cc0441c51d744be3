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
  readonly place: PlanPlace;
  readonly repeat: () => Promise<unknown>;
}

/** What a plan is made for: what is shown, what is known of the messages, and the option of `save()`. */
export interface PlanPlace {
  readonly branchId: string;
  readonly head: string | null;
  readonly detached: boolean;
  /** The saved messages that the plan compares with. */
  readonly compared: readonly NodeInfo[];
  readonly inPlace: boolean;
  /** How many messages were set apart by then: the ids in a plan are those of that time. */
  readonly renames: number;
}

/**
 * Messages that are to be saved, in the parts to be saved one after another: first what was refused before, if what was set
 * since is all new. Other words for a message may be for one that stands before the refused ones.
 */
export function partsOf(
  messages: readonly Pending[],
  refused: RefusedSave | undefined,
  isSaved: (id: string) => boolean,
): (readonly Pending[])[] {
  if (!refused) return [messages];
  const known = lastOnes(refused.planned);
  const first = messages.filter((one) => known.has(keyOf(one)));
  const rest = messages.filter((one) => !known.has(keyOf(one)));
  const isNew = ({ content }: Pending): boolean => content.kind === 'message' && !isSaved(content.message.id);
  const isApart = rest.length > 0 && rest.every(isNew) && first.every(isNamed);
  return isApart && areSame(first, refused.planned) ? [first, rest] : [messages];
}

/** The plan of a save that was refused, if it is still what this one asks for. */
export function planAgain(
  refused: RefusedSave | undefined,
  messages: readonly Pending[],
  place: PlanPlace,
): SavePlan | undefined {
  const isStill = refused && areSame(messages, refused.planned) && isPlaceOf(refused, place);
  return isStill ? refused.plan : undefined;
}

/** Whether what the plan was made from still holds. */
function isPlaceOf({ plan, planned, place: before }: RefusedSave, now: PlanPlace): boolean {
  // What it wrote itself may be known by now. What it replaces is known by its revision, or it was done with the rest.
  const own = new Set(plan.ops.flatMap((op) => (op.op === 'insert' || op.op === 'replace' ? op.id : [])));
  const isInserting = plan.ops.some(({ op }) => op === 'insert');
  if (!isInserting || now.inPlace !== before.inPlace || now.renames !== before.renames) return false;
  if (!sameJson(states(now.compared, own), states(before.compared, own))) return false;
  // A version stands beside what it changes, whatever is shown by now; what is new goes behind that.
  const isVersion = !before.detached && plan.ops.every(({ op }) => op !== 'head');
  if (isVersion && planned.every(isNamed)) return true;
  return now.branchId === before.branchId && now.head === before.head && now.detached === before.detached;
}

function states(infos: readonly NodeInfo[], own: ReadonlySet<string>): unknown {
  return infos.flatMap(({ id, rev, status }) => (own.has(id) ? [] : [[id, rev, status]]));
}

function isNamed({ content }: Pending): boolean {
  return content.kind === 'message';
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
