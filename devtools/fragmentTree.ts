import {
  type ContextEngine,
  type ContextFragment,
  type EstimateResult,
  isFragment,
  type InspectOptions,
} from 'contextree';

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
  const { engine, fragments, pending, modelId, tokenizer } = moment;
  const options = { modelId, tokenizer, signal };
  const snapshot = await engine.inspect(options);
  const facts = new Map<string, FragmentFacts>();
  const value: Record<string, unknown> = {};
  let groups = 0;
  const names = keysOf(snapshot.fragments.context.map(({ name }) => name));
  for (const [i, { data }] of snapshot.fragments.context.entries()) {
    const key = names[i] as string;
    const fragment = fragments[i];
    const { tokens, problem } = snapshot.estimate.fragments[i] ?? {};
    value[key] = childrenOf(fragment).length === 0 ? data : await group(`/${escaped(key)}`, fragment);
    facts.set(`/${escaped(key)}`, {
      tokens,
      problem,
      notes: notesOf(engine, fragment, data),
    });
  }
  if (pending.length > 0) {
    value[PENDING] = snapshot.fragments.pending.map(({ role, parts }) => ({ role, parts }));
    facts.set(`/${PENDING}`, { notes: ['wait for save()'] });
  }
  return { value, facts, estimate: snapshot.estimate };

  async function group(path: string, parent: ContextFragment | undefined): Promise<unknown> {
    const children = childrenOf(parent);
    groups += 1;
    const counted =
      groups > MOST_GROUPS ? undefined : await countAlone(engine, children, options).catch(() => undefined);
    const inside: Record<string, unknown> = {};
    for (const [i, key] of keysOf(children.map(({ name }) => name)).entries()) {
      const child = children[i] as ContextFragment;
      const at = `${path}/${escaped(key)}`;
      facts.set(at, { tokens: counted?.[i]?.tokens, notes: [] });
      inside[key] = childrenOf(child).length === 0 ? plain(child.data) : await group(at, child);
    }
    return inside;
  }
}

const PENDING = 'pending messages';

async function countAlone(
  engine: ContextEngine,
  fragments: readonly ContextFragment[],
  options: InspectOptions,
): Promise<EstimateResult['fragments']> {
  return (await engine.estimate({ ...options, fragments, messages: [] })).fragments;
}

/** The fragments that a fragment consists of; none if it holds anything else. */
function childrenOf(fragment: ContextFragment | undefined): readonly ContextFragment[] {
  const data: unknown = fragment?.data;
  const items: readonly unknown[] = Array.isArray(data) ? data : [data];
  return items.every((item) => isFragment(item)) ? items : [];
}

function notesOf(engine: ContextEngine, fragment: ContextFragment | undefined, data: unknown): string[] {
  const origin = fragment && engine.origin(fragment);
  return [
    ...(origin ? [`${origin.via}${origin.component === undefined ? '' : ` <${origin.component}>`}`] : []),
    ...(fragment?.persist === false ? ['never kept'] : []),
    ...(JSON.stringify(data)?.includes('"[lazy]"') ? ['lazy'] : []),
  ];
}

/** Names as unique keys: the second `hint` is `hint 2`. */
function keysOf(names: readonly string[]): readonly string[] {
  const seen = new Map<string, number>();
  return names.map((name) => {
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return count === 1 ? name : `${name} ${count}`;
  });
}

/** A key, escaped as in the paths of a tree. */
function escaped(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Data as JSON; values that JSON would lose are described. */
function plain(data: unknown): unknown {
  if (typeof data === 'function') return '[lazy]';
  return typeof data === 'object' && data !== null ? data : String(data);
}
