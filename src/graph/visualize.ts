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
 * Indentation grows with depth, so the text of a long chain grows with its square, and that of 100,000 messages is longer than
 * a string can be. Where indentation alone would exceed 64 million characters (a chain of some 5,700 messages), each line keeps
 * its last 16 levels of it, behind the number of those left out: `(+984) │   └── `.
 */
export function visualizeGraph(graph: GraphData): string {
  const title = `[chat: ${graph.chatId}]`;
  if (graph.nodes.length === 0) return `${title}\n\n(empty)`;
  const lines = treeLines(graph);
  return [title, '', ...lines, '', 'Legend: * = active branch, {...} = checkpoint'].join('\n');
}

/** Characters of indentation for each level. */
const STEP = 4;
const MAX_INDENTATION = 64_000_000;
const LEVELS_KEPT = 16;

/** A message and its level: 0 for a root and for its children. */
interface Place {
  readonly node: GraphNode;
  readonly level: number;
  readonly isRoot: boolean;
  readonly isLast: boolean;
}

function treeLines(graph: GraphData): string[] {
  const places = placesOf(graph.nodes);
  const marksAt = marksOf(graph);
  const indentation = places.reduce((sum, { level }) => sum + level * STEP, 0);
  const stemOf = stems(indentation > MAX_INDENTATION ? LEVELS_KEPT : Number.POSITIVE_INFINITY);
  return places.map((place) => `${stemOf(place)}${describe(place.node)}${marksAt(place.node.key)}`);
}

/** The messages in the order of the lines. */
function placesOf(nodes: readonly GraphNode[]): Place[] {
  const children = listsBy(nodes, ({ parentKey }) => parentKey);
  const places: Place[] = [];
  const open: Place[] = [];
  const add = (below: readonly GraphNode[] = [], level: number, isRoot: boolean): void => {
    for (let i = below.length - 1; i >= 0; i--)
      open.push({ node: below[i] as GraphNode, level, isRoot, isLast: i === below.length - 1 });
  };
  add(children.get(null), 0, true);
  for (let place = open.pop(); place; place = open.pop()) {
    places.push(place);
    add(children.get(place.node.key), place.isRoot ? 0 : place.level + 1, false);
  }
  return places;
}

/**
 * The stem before each message, requested line by line from the top. The bars of a message are those of the lines above it, so
 * one list serves all: it is cut to the message's level and extended by the message's own bar.
 */
function stems(levels: number): (place: Place) => string {
  const bars = [''];
  return ({ level, isRoot, isLast }) => {
    if (isRoot) return '';
    bars.length = level + 1;
    const before = bars[level] ?? '';
    bars.push(kept(before + (isLast ? '    ' : '│   '), levels));
    const left = level > levels ? `(+${level - levels}) ` : '';
    return `${left}${before}${isLast ? '└── ' : '├── '}`;
  };
}

function kept(bars: string, levels: number): string {
  return bars.length > levels * STEP ? bars.slice(-levels * STEP) : bars;
}

function describe({ id, role, content }: GraphNode): string {
  return `${id.slice(0, 8)} (${role}): "${content.replaceAll('\n', ' ')}"`;
}

/** The text behind a message: the branches that end at it, then its checkpoints. */
function marksOf({ branches, checkpoints }: GraphData): (key: string) => string {
  const heads = listsBy(branches, ({ headKey }) => headKey);
  const marks = listsBy(checkpoints, ({ messageKey }) => messageKey);
  const nameOf = ({ name, isActive }: GraphData['branches'][number]): string => name + (isActive ? ' *' : '');
  return (key) => {
    const ending = heads.get(key)?.map(nameOf).join(', ');
    const marked = marks
      .get(key)
      ?.map(({ name }) => name)
      .join(', ');
    return (ending === undefined ? '' : ` <- [${ending}]`) + (marked === undefined ? '' : ` {${marked}}`);
  };
}

/** The values in lists, by their keys. */
function listsBy<K, V>(values: readonly V[], keyOf: (value: V) => K): Map<K, V[]> {
  const lists = new Map<K, V[]>();
  for (const value of values) {
    const list = lists.get(keyOf(value));
    if (list) list.push(value);
    else lists.set(keyOf(value), [value]);
  }
  return lists;
}
