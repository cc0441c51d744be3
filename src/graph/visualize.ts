/** A chat's graph as plain data: previews instead of bodies, and names instead of ids for people. */
export interface GraphData {
  readonly chatId: string;
  /** In the order in which they were written. */
  readonly nodes: readonly GraphNode[];
  readonly branches: readonly {
    readonly name: string;
    readonly headMessageId: string | null;
    readonly headKey: string | null;
    readonly isActive: boolean;
  }[];
  readonly checkpoints: readonly {
    readonly name: string;
    readonly messageId: string;
    readonly messageKey: string;
  }[];
}

/** One message of a {@link GraphData}. */
export interface GraphNode {
  readonly id: string;
  /** Unique in the chat; an id need not be. */
  readonly key: string;
  readonly parentId: string | null;
  readonly parentKey: string | null;
  /** `user`, `assistant` or `system`. */
  readonly role: string;
  /** The first 50 characters of its text, on one line; without reminders. */
  readonly content: string;
  /** Milliseconds since epoch. */
  readonly createdAt: number;
  /** Orders messages and operations: `createdAt`, or later than all that was known. `graph({ at })` compares with it. */
  readonly at: number;
}

/**
 * A chat's graph as text: one line for each message, children indented under their parent, branch heads and checkpoints marked.
 * Works for any size: nothing recurses.
 *
 * The indentation of a long chain grows with the square of its length, and would be longer than a string can be. In a chat of
 * more than 5,000 messages each line keeps the last 16 levels of it, behind the number of those left out: `(+984) │   └── `.
 */
export function visualizeGraph(graph: GraphData): string {
  const { chatId, nodes } = graph;
  if (nodes.length === 0) return `[chat: ${chatId}]\n\n(empty)`;
  const children = listsBy(nodes, ({ parentKey }) => parentKey);
  const marks = marksOf(graph);
  const levels = nodes.length > MANY ? LEVELS_KEPT : Infinity;
  const lines: string[] = [];
  const open: { node?: GraphNode | undefined; level: number; bars: string; isLast?: boolean }[] = [];
  open.push({ level: -1, bars: '' }); // above the roots, which have level 0
  for (let place = open.pop(); place; place = open.pop()) {
    const { node, level, bars, isLast } = place;
    const stem = level === 0 ? '' : bars + (isLast ? '└── ' : '├── ');
    const left = level - 1 > levels ? `(+${level - 1 - levels}) ` : '';
    if (node) lines.push(`${left}${stem}${describe(node)}${marks.get(node.key) ?? ''}`);
    const inner = level < 1 ? '' : bars + (isLast ? '    ' : '│   ');
    const kept = level > levels ? inner.slice(-levels * STEP) : inner;
    const below = children.get(node?.key ?? null) ?? [];
    for (let i = below.length - 1; i >= 0; i -= 1)
      open.push({ node: below[i], level: level + 1, bars: kept, isLast: i === below.length - 1 });
  }
  return [`[chat: ${chatId}]`, '', ...lines, '', 'Legend: * = active branch, {...} = checkpoint'].join('\n');
}

const MANY = 5_000;
const LEVELS_KEPT = 16;
/** Characters of indentation for each level. */
const STEP = 4;

function describe({ id, role, content }: GraphNode): string {
  return `${id.slice(0, 8)} (${role}): "${content.replaceAll('\n', ' ')}"`;
}

/** The text behind a message, by its key: the branches that end at it, then its checkpoints. */
function marksOf({ branches, checkpoints }: GraphData): ReadonlyMap<string | null, string> {
  const marks = new Map<string | null, string>();
  const named = branches.map((one) => ({ ...one, name: one.name + (one.isActive ? ' *' : '') }));
  for (const [key, heads] of listsBy(named, ({ headKey }) => headKey))
    marks.set(key, ` <- [${namesOf(heads)}]`);
  for (const [key, points] of listsBy(checkpoints, ({ messageKey }) => messageKey))
    marks.set(key, `${marks.get(key) ?? ''} {${namesOf(points)}}`);
  return marks;
}

function namesOf(list: readonly { readonly name: string }[]): string {
  return list.map(({ name }) => name).join(', ');
}

function listsBy<K, V>(values: readonly V[], keyOf: (value: V) => K): Map<K, V[]> {
  const lists = new Map<K, V[]>();
  for (const value of values) {
    const list = lists.get(keyOf(value));
    if (list) list.push(value);
    else lists.set(keyOf(value), [value]);
  }
  return lists;
}
