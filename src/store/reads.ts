import type { UIMessage } from 'ai';
import type { Chat, MessageNode, NodeInfo } from '../graph/graph.ts';
import { byAge, previewOf } from '../graph/graph.ts';
import { readDraft } from './drafts.ts';
import {
  between,
  BLOCK,
  type Key,
  type Meta,
  ofChat,
  only,
  type Span,
  type Table,
  type Tables,
} from './layout.ts';
import { withBody } from './append.ts';
import { readMeta } from './meta.ts';
import { readChat } from './rebuild.ts';
import { tombstone } from './removal.ts';
import type { Rows } from './rows.ts';
import { type Run, runsOf } from './runs.ts';
import type { Change, ChatFilter, ChatInfo, ChatRecords } from './store.ts';

/**
 * Reading, at a cost that follows what is asked for.
 *
 * A request costs about as much as the record that it brings, so the rule is: few requests, each for a range. The seqs
 * of a chain are mostly consecutive, because a conversation is mostly written in one go. A walk to the root therefore
 * asks for the topology just below what it has, and finds a stretch of the chain there; only where the chain jumps
 * farther (at a fork, or where many tabs wrote by turns) it asks the index where it goes on. Where it is known how the
 * chain went when somebody last looked, all of it is asked for there at once, and is believed only as far as it is found.
 * Bodies then come in ranges of consecutive seqs.
 *
 * A chat that is deleted reads as one that is not there.
 */
export async function findChat(rows: Rows, chatId: string): Promise<Chat | undefined> {
  const chat = await readChat(rows, chatId);
  return chat?.deletedAt === undefined ? chat : undefined;
}

// --- Records --------------------------------------------------------------------------------------------------------

/** The tables that {@link load} reads. */
export const RECORDS: readonly Table[] = [
  'chats',
  'nodes',
  'drafts',
  'branches',
  'checkpoints',
  'changes',
  'meta',
];

/** The chat, its pointers and its topology: all of it, or what changed after `since`. */
export async function load(
  rows: Rows,
  chatId: string,
  since: number | undefined,
  meta: Promise<Meta> = readMeta(rows),
): Promise<ChatRecords> {
  // Asked for first: as soon as it is there, all else is asked for.
  const reading = readChat(rows, chatId);
  const read = since === undefined ? everything(rows, chatId) : difference(rows, since);
  const [chat, { seq, clearedSeq = 0 }] = await Promise.all([reading, meta]);
  const at = clearedSeq > 0 && clearedSeq <= seq ? { seq, clearedSeq } : { seq };
  if (!chat || chat.deletedAt !== undefined) {
    return { ...at, chat: chat && tombstone(chat), branches: [], checkpoints: [], nodes: [], dropped: [] };
  }
  return { ...at, ...(await read(chat)) };
}

/** What is read once it is known how a chat stands. */
type ReadRest = (chat: Chat) => Promise<Omit<ChatRecords, 'seq'>>;

/**
 * The first stretch of the topology is asked for before it is known how many there are, so that the database has something
 * to do until the page knows.
 */
function everything(rows: Rows, chatId: string): ReadRest {
  const first = rows.list('nodes', between(chatId, 0, STRETCH - 1));
  // A chat that is deleted has no use for it; of any other, a failure is heard below.
  first.catch(() => undefined);
  return async (chat) => {
    const end = Math.min(Math.max(chat.nextSeq, STRETCH), MOST);
    const [beyond, pointers, near, far] = await Promise.all([
      // A row that was set back may count too few.
      rows.list('nodes', between(chatId, end, Infinity)),
      loadPointers(rows, chatId),
      first,
      // Where a span ends, its pieces can be asked for side by side.
      end > STRETCH ? rows.list('nodes', between(chatId, STRETCH, end - 1)) : [],
    ]);
    const nodes = await withDrafts(rows, near.concat(far, beyond));
    return { chat, ...pointers, nodes, dropped: [] };
  };
}

/** So many seqs of a chat are read before it is known how many it has. */
const STRETCH = 1024;

/** No more than so many are asked for in pieces: a row that is damaged may count a billion. */
const MOST = 65_536;

/** The branches and checkpoints of a chat, deleted ones too, in the order in which they were made. */
export async function loadPointers(
  rows: Rows,
  chatId: string,
): Promise<Pick<ChatRecords, 'branches' | 'checkpoints'>> {
  const span = ofChat(chatId);
  const [branches, checkpoints] = await Promise.all([
    rows.list('branches', span),
    rows.list('checkpoints', span),
  ]);
  return { branches: byAge(branches), checkpoints: byAge(checkpoints) };
}

function difference(rows: Rows, since: number): ReadRest {
  return async (chat) => {
    const changes = await rows.list('changes', between(chat.id, since + 1, Infinity), 'chat');
    const changed = async <T>(
      kind: Change['kind'],
      read: (id: string) => Promise<T | undefined>,
    ): Promise<T[]> =>
      present(await Promise.all(changes.filter((change) => change.kind === kind).map(({ id }) => read(id))));
    const [branches, checkpoints, infos] = await Promise.all([
      changed('branch', (id) => rows.get('branches', [chat.id, id])),
      changed('checkpoint', (id) => rows.get('checkpoints', [chat.id, id])),
      changed('node', (id) => rows.get('nodes', [chat.id, id], 'id')),
    ]);
    return {
      chat: changes.some(({ kind }) => kind === 'chat') ? chat : undefined,
      branches: byAge(branches),
      checkpoints: byAge(checkpoints),
      nodes: (await withDrafts(rows, infos)).toSorted((a, b) => a.seq - b.seq),
      dropped: changes.filter(({ kind, op }) => kind === 'node' && op === 'delete').map(({ id }) => id),
    };
  };
}

function present<T>(things: readonly (T | undefined)[]): T[] {
  return things.filter((thing) => thing !== undefined);
}

async function withDrafts(rows: Rows, infos: readonly NodeInfo[]): Promise<readonly NodeInfo[]> {
  const drafts = await draftsOf(rows, infos);
  if (drafts.size === 0) return infos;
  return infos.map((info) => {
    const draft = drafts.get(info.id);
    return draft ? { ...info, preview: previewOf(draft), parts: draft.parts.length } : info;
  });
}

/** What the streaming ones of these messages have said since they were stored, by id. */
async function draftsOf(rows: Rows, infos: readonly NodeInfo[]): Promise<Map<string, UIMessage>> {
  const streaming = infos.filter((info) => info.status === 'streaming');
  const drafts = await Promise.all(streaming.map(({ chatId, id }) => readDraft(rows, chatId, id)));
  return new Map(present(drafts.map((draft) => draft && ([draft.id, draft] as const))));
}

/** The chats that a filter lets through, the last updated first. Deleted ones are left out. */
export async function listChats(rows: Rows, filter: ChatFilter): Promise<ChatInfo[]> {
  const { userId, metadata } = filter;
  const first = Math.max(filter.offset ?? 0, 0);
  const end = first + Math.max(filter.limit ?? Infinity, 0);
  const suits = (chat: Chat): boolean =>
    chat.deletedAt === undefined && (!metadata || chat.metadata?.[metadata.key] === metadata.value);
  const all = async (): Promise<Chat[]> =>
    (await rows.list('chats', userId === undefined ? undefined : only(userId), 'user')).filter(suits);
  const chats = ((await newestChats(rows, userId, end, suits)) ?? (await all()))
    .toSorted((a, b) => b.updatedAt - a.updatedAt)
    .slice(first, end);
  return Promise.all(chats.map(async (chat) => chatInfo(chat, (await loadLive(rows, chat.id)).length)));
}

/**
 * Chats of one user, or of all, among which are the `many` updated last that suit. Undefined where there are no more than
 * that: then all have to be read, also those whose row is damaged, which no index finds.
 */
async function newestChats(
  rows: Rows,
  userId: string | undefined,
  many: number,
  suits: (chat: Chat) => boolean,
): Promise<Chat[] | undefined> {
  if (many === 0) return [];
  if (many > FEW_CHATS) return undefined;
  const users = userId === undefined ? await usersOf(rows) : [userId];
  if (!users) return undefined;
  // Those that do not suit are in the way; where they are many, soon all are read.
  for (let most = many; ; most *= 4) {
    const found = await Promise.all(users.map((user) => rows.lastChats(updatesOf(user), most)));
    const fitting = found.map((chats) => chats.filter(suits));
    if (found.some((chats, i) => chats.length >= most && (fitting[i]?.length ?? 0) < many)) continue;
    const chats = fitting.flat();
    return chats.length >= many ? chats : undefined;
  }
}

/** Of more chats than that, all are read at once. */
const FEW_CHATS = 10_000;

/** Who has chats, in the order of their names; undefined where a damaged row stands between them. */
async function usersOf(rows: Rows): Promise<string[] | undefined> {
  const users: string[] = [];
  for (let to: Key = [[]]; ; to = [users[0] ?? '']) {
    const span: Span = { from: [''], to };
    const last = (await rows.lastChats(span, 1)).at(-1);
    if (!last) return (await rows.list('chats', span, 'recent')).length > 0 ? undefined : users;
    users.unshift(last.userId);
  }
}

/** The places of a user's chats in the index `recent`. A time that is none, which a disk made of one, lies beyond. */
function updatesOf(userId: string): Span {
  return { from: [userId], to: [userId, Number.MAX_VALUE] };
}

function chatInfo(
  { id, userId, title, metadata, messageCount, createdAt, updatedAt }: Chat,
  branchCount: number,
): ChatInfo {
  return { id, userId, title, metadata, messageCount, branchCount, createdAt, updatedAt };
}

async function loadLive(rows: Rows, chatId: string): Promise<ChatRecords['branches']> {
  return (await rows.list('branches', ofChat(chatId))).filter((branch) => branch.deletedAt === undefined);
}

// --- Messages -------------------------------------------------------------------------------------------------------

/** The tables that messages are read from. */
export const MESSAGES: readonly Table[] = ['chats', 'branches', 'nodes', 'bodies', 'drafts', 'blobs'];

/**
 * The messages with these ids, in the order asked. `seqs` are where they may be: what is found there need not be looked
 * for by its id, and comes with all else in one go.
 */
export async function getNodes(
  rows: Rows,
  chatId: string,
  ids: readonly string[],
  seqs: readonly number[] = [],
): Promise<MessageNode[]> {
  const runs = runsOf(seqs, NEAR);
  const [chat, near, bodies] = await Promise.all([
    findChat(rows, chatId),
    listRuns(rows, 'nodes', chatId, runs),
    listRuns(rows, 'bodies', chatId, runs),
  ]);
  if (!chat) return [];
  const known = new Map(near.map((info) => [info.id, info]));
  return withBodies(rows, present(await findInfos(rows, chatId, ids, known)), bodies);
}

/** What lies between two messages nearer than this costs less to bring along than to ask twice, and may be large. */
const NEAR = 3;

/**
 * The last `limit` messages on the way from the root to a head; without a head, to that of the active branch.
 * Undefined when there is no such chat.
 */
export async function getChain(
  rows: Rows,
  chatId: string,
  headId: string | undefined,
  limit: number,
): Promise<MessageNode[] | undefined> {
  const reading = findChat(rows, chatId);
  // The words of one stretch come while the next one is looked for. Who fails to come is heard of below.
  const bodies: Promise<UIMessage[]>[] = [];
  const asked = new Set<number>();
  const walkFrom = (id: string | null): Promise<NodeInfo[]> =>
    walk(rows, chatId, id, limit, (seqs, areMet) => {
      const unasked = seqs.filter((seq) => !asked.has(seq));
      for (const seq of unasked) asked.add(seq);
      // Asked for behind the topology that is asked for at this moment: on that the walk waits.
      const words = Promise.resolve().then(() => wordsAt(rows, chatId, unasked, areMet));
      words.catch(() => undefined);
      bodies.push(words);
    });
  const known = headId === undefined ? undefined : walkFrom(headId);
  known?.catch(() => undefined);
  const chat = await reading;
  if (!chat) return undefined;
  const active = known ? undefined : await rows.get('branches', [chatId, chat.activeBranchId]);
  const chain = await (known ?? walkFrom(active?.headMessageId ?? null));
  return withBodies(rows, chain.toReversed(), (await Promise.all(bodies)).flat());
}

/** How many seqs are read at a time: at least, before it is known how long the chain is, and at most. */
const SHORT = 64;
const MIDDLE = 256;
const LONG = 4096;

/**
 * The topology of a chain from its head towards the root. `tell` hears where its messages lie: where they lay last, as far
 * as that is known, and where they were met; of those that were found alone, together with those before them.
 */
async function walk(
  rows: Rows,
  chatId: string,
  headId: string | null,
  limit: number,
  tell: (seqs: readonly number[], areMet: boolean) => void,
): Promise<NodeInfo[]> {
  const chain: NodeInfo[] = [];
  let untold: number[] = [];
  /** What was passed, where that has to be known. */
  let passed: Set<string> | undefined;
  let hasLeft = true;
  let isAsKnown = true;
  let size = Math.min(limit, LONG);
  let above: NodeInfo | undefined;
  for (let id: string | null = headId; id !== null && chain.length < limit;) {
    const reach = Math.max(Math.min(size, above ? above.depth - 1 : MIDDLE), SHORT);
    const end: number = above?.seq ?? Infinity;
    const ahead = isAsKnown ? limit - chain.length : 1;
    const guess: readonly number[] = hasLeft ? (rows.chainOf?.(chatId, id, ahead) ?? []) : [];
    // Where it is known where the chain goes on, what is found there brings what lies before it along.
    const place: number = guess[0] ?? (hasLeft ? -1 : end - 1);
    const top = place < end ? place : -1;
    const isGuessed = guess.length > 1 && top >= 0;
    const reading = isGuessed
      ? listRuns(rows, 'nodes', chatId, runsOf(guess, BLOCK, LONG))
      : upTo(rows, chatId, top, reach);
    if (hasLeft) tell(isGuessed ? guess : blockUpTo(top), false);
    const near: readonly NodeInfo[] = stretch(await reading, id);
    // A chain that goes elsewhere may do so at every message: nobody asks for all that is left each time.
    if (guess.length > 1) isAsKnown = near.length >= guess.length;
    const found = near.length > 0 ? near : present([await rows.get('nodes', [chatId, id], 'id')]);
    const last = found.at(-1);
    if (!last) break;
    // A parent was written before its children. Where damaged data say something else, the chain may be a ring.
    if (last.seq >= end) {
      passed ??= new Set(chain.map((info) => info.id));
      if (passed.has(last.id)) break;
    }
    for (const { seq } of found.slice(0, limit - chain.length)) untold.push(seq);
    for (const info of found) {
      chain.push(info);
      passed?.add(info.id);
    }
    if (near.length > 0) {
      tell(untold, true);
      untold = [];
    }
    // Where the chain ends within what was read, it goes on somewhere else.
    hasLeft = near.length > 0 && (isGuessed || last.seq > top + 1 - reach);
    // Where little of what was read belongs to the chain, less is read at once.
    if (!hasLeft) size = near.length * 2 < reach ? Math.max(size / 2, SHORT) : Math.min(size * 2, LONG);
    above = last;
    id = last.parentId;
  }
  tell(untold, true);
  const once = passed ? [...new Map(chain.map((info) => [info.id, info])).values()] : chain;
  return once.slice(0, limit);
}

/** The bodies of messages at some places. */
async function wordsAt(
  rows: Rows,
  chatId: string,
  seqs: readonly number[],
  areMet: boolean,
): Promise<UIMessage[]> {
  return rows.words?.(chatId, seqs, areMet) ?? listRuns(rows, 'bodies', chatId, runsOf(seqs));
}

/** The places of a block up to one of them: where a message lies, its ancestors mostly do. */
function blockUpTo(last: number): number[] {
  return Array.from({ length: last < 0 ? 0 : (last % BLOCK) + 1 }, (_, i) => last - i);
}

/** The topology that lies in so many seqs, of which this is the last. */
function upTo(rows: Rows, chatId: string, last: number, size: number): Promise<NodeInfo[]> {
  return last < 0
    ? Promise.resolve([])
    : rows.list('nodes', between(chatId, Math.max(Math.floor(last + 1 - size), 0), last));
}

/** As much of the chain that ends at a message as some topology holds. */
function stretch(infos: readonly NodeInfo[], id: string): NodeInfo[] {
  const found: NodeInfo[] = [];
  let wanted: string | null = id;
  for (const info of infos.toReversed()) {
    if (info.id !== wanted) continue;
    found.push(info);
    wanted = info.parentId;
  }
  return found;
}

/**
 * The topology of these messages. Many at once are mostly neighbours: each that is looked for by its id brings those
 * around it along, as long as that finds any.
 */
async function findInfos(
  rows: Rows,
  chatId: string,
  ids: readonly string[],
  known: Map<string, NodeInfo>,
): Promise<(NodeInfo | undefined)[]> {
  const find = (id: string): Promise<NodeInfo | undefined> => rows.get('nodes', [chatId, id], 'id');
  const missing = new Set(ids.filter((id) => !known.has(id)));
  while (missing.size > FEW) {
    const before = missing.size;
    const info = await find([...missing].at(-1) ?? '');
    const around = info && (await upTo(rows, chatId, info.seq, Math.min(before * 2, LONG)));
    for (const one of around ?? []) if (missing.delete(one.id)) known.set(one.id, one);
    if (before - missing.size < FEW) break;
  }
  return Promise.all(ids.map(async (id) => known.get(id) ?? find(id)));
}

/** So few messages are looked for one by one. */
const FEW = 16;

/** These messages with their bodies, of which some may be at hand, and streaming ones with what they have said since. */
async function withBodies(
  rows: Rows,
  infos: readonly NodeInfo[],
  bodies: readonly UIMessage[] = [],
): Promise<MessageNode[]> {
  const byId = new Map(bodies.map((body) => [body.id, body]));
  const missing = infos.filter(({ id }) => !byId.has(id));
  const runs = runsOf(missing.map(({ seq }) => seq));
  const [read, drafts] = await Promise.all([
    listRuns(rows, 'bodies', missing[0]?.chatId ?? '', runs),
    draftsOf(rows, infos),
  ]);
  for (const body of read) byId.set(body.id, body);
  // Where damage gave a body the name of another one, only its place tells which is which.
  if (byId.size < bodies.length + read.length)
    for (const { id, chatId, seq } of infos) {
      const own = await rows.get('bodies', [chatId, seq]);
      if (own) byId.set(id, own);
    }
  return infos.map((info) => withBody(info, drafts.get(info.id) ?? byId.get(info.id)));
}

/** What lies in some runs. */
async function listRuns<T extends 'nodes' | 'bodies'>(
  rows: Rows,
  table: T,
  chatId: string,
  runs: readonly Run[],
): Promise<Tables[T][]> {
  const found = await Promise.all(
    runs.map(([first, last]) => rows.list(table, between(chatId, first, last))),
  );
  return found.flat();
}
