import type { UIMessage } from 'ai';
import { grownVersion, keysWithId, previewOf, type MessageStatus } from '../graph/graph.ts';
import { markId } from '../graph/marks.ts';
import { forksOf, infoOf, siblingsOf, type Fork, type NodeInfo } from '../graph/messages.ts';
import { graphData, graphNodes } from '../graph/graphData.ts';
import { sameContent, sameItems } from '../graph/same.ts';
import type { GraphData, GraphNode } from '../graph/visualize.ts';
import { callsIn, type CallFacts } from './calls.ts';
import type { Operation } from './history.ts';
import type { Replica } from './replica.ts';
import { NO_VERSIONS, type Versions } from './state.ts';
import type { View } from './view.ts';
import type { Writer } from './writer.ts';

/**
 * The synchronous queries, answered from what this page knows. Each takes a message by key or id (the one on the shown chain
 * first). Equal results stay the same objects, because interfaces compare them.
 */
export class Questions {
  readonly #writer: Writer;
  readonly #replica: Replica;
  readonly #view: View;
  readonly #versions: Map<string, Versions> = new Map();
  #nodes: readonly GraphNode[] = [];
  /** The revision that the nodes show. */
  #shown = 0;

  constructor(writer: Writer) {
    this.#writer = writer;
    this.#replica = writer.replica;
    this.#view = writer.view;
  }

  /** The versions of a message that live branches reach, and its index among them. */
  siblings(idOrKey: string): Versions {
    const record = this.#view.find(idOrKey);
    if (!record) return NO_VERSIONS;
    const { chat, reach, growing } = this.#replica;
    const keys = siblingsOf(chat, reach, record.key, growing);
    const index = keys.indexOf(record.key);
    const known = this.#versions.get(record.key);
    const ids = keys.map((key) => this.#replica.idOf(key));
    if (known && known.index === index && sameItems(known.keys, keys) && sameItems(known.ids, ids))
      return known;
    const versions = keys.length === 0 ? NO_VERSIONS : { index, ids, keys };
    this.#versions.set(record.key, versions);
    return versions;
  }

  node(idOrKey: string): NodeInfo | undefined {
    const record = this.#view.find(idOrKey);
    if (!record) return undefined;
    return infoOf(this.#replica.chat, record, this.#replica.growing, this.#replica.status(record));
  }

  /** All messages with an id: the one on the branch's chain first, then the newest. */
  nodesOf(id: string, branchId: string | undefined): NodeInfo[] {
    const keys = keysWithId(this.#replica.chat, id);
    const [only = id] = keys;
    const branch = this.#view.handle(branchId ?? '');
    const first = keys.length > 1 ? this.#view.find(id, branch) : this.#view.find(only);
    const all = first ? [first.key, ...keys.toReversed().filter((key) => key !== first.key)] : keys;
    return all.flatMap((key) => this.node(key) ?? []);
  }

  status(idOrKey: string): MessageStatus | undefined {
    const record = this.#view.find(idOrKey);
    return record && this.#replica.status(record);
  }

  message(idOrKey: string): UIMessage | undefined {
    const record = this.#view.find(idOrKey);
    return record && this.#replica.body(record.key);
  }

  matches(message: UIMessage, key: string = message.id): boolean | undefined {
    const record = this.#view.find(key);
    const known = record && this.#replica.body(record.key);
    if (known) return sameContent(known, message);
    const isOther = record && grownVersion(record, this.#replica.growing).preview !== previewOf(message);
    return isOther ? false : undefined;
  }

  operations(): readonly Operation[] {
    return this.#writer.history?.list() ?? NO_OPERATIONS;
  }

  lastOf(branchId: string): string | undefined {
    return this.#view.handle(branchId)?.way?.end ?? undefined;
  }

  branchHolding(key: string): string | undefined {
    return this.#view.lastUsedWith(key)?.id;
  }

  forks(): readonly Fork[] {
    const { chat, reach, growing } = this.#replica;
    return forksOf(chat, reach, growing);
  }

  calls(idOrKey: string): readonly CallFacts[] {
    const record = this.#view.find(idOrKey);
    return callsIn(record && this.#replica.chat.marks.get(markId.calls(record.key))?.value);
  }

  graph(): GraphData {
    const { chat, growing, revision } = this.#replica;
    const branches = this.#view
      .branches()
      .map(({ name, headKey, isActive }) => ({ name, head: headKey, isActive }));
    const checkpoints = this.#writer.facts.checkpoints().toReversed();
    if (this.#shown !== revision) this.#nodes = graphNodes(chat, growing, this.#nodes);
    this.#shown = revision;
    return graphData(this.#writer.desk.chatId, chat, { branches, checkpoints }, growing, this.#nodes);
  }
}

const NO_OPERATIONS: readonly Operation[] = [];
