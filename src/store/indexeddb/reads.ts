import type { UIMessage } from 'ai';
import type { IDBPTransaction } from 'idb';
import type { Chat, MessageNode, NodeInfo } from '../../graph/graph.ts';
import { createGraph, reachable } from '../../graph/graph.ts';
import { tombstone } from '../removal.ts';
import type { Change, ChatFilter, ChatInfo, ChatRecords } from '../store.ts';
import { chatInfo, filterChats, infoWithDraft, withDraft } from '../views.ts';
import { parse, withBody } from './append.ts';
import { between, byAge, type Database, type Layout, ofChat, type Store } from './layout.ts';

/**
 * Reading, at a cost that follows what is asked for.
 *
 * A request costs about as much as the record that it brings, so the rule is: few requests, each for a range. The seqs
 * of a chain are mostly consecutive, because a conversation is mostly written in one go. A walk to the root therefore
 * asks for blocks of topology, finds a stretch of the chain in each, and only where the chain jumps (at a fork, or where
 * two tabs wrote by turns) asks the index where it goes on. Blocks grow while they are full of what is wanted, and
 * shrink where the chat is bushy. Bodies then come in ranges of consecutive seqs.
 *
 * Each read is one transaction, so what it returns is true at one moment. A chat that is deleted reads as empty.
 */
type Reader = IDBPTransaction<Layout, Store[]>;

async function read<T>(db: Database, stores: Store[], work: (tx: Reader) => Promise<T>): Promise<T> {
  const tx = db.transaction(stores);
  tx.done.catch(() => undefined);
  return work(tx);
}

/** Reads from one chat; `otherwise` when it is not there, or deleted. */
async function readChat<T>(
  db: Database,
  chatId: string,
  stores: Store[],
  otherwise: T,
  work: (tx: Reader, chat: Chat) => Promise<T>,
): Promise<T> {
  return read(db, ['chats', ...stores], async (tx) => {
    const chat = await findChat(tx, chatId);
    return chat ? work(tx, chat) : otherwise;
  });
}

async function findChat(tx: Reader, chatId: string): Promise<Chat | undefined> {
  const chat = await tx.objectStore('chats').get(chatId);
  return chat?.deletedAt === undefined ? chat : undefined;
}

// --- Records --------------------------------------------------------------------------------------------------------

/** The chat, its pointers and its topology: all of it, or what changed after `since`. */
export async function load(db: Database, chatId: string, since: number | undefined): Promise<ChatRecords> {
  return read(db, ['chats', 'nodes', 'drafts', 'branches', 'checkpoints', 'changes', 'meta'], async (tx) => {
    const [chat, count] = await Promise.all([
      tx.objectStore('chats').get(chatId),
      tx.objectStore('meta').get('seq'),
    ]);
    const seq = Number(count);
    if (!chat || chat.deletedAt !== undefined) return nothing(seq, chat);
    return since === undefined ? all(tx, chat, seq) : difference(tx, chat, seq, since);
  });
}

function nothing(seq: number, chat: Chat | undefined): ChatRecords {
  return { seq, chat: chat && tombstone(chat), branches: [], checkpoints: [], nodes: [], dropped: [] };
}

async function all(tx: Reader, chat: Chat, seq: number): Promise<ChatRecords> {
  const range = ofChat(chat.id);
  const [branches, checkpoints, infos] = await Promise.all([
    tx.objectStore('branches').getAll(range),
    tx.objectStore('checkpoints').getAll(range),
    tx.objectStore('nodes').getAll(range),
  ]);
  const nodes = await withDrafts(tx, infos);
  return { seq, chat, branches: byAge(branches), checkpoints: byAge(checkpoints), nodes, dropped: [] };
}

async function difference(tx: Reader, chat: Chat, seq: number, since: number): Promise<ChatRecords> {
  const changes = await tx
    .objectStore('changes')
    .index('chat')
    .getAll(between(chat.id, since + 1, Infinity));
  const changed = (kind: Change['kind']): string[] =>
    changes.filter((change) => change.kind === kind).map(({ id }) => id);
  const [branches, checkpoints, infos] = await Promise.all([
    Promise.all(changed('branch').map((id) => tx.objectStore('branches').get([chat.id, id]))),
    Promise.all(changed('checkpoint').map((id) => tx.objectStore('checkpoints').get([chat.id, id]))),
    findInfos(tx, chat.id, changed('node')),
  ]);
  const nodes = await withDrafts(tx, present(infos));
  const known = new Set(nodes.map(({ id }) => id));
  return {
    seq,
    chat: changed('chat').length > 0 ? chat : undefined,
    branches: present(branches),
    checkpoints: present(checkpoints),
    nodes: nodes.toSorted((a, b) => a.seq - b.seq),
    dropped: changed('node').filter((id) => !known.has(id)),
  };
}

function present<T>(things: readonly (T | undefined)[]): T[] {
  return things.filter((thing) => thing !== undefined);
}

async function withDrafts(tx: Reader, infos: readonly NodeInfo[]): Promise<NodeInfo[]> {
  const drafts = await draftsOf(tx, infos);
  return infos.map((info) => infoWithDraft(info, drafts.get(info.id)));
}

async function draftsOf(tx: Reader, infos: readonly NodeInfo[]): Promise<Map<string, UIMessage | undefined>> {
  const streaming = infos.filter((info) => info.status === 'streaming');
  const drafts = streaming.map(({ chatId, id }) => tx.objectStore('drafts').get([chatId, id]));
  return new Map(
    (await Promise.all(drafts)).map((draft, i) => [(streaming[i] as NodeInfo).id, parse(draft)]),
  );
}

/** A chat without its messages. */
export type Pointers = Pick<ChatRecords, 'chat' | 'branches' | 'checkpoints'>;

/** The row, the branches and the checkpoints of a chat. */
export async function loadPointers(db: Database, chatId: string): Promise<Pointers> {
  const none: Pointers = { chat: undefined, branches: [], checkpoints: [] };
  return readChat(db, chatId, ['branches', 'checkpoints'], none, async (tx, chat) => {
    const branches = await tx.objectStore('branches').getAll(ofChat(chatId));
    const checkpoints = await tx.objectStore('checkpoints').getAll(ofChat(chatId));
    return { chat, branches: byAge(branches), checkpoints: byAge(checkpoints) };
  });
}

/** The last change of each thing that changed after `seq`, oldest first. */
export async function changesSince(db: Database, seq: number, limit: number | undefined): Promise<Change[]> {
  return read(db, ['changes'], (tx) =>
    tx.objectStore('changes').index('seq').getAll(IDBKeyRange.lowerBound(seq, true), limit),
  );
}

/** The chats that a filter lets through. */
export async function listChats(db: Database, filter: ChatFilter): Promise<ChatInfo[]> {
  return read(db, ['chats', 'branches'], async (tx) => {
    const rows = await tx.objectStore('chats').index('user').getAll(filter.userId);
    const chats = filterChats(rows, filter);
    const branches = await Promise.all(chats.map(({ id }) => tx.objectStore('branches').getAll(ofChat(id))));
    return chats.map((chat, i) => chatInfo(chat, branches[i] ?? []));
  });
}

// --- Messages -------------------------------------------------------------------------------------------------------

const MESSAGES: Store[] = ['nodes', 'bodies', 'drafts'];

/** The messages with these ids, in the order asked. */
export async function getNodes(db: Database, chatId: string, ids: readonly string[]): Promise<MessageNode[]> {
  return readChat(db, chatId, MESSAGES, [], async (tx) =>
    withBodies(tx, present(await findInfos(tx, chatId, ids))),
  );
}

/** The last `limit` messages on the way from the root to a head; undefined for the head of the active branch. */
export async function getChain(
  db: Database,
  chatId: string,
  headId: string | undefined,
  limit: number,
): Promise<MessageNode[] | undefined> {
  return readChat(db, chatId, ['branches', ...MESSAGES], undefined, async (tx, chat) => {
    const active =
      headId === undefined && (await tx.objectStore('branches').get([chatId, chat.activeBranchId]));
    const chain = await walk(tx, chatId, headId ?? (active ? active.headMessageId : null), limit);
    return withBodies(tx, chain.toReversed());
  });
}

/** The messages that live branches reach. */
export async function getReached(db: Database, chatId: string): Promise<MessageNode[]> {
  return readChat(db, chatId, ['branches', ...MESSAGES], [], async (tx) => {
    const infos = await tx.objectStore('nodes').getAll(ofChat(chatId));
    const branches = await tx.objectStore('branches').getAll(ofChat(chatId));
    const live = branches.filter((branch) => branch.deletedAt === undefined);
    const reached = reachable(
      createGraph(infos),
      live.map((branch) => branch.headMessageId),
    );
    return withBodies(
      tx,
      infos.filter((info) => reached.has(info.id)),
    );
  });
}

/** The topology of a chain from its head towards the root. */
async function walk(tx: Reader, chatId: string, headId: string | null, limit: number): Promise<NodeInfo[]> {
  const chain: NodeInfo[] = [];
  let size = SMALL_BLOCK;
  for (let id = headId; id !== null && chain.length < limit;) {
    const last = await tx.objectStore('nodes').index('id').get([chatId, id]);
    if (!last) break;
    const block = await readBlock(tx, last, Math.min(size, limit - chain.length));
    const found = stretch(block, last, limit - chain.length);
    chain.push(...found);
    id = (found.at(-1) ?? last).parentId;
    size = Math.min(Math.max(SMALL_BLOCK, found.length * 2), LARGE_BLOCK);
  }
  return chain;
}

const SMALL_BLOCK = 16;
const LARGE_BLOCK = 1024;

/** The messages written just before this one, by id. */
async function readBlock(
  tx: Reader,
  { chatId, seq }: NodeInfo,
  size: number,
): Promise<Map<string, NodeInfo>> {
  const infos =
    size > 1 ? await tx.objectStore('nodes').getAll(between(chatId, seq - size + 1, seq - 1)) : [];
  return new Map(infos.map((info) => [info.id, info]));
}

/** As much of the chain as a block holds. Parents were written before their children, so damaged data can't turn it. */
function stretch(block: ReadonlyMap<string, NodeInfo>, last: NodeInfo, limit: number): NodeInfo[] {
  const found = [last];
  for (let at = last; at.parentId !== null && found.length < limit;) {
    const parent = block.get(at.parentId);
    if (!parent || parent.seq >= at.seq) break;
    found.push(parent);
    at = parent;
  }
  return found;
}

/** The topology of these messages. Many at once are mostly neighbours, and then come in one range. */
async function findInfos(
  tx: Reader,
  chatId: string,
  ids: readonly string[],
): Promise<(NodeInfo | undefined)[]> {
  const index = tx.objectStore('nodes').index('id');
  const ends = ids.length > SMALL_BLOCK ? [ids[0] ?? '', ids.at(-1) ?? ''] : [];
  const [first, last] = await Promise.all(ends.map((id) => index.get([chatId, id])));
  const neighbours = first && last ? await readNeighbours(tx, ids.length, first, last) : undefined;
  return Promise.all(ids.map(async (id) => neighbours?.get(id) ?? index.get([chatId, id])));
}

/** What lies between the first and the last of `count` messages, if that is mostly them. */
async function readNeighbours(
  tx: Reader,
  count: number,
  first: NodeInfo,
  last: NodeInfo,
): Promise<Map<string, NodeInfo> | undefined> {
  const [from, to] = [Math.min(first.seq, last.seq), Math.max(first.seq, last.seq)];
  if (to - from > count * 4) return undefined;
  const infos = await tx.objectStore('nodes').getAll(between(first.chatId, from, to));
  return new Map(infos.map((info) => [info.id, info]));
}

/** These messages with their bodies, and streaming ones with what they have said since. */
async function withBodies(tx: Reader, infos: readonly NodeInfo[]): Promise<MessageNode[]> {
  const [texts, drafts] = await Promise.all([
    Promise.all(runsOf(infos).map((run) => readRun(tx, run))),
    draftsOf(tx, infos),
  ]);
  const bodies = new Map(texts.flat());
  return infos.map((info) => withDraft(withBody(info, bodies.get(info.seq)), drafts.get(info.id)));
}

const LONGEST_RUN = 128;

/** The messages cut into runs of consecutive seqs. Long ones are cut, because several ranges are read side by side. */
function runsOf(infos: readonly NodeInfo[]): NodeInfo[][] {
  const runs: NodeInfo[][] = [];
  for (const info of [...new Map(infos.map((info) => [info.seq, info])).values()].toSorted(
    (a, b) => a.seq - b.seq,
  )) {
    const run = runs.at(-1);
    if (run && run.length < LONGEST_RUN && run.at(-1)?.seq === info.seq - 1) run.push(info);
    else runs.push([info]);
  }
  return runs;
}

/** Bodies by seq. */
async function readRun(tx: Reader, run: readonly NodeInfo[]): Promise<[number, string][]> {
  const [first, last] = [run[0] as NodeInfo, run.at(-1) as NodeInfo];
  const range = between(first.chatId, first.seq, last.seq);
  const bodies = await tx.objectStore('bodies').getAll(range);
  if (bodies.length === run.length) return bodies.map((body, i) => [first.seq + i, body]);
  // One is missing: damaged data. The others must not take its place.
  const keys = await tx.objectStore('bodies').getAllKeys(range);
  return bodies.map((body, i) => [keys[i]?.[1] ?? -1, body]);
}
