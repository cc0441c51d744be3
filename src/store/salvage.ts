import type { UIMessage } from 'ai';
import type { NodeInfo } from '../graph/graph.ts';
import type { Finding, FindingKind } from '../graph/verify.ts';
import type { Damage } from './indexeddb/damage.ts';
import { Marks } from './indexeddb/marks.ts';
import { decodePack, decodeTopology, isFound } from './indexeddb/pack.ts';
import { between, BLOCK, ofChat, type Table } from './layout.ts';
import { chatOf, type Kept, keptWords, readChat, rebuildInfo } from './rebuild.ts';
import type { Rows } from './rows.ts';
import type { Change, Salvage } from './store.ts';
import { hasSum } from './sum.ts';

/**
 * Looking at a chat record by record.
 *
 * A read asks for something and passes over what it can't use; this asks for everything and tells what it had to pass
 * over. Three kinds of loss come to light only here: bodies without topology (nobody asks for a message that he has
 * never heard of), words that are not those that were written, and records that something was written over.
 *
 * Loaded when someone verifies or repairs a chat. Costs a read of all of it, some blocks at a time.
 */
export async function salvage(rows: Rows, chatId: string): Promise<Salvaged> {
  const chat = await readChat(rows, chatId);
  if (!chat) return fromWords(rows, chatId);
  if (chat.deletedAt !== undefined) return NOTHING;
  const [row, infos] = await Promise.all([
    rows.get('chats', chatId),
    rows.list('nodes', ofChat(chatId)),
    ...BESIDE.map((table) => rows.list(table, ofChat(chatId))),
  ]);
  const sealed = await examineBlocks(rows, chatId, infos);
  const known = new Map(infos.map((info) => [info.id, info]));
  const { changed, altered, wordless } = await examineWords(rows, infos);
  const nextSeq = Math.max(chat.nextSeq, (infos.at(-1)?.seq ?? -1) + 1);
  const strays = await findStrays(rows, chatId, infos, wordless, nextSeq);
  const lost = rebuildLost(chatId, strays, known);
  // Another record may go by the same id, and have the words.
  const worded = new Set(infos.filter((info) => !wordless.has(info)).map(({ id }) => id));
  const moved = strays.map(({ body }) => body).filter(({ id }) => known.has(id) && !worded.has(id));
  const { damage = [] } = rows;
  const unsure = new Set([
    ...sealed.ids,
    ...damage.flatMap((one) => idsOf(one, 'node')),
    ...moved.map(({ id }) => id),
  ]);
  const findings = [
    ...damage.map((one) => told(one, chatId)),
    ...sealed.findings,
    ...lost.map(toldOfLost),
    ...moved.map(toldOfMoved),
    ...changed,
  ];
  if (!row)
    findings.push(damaged(chatId, 'The record of the chat is lost: it is told from its messages.', true));
  const fileless = await findFileless(rows, chatId);
  const lostSeqs = new Set(lost.map(({ seq }) => seq));
  const lostIds = new Set(lost.map(({ id }) => id));
  const isMoved = new Set(moved.map(({ id }) => id));
  return {
    findings: onePerThing(findings),
    fileless,
    wordless: [...wordless, ...altered].filter(({ id }) => !isMoved.has(id)),
    nodes: [...lost, ...infos.filter(({ id, seq }) => unsure.has(id) && !lostSeqs.has(seq))],
    bodies: [...moved, ...strays.map(({ body }) => body).filter(({ id }) => lostIds.has(id))],
    pointers: damage.flatMap((one) => [...idsOf(one, 'branch'), ...idsOf(one, 'checkpoint')]),
  };
}

/** What was found in the rows, and the messages whose words are not there, or not those that were written. */
interface Salvaged extends Salvage {
  readonly wordless: readonly NodeInfo[];
  /** The hashes of files that are not there. */
  readonly fileless: readonly string[];
}

const NOTHING: Salvaged = { findings: [], nodes: [], bodies: [], pointers: [], wordless: [], fileless: [] };

/** With the words that were written down elsewhere. */
export function withKept({ wordless, fileless, ...found }: Salvaged, kept: Kept): Salvage {
  return withKeptFiles(withKeptWords(found, wordless, kept), fileless, kept);
}

function withKeptFiles(found: Salvage, hashes: readonly string[], { files }: Kept): Salvage {
  const back = hashes.flatMap((hash) => {
    const bytes = files.get(hash);
    return bytes ? [[hash, bytes] as const] : [];
  });
  if (back.length === 0) return found;
  const many = back.length > 1 ? `${back.length} lost files: they come` : 'a lost file: it comes';
  const text = `The journal has ${many} back.`;
  return {
    ...found,
    findings: [...found.findings, damaged(back[0]?.[0] ?? '', text, true)],
    files: new Map(back),
  };
}

function withKeptWords(found: Salvage, wordless: readonly NodeInfo[], { messages }: Kept): Salvage {
  const back = wordless.flatMap((info) => {
    const body = keptWords(info, messages);
    return body ? [{ info, body }] : [];
  });
  const [first] = back;
  if (!first) return found;
  const infos = back.map(({ info }) => info);
  const many =
    back.length > 1
      ? `${back.length} messages, "${first.info.id}" to "${infos.at(-1)?.id}"`
      : `message "${first.info.id}"`;
  const known = new Set(found.nodes.map(({ id }) => id));
  const isBack = new Set(infos.map(({ id }) => id));
  return {
    ...found,
    findings: [
      ...found.findings.filter(({ kind, id }) => kind !== 'changed-body' || !isBack.has(id)),
      damaged(first.info.id, `The journal has the words of ${many}: they come back.`, true),
    ],
    nodes: [...found.nodes, ...infos.filter(({ id }) => !known.has(id))],
    bodies: [...found.bodies, ...back.map(({ body }) => body)],
  };
}

/** A chat of which nothing is left but words: they follow each other as they lie there. */
async function fromWords(rows: Rows, chatId: string): Promise<Salvaged> {
  const bodies = await bodiesFrom(rows, chatId, 0, FARTHEST);
  const strays = bodies.map(([seq, body]) => ({ seq, body, info: undefined, before: undefined }));
  const nodes = rebuildLost(chatId, strays, new Map());
  if (nodes.length === 0) return NOTHING;
  const text = `Only the words of chat "${chatId}" are left: ${nodes.length} messages are told from them.`;
  return {
    ...NOTHING,
    findings: [damaged(chatId, text, true)],
    nodes,
    bodies: strays.map(({ body }) => body),
    chat: chatOf(chatId, [], nodes),
  };
}

/** No message has a place beyond. */
const FARTHEST = 2 ** 48 - 1;

/** Tables that are only looked through: what is damaged in them is met on the way. */
const BESIDE: readonly Table[] = ['branches', 'checkpoints', 'changes', 'drafts', 'uses'];

// --- Sealed blocks --------------------------------------------------------------------------------------------------

/** Records of sealed blocks that are not as they were written, and the ids of messages whose topology is in doubt. */
async function examineBlocks(
  rows: Rows,
  chatId: string,
  all: readonly NodeInfo[],
): Promise<{ readonly findings: Finding[]; readonly ids: string[] }> {
  const findings: Finding[] = [];
  const ids: string[] = [];
  const records = await rows.list('topologies', ofChat(chatId));
  const marks = new Marks(chatId, await rows.list('marks', ofChat(chatId)));
  const found = new Set(records.map(({ block }) => block));
  const infosOf = new Map<number, NodeInfo[]>(records.map(({ block }) => [block, []]));
  for (const info of all) {
    const block = Math.floor(info.seq / BLOCK);
    const infos = infosOf.get(block);
    if (infos) infos.push(info);
    else infosOf.set(block, [info]);
  }
  for (const [block, there] of infosOf) {
    const pack = found.has(block) ? undefined : await rows.get('packs', [chatId, block]);
    if (!pack) continue;
    const said = new Set(decodePack(pack, new Map()).bodies.map((body) => body?.id));
    const infos = there.filter(({ id }) => said.has(id));
    if (infos.length === 0) continue;
    const text = `The record of ${those(infos)} is gone: it is told from their words.`;
    findings.push(damaged(infos[0]?.id ?? chatId, text, true));
    ids.push(...infos.map(({ id }) => id));
  }
  for (const record of records) {
    const block = decodeTopology(record);
    const infos = infosOf.get(record.block) ?? [];
    const pack = await rows.get('packs', [chatId, record.block]);
    if (!block && !pack) {
      findings.push(damaged(chatId, `A record of a block is damaged, and nothing is left of it.`, false));
      continue;
    }
    const isDamaged = !block || block.damage !== undefined;
    if (isDamaged || !isFound(record, block, marks.of(record.block))) {
      const what = isDamaged
        ? `The record of ${those(infos)} is damaged: it is told from their words.`
        : `What ${those(infos)} are found by is damaged: it is told from their ids.`;
      findings.push(damaged(infos[0]?.id ?? chatId, what, true));
      ids.push(...infos.map(({ id }) => id));
    }
    if (pack && !decodePack(pack, new Map()).damage) continue;
    const what = pack ? 'is damaged: what can be read of it is' : 'is gone';
    findings.push(
      lose('missing-pack', infos[0]?.id ?? chatId, `The pack with the words of ${those(infos)} ${what}.`),
    );
  }
  return { findings, ids };
}

function those(infos: readonly NodeInfo[]): string {
  return `messages "${infos[0]?.id ?? ''}" to "${infos.at(-1)?.id ?? ''}"`;
}

// --- Messages -------------------------------------------------------------------------------------------------------

/** What lies where no message is known, or another one: in the order of `seq`, with the message before it. */
async function findStrays(
  rows: Rows,
  chatId: string,
  infos: readonly NodeInfo[],
  wordless: ReadonlySet<NodeInfo>,
  nextSeq: number,
): Promise<Stray[]> {
  const strays: Stray[] = [];
  let before: NodeInfo | undefined;
  const look = async (from: number, to: number, info?: NodeInfo): Promise<void> => {
    for (const [seq, body] of await bodiesFrom(rows, chatId, from, to))
      strays.push({ seq, body, info, before });
  };
  for (const info of infos) {
    const next: number = (before?.seq ?? -1) + 1;
    // Mostly there is nothing between: to wait for that each time takes tenths of a second in one piece.
    if (next < info.seq) await look(next, info.seq - 1);
    if (wordless.has(info)) await look(info.seq, info.seq, info);
    before = info;
  }
  await look((before?.seq ?? -1) + 1, nextSeq - 1);
  return strays;
}

/** Bodies and their places. Halves are looked at as long as there is one in them: a damaged number may be far away. */
async function bodiesFrom(
  rows: Rows,
  chatId: string,
  from: number,
  to: number,
): Promise<[seq: number, body: UIMessage][]> {
  if (from > to) return [];
  if (from === to) {
    const body = await rows.get('bodies', [chatId, from]);
    return body ? [[from, body]] : [];
  }
  if ((await rows.list('bodies', between(chatId, from, to))).length === 0) return [];
  const middle = Math.floor((from + to) / 2);
  return [
    ...(await bodiesFrom(rows, chatId, from, middle)),
    ...(await bodiesFrom(rows, chatId, middle + 1, to)),
  ];
}

/** A body, the message whose place it lies in, if there is one, and the one before. */
interface Stray {
  readonly seq: number;
  readonly body: UIMessage;
  readonly info: NodeInfo | undefined;
  readonly before: NodeInfo | undefined;
}

/** Messages that nobody knows any more, from their words: as the one in whose place they are, or as those around. */
function rebuildLost(
  chatId: string,
  strays: readonly Stray[],
  known: ReadonlyMap<string, NodeInfo>,
): NodeInfo[] {
  const lost = new Map<string, NodeInfo>();
  let last: NodeInfo | undefined;
  for (const { seq, body, info, before } of strays) {
    const behind = last && last.seq > (before?.seq ?? -1) ? last : before;
    if (known.has(body.id) || lost.has(body.id)) continue;
    last = info ? { ...info, id: body.id } : rebuildInfo(chatId, seq, body, behind);
    lost.set(body.id, last);
  }
  return [...lost.values()];
}

/** Messages whose words are there, and not those that were written; and those that have none in their place. */
async function examineWords(
  rows: Rows,
  infos: readonly NodeInfo[],
): Promise<{
  readonly changed: Finding[];
  readonly altered: readonly NodeInfo[];
  readonly wordless: Set<NodeInfo>;
}> {
  const altered: NodeInfo[] = [];
  const wordless = new Set<NodeInfo>();
  for (let at = 0; at < infos.length; at += MANY) {
    const part = infos.slice(at, at + MANY);
    for (const [i, body] of (await bodiesOf(rows, part)).entries()) {
      const info = part[i] as NodeInfo;
      const { id, bodyHash } = info;
      if (body?.id !== id) wordless.add(info);
      else if (bodyHash !== undefined && !hasSum(JSON.stringify(body), bodyHash)) altered.push(info);
    }
  }
  const changed = altered.map(({ id }) =>
    lose('changed-body', id, `The words of message "${id}" are not those that were written.`),
  );
  return { changed, altered, wordless };
}

/** The hashes of files that the chat refers to and that are not there. One is in memory at a time. */
async function findFileless(rows: Rows, chatId: string): Promise<string[]> {
  const lost: string[] = [];
  for (const { hash } of await rows.list('uses', ofChat(chatId)))
    if (!(await rows.get('blobs', hash))) lost.push(hash);
  return lost;
}

/** What lies in the places of these messages. */
async function bodiesOf(rows: Rows, infos: readonly NodeInfo[]): Promise<(UIMessage | undefined)[]> {
  const [first, last] = [infos[0] as NodeInfo, infos.at(-1) as NodeInfo];
  const bodies = await rows.list('bodies', between(first.chatId, first.seq, last.seq));
  const isWhole = bodies.length === infos.length && infos.every(({ id }, i) => bodies[i]?.id === id);
  return isWhole ? bodies : Promise.all(infos.map(({ chatId, seq }) => rows.get('bodies', [chatId, seq])));
}

/** How many bodies are in memory at a time. */
const MANY = 512;

// --- Words for it ---------------------------------------------------------------------------------------------------

/** The ids of damaged records of one kind, or of the changes that tell of them: who writes a thing writes its change. */
function idsOf({ table, row }: Damage, kind: Change['kind']): string[] {
  const { id, kind: changed } = (row ?? {}) as { readonly id?: string; readonly kind?: string };
  const isKind = table === TABLE_OF[kind] || (table === 'changes' && changed === kind);
  return isKind && id !== undefined ? [id] : [];
}

const TABLE_OF: Readonly<Record<Change['kind'], Table>> = {
  chat: 'chats',
  node: 'nodes',
  branch: 'branches',
  checkpoint: 'checkpoints',
};

function told({ table, record, row }: Damage, chatId: string): Finding {
  const { id } = (row ?? record ?? {}) as { id?: unknown };
  const name = typeof id === 'string' ? id : chatId;
  const unread = record === undefined ? `The browser does not give out a record` : `A record can't be read`;
  const text = row
    ? `A record of "${name}" (${table}) is damaged: what can't be read of it is guessed.`
    : `${unread} (${table}).`;
  return damaged(name, text, row !== undefined && [...Object.values(TABLE_OF), 'changes'].includes(table));
}

function toldOfMoved({ id }: UIMessage): Finding {
  return damaged(id, `The words of message "${id}" lie in the place of others.`, true);
}

function toldOfLost({ id }: NodeInfo): Finding {
  return damaged(
    id,
    `The record of message "${id}" is lost: it follows the one that was written before it.`,
    true,
  );
}

function damaged(id: string, text: string, mends: boolean): Finding {
  return { kind: 'damaged-record', id, text, mends };
}

function lose(kind: FindingKind, id: string, text: string): Finding {
  return { kind, id, text, mends: false };
}

/** A record is met as often as it is read, and told of once. */
function onePerThing(findings: readonly Finding[]): Finding[] {
  return [
    ...new Map(
      findings.map((finding) => [`${finding.kind} ${finding.id} ${finding.text}`, finding]),
    ).values(),
  ];
}
