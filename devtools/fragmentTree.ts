import {
  type ContextEngine,
  type ContextFragment,
  type EstimateResult,
  isFragment,
  type InspectOptions,
} from 'contextree';
import { stepTo } from './treeRows.ts';

/** The fragments of a prompt as a tree, and the facts of each row. */
export interface FragmentTree {
  /** The tree as data: a key for each fragment, with its content. */
  readonly value: Readonly<Record<string, unknown>>;
  /** By the path of the row in the tree: `/role`, `/group/hint 2`. */
  readonly facts: ReadonlyMap<string, FragmentFacts>;
  readonly estimate: EstimateResult;
}

/** The facts of a fragment. */
interface FragmentFacts {
  readonly tokens?: number | undefined;
  /** Why it is not in the prompt. */
  readonly problem?: string | undefined;
  /** Where it came from, and whether it is kept, for people. */
  readonly notes: readonly string[];
}

/** What the tree is made of. */
export interface FragmentMoment {
  readonly engine: ContextEngine;
  readonly fragments: readonly ContextFragment[];
  readonly pending: readonly ContextFragment[];
  readonly modelId?: string | undefined;
  readonly tokenizer?: InspectOptions['tokenizer'];
}

/** The most groups whose pieces are counted one by one; with more, none are. */
const MOST_GROUPS = 50;

/**
 * The tree of an engine's fragments. The tokens of a fragment are those of it rendered alone, and so are those of a group's
 * pieces. Costs an estimate of the prompt, and one for each group.
 */
export async function fragmentTree(moment: FragmentMoment, signal: AbortSignal): Promise<FragmentTree> {
  const { engine, pending, modelId, tokenizer } = moment;
  const options = { modelId, tokenizer, signal };
  const { fragments, estimate } = await engine.inspect(options);
  const facts = new Map<string, FragmentFacts>();
  let groups = 0;
  const grow = async (
    path: string,
    pieces: readonly ContextFragment[],
    counted: EstimateResult['fragments'] | undefined,
  ): Promise<Record<string, unknown>> => {
    const inside: Record<string, unknown> = {};
    const names = keysOf(pieces);
    for (const [i, piece] of pieces.entries()) {
      const key = names[i] as string;
      const at = path + stepTo(key);
      const children = childrenOf(piece);
      const data = path === '' ? fragments.context[i]?.data : plain(piece.data);
      facts.set(at, { ...counted?.[i], notes: notesOf(engine, piece, data) });
      groups += children.length > 0 ? 1 : 0;
      inside[key] =
        children.length > 0
          ? await grow(at, children, groups > MOST_GROUPS ? undefined : await countAlone(children))
          : data;
    }
    return inside;
  };
  const countAlone = async (
    pieces: readonly ContextFragment[],
  ): Promise<FragmentTree['estimate']['fragments']> =>
    (await engine.estimate({ ...options, fragments: pieces, messages: [] }).catch(() => undefined))
      ?.fragments ?? [];
  const value = await grow('', moment.fragments, estimate.fragments);
  if (pending.length > 0) {
    value[PENDING] = fragments.pending.map(({ role, parts }) => ({ role, parts }));
    facts.set(`/${PENDING}`, { notes: ['wait for save()'] });
  }
  return { value, facts, estimate };
}

const PENDING = 'pending messages';

/** The fragments that a fragment consists of; none if it holds anything else. */
function childrenOf({ data }: ContextFragment): readonly ContextFragment[] {
  const items: readonly unknown[] = Array.isArray(data) ? data : [data];
  return items.every((item) => isFragment(item)) ? items : [];
}

function notesOf(engine: ContextEngine, fragment: ContextFragment, data: unknown): string[] {
  const origin = engine.origin(fragment);
  return [
    ...(origin ? [`${origin.via}${origin.component === undefined ? '' : ` <${origin.component}>`}`] : []),
    ...(fragment.persist === false ? ['never kept'] : []),
    ...(JSON.stringify(data)?.includes('"[lazy]"') ? ['lazy'] : []),
  ];
}

/** The ids of fragments, or their names, as unique keys: the second `hint` is `hint 2`. */
export function keysOf(pieces: readonly ContextFragment[]): readonly string[] {
  const names = pieces.map(({ id, name }) => id ?? name);
  return names.map((name, i) => {
    const before = names.slice(0, i).filter((one) => one === name).length;
    return before === 0 ? name : `${name} ${before + 1}`;
  });
}

/** Data as JSON; values that JSON would lose are described. */
function plain(data: unknown): unknown {
  if (typeof data === 'function') return '[lazy]';
  return typeof data === 'object' && data !== null ? data : String(data);
}
