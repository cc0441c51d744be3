import { areTwo, contains, idApart, infoOf, type MessageNode, type NodeInfo } from '../graph/graph.ts';
import type { ChatRecords, OpNamed, StoreOp } from '../store/store.ts';
import type { Desk } from './desk.ts';
import type { History, Own } from './history.ts';
import { headsIn, idsIn, MEMORY, type Outbox, renamed } from './outbox.ts';
import type { Chains } from './resolve.ts';
import { sameContent } from './save.ts';
import type { Streams } from './streams.ts';
import type { View } from './view.ts';

/**
 * Two messages under one id.
 *
 * Ids that this package makes never meet. An app may give its own, though, and number its messages: then two tabs say
 * different things under one id. The store takes the first and refuses the second, and whoever sent that can send it again.
 * Two messages have nobody who could: one that a full disk refused and that is written later, and one that the browser lost
 * and that is written again. They get an id of their own here, the same with each try and in each tab, wherever they are
 * known or waited for; what hangs on them goes along.
 */
export class Apart {
  readonly #desk: Desk;
  readonly #at: Place;
  /** What was set apart here, in this order. */
  readonly #renames: { readonly from: string; readonly to: string }[] = [];

  constructor(desk: Desk, at: Place) {
    this.#desk = desk;
    this.#at = at;
  }

  /**
   * The operations of a kept write where one is `taken`: its id is that of a message with other words. That may be the same
   * message, with what was said since; then it stands. Undefined where no message has that id any more.
   */
  async fromTaken(taken: Insert, ops: readonly StoreOp[]): Promise<readonly StoreOp[] | undefined> {
    const { history, outbox, own } = this.#at;
    const { id, parentId, data, createdAt = 0, status } = taken;
    const there = await this.#desk.store.getMessage(this.#desk.chatId, id);
    if (!there) return undefined;
    const isSaid = there.parentId === parentId && data.parts.length > 0 && sameContent(there.data, data);
    if (isSaid || there.createdAt === createdAt) return ops.filter((op) => op !== taken);
    const { depth = 0 } = history.graph.nodes.get(parentId ?? '') ?? {};
    const ours: MessageNode = {
      ...there,
      id: idApart({ id, createdAt }),
      name: data.role,
      data,
      status,
      createdAt,
      parentId,
      seq: history.nextSeq,
      depth: depth + 1,
      rev: 1,
      deviceId: MEMORY,
      bodyHash: '',
    };
    const [words, heads, ids] = [new Set(idsIn(ops)), new Set(headsIn(ops)), new Map([[id, ours.id]])];
    this.#set(ours, infoOf(there), {
      own: { has: (one) => words.has(one) || own.has(one) },
      moved: { has: (branchId) => heads.has(branchId) || outbox.movesHead(branchId) },
    });
    outbox.rename(ids);
    return ops.map((op) => renamed(op, ids));
  }

  #set(ours: MessageNode, there: NodeInfo, { own, moved } = { own: ALL, moved: ALL }): void {
    const { history, streams, chains, view } = this.#at;
    this.#renames.push({ from: there.id, to: ours.id });
    streams.rename(there.id, ours.id);
    history.setApart(ours, there, own, moved);
    chains.cut(there.id);
    view.revision += 1;
  }

  /**
   * Sets apart what was said here under ids that another tab has given to other messages. What hangs on a message that waits for
   * the disk goes along as far as it waits, too; in a chat that another tab wrote again, all of it does.
   */
  fromOthers({ nodes }: ChatRecords): void {
    const { history, outbox, own } = this.#at;
    const ids = new Map<string, string>();
    const apart = new Set<string>();
    const waiting = {
      own: { has: (id: string) => apart.has(id) || (own.has(id) && !ids.has(id)) },
      moved: { has: (branchId: string) => outbox.movesHead(branchId) },
    };
    const wordless = new Set<string>();
    for (const there of nodes) {
      const info = history.graph.nodes.get(there.id);
      if (!info || info.createdAt === there.createdAt) continue;
      if (!areTwo(info, there) && !wordless.has(info.parentId ?? '')) continue;
      const body = history.body(info.id);
      if (!body) {
        wordless.add(info.id);
        continue;
      }
      const { parentId, deviceId } = info;
      const ours = { ...body, id: idApart(body), parentId, deviceId };
      this.#set(ours, there, deviceId === MEMORY ? waiting : undefined);
      ids.set(there.id, ours.id);
      apart.add(ours.id);
    }
    // All at once: hundreds may be told of, and hundreds wait.
    outbox.rename(ids);
    // Their words are nowhere any more; what is said behind them is not said behind the others.
    if (wordless.size > 0) history.forget([...wordless]);
  }

  /** How many messages were set apart here so far. */
  get count(): number {
    return this.#renames.length;
  }

  /** The id that a message has by now that had this one when so many had been set apart. */
  idOf<Id extends string | null>(id: Id, since: number): Id {
    let now = id;
    for (const { from, to } of this.#renames.slice(since)) if (from === now) now = to as Id;
    return now;
  }

  /** Operations that were made when so many had been set apart. */
  renamed(ops: readonly StoreOp[], since: number): readonly StoreOp[] {
    let all = ops;
    for (const { from, to } of this.#renames.slice(since))
      all = all.map((op) => renamed(op, new Map([[from, to]])));
    return all;
  }

  /**
   * The message that whoever looks at a branch means by an id which two may have had: the one of them that stands there. Where
   * both do, or neither, it is the one that has the id; but where neither does and that one was never read here, it is the one
   * that was said here. Who has the id is asked for the moment when it was named, when so many had been set apart.
   */
  meant(named: string, branchId: string, since: number = this.count): string {
    const { history } = this.#at;
    const id = this.idOf(named, since);
    const ours = this.#renames.slice(0, since).flatMap(({ from, to }) => (from === named ? to : []));
    const isThere = (one: string): boolean => contains(history.graph, history.view(branchId), one);
    if (ours.length === 0 || isThere(id)) return id;
    return ours.findLast(isThere) ?? (history.body(id) ? id : ours.at(-1)) ?? id;
  }
}

interface Place {
  readonly history: History;
  readonly outbox: Outbox;
  readonly streams: Streams;
  readonly chains: Chains;
  readonly view: View;
  readonly own: Own;
}

type Insert = OpNamed<'insert'>;

const ALL: Own = { has: () => true };
