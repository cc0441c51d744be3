import type { UIMessage } from 'ai';
import type { Branch, Chat, MessageNode, NodeInfo } from '../graph/graph.ts';
import { isVisible, previewOf } from '../graph/graph.ts';
import { ofChat, type Table } from './layout.ts';
import type { Rows } from './rows.ts';
import { hasSum } from './sum.ts';

/**
 * What can be told of a record that is gone, from those around it.
 *
 * A body knows its id and who spoke, and where it lies tells when. What it followed is not in it; but nearly every
 * message follows the one written before it, so that is the guess. It puts answers to one question behind each other
 * where it is wrong, and loses no word.
 */
export function rebuildInfos(
  chatId: string,
  first: number,
  bodies: readonly (UIMessage | null)[],
  before: NodeInfo | undefined,
): NodeInfo[] {
  const infos: NodeInfo[] = [];
  for (const [i, body] of bodies.entries())
    if (body) infos.push(rebuildInfo(chatId, first + i, body, infos.at(-1) ?? before));
  return infos;
}

/** The topology of a message that was said behind another one. */
export function rebuildInfo(
  chatId: string,
  seq: number,
  body: UIMessage,
  before: NodeInfo | undefined,
): NodeInfo {
  return {
    id: body.id,
    chatId,
    parentId: before?.id ?? null,
    name: body.role,
    type: 'message',
    createdAt: before?.createdAt ?? 0,
    status: 'complete',
    seq,
    depth: (before?.depth ?? 0) + 1,
    rev: 1,
    deviceId: before?.deviceId ?? '',
    v: 1,
    preview: previewOf(body),
    parts: body.parts.length,
  };
}

/** What was written down of a chat elsewhere. */
export interface Kept {
  readonly messages: KeptMessages;
  /** Bytes of files, by their hash. */
  readonly files: ReadonlyMap<string, Uint8Array>;
}

export const NOTHING_KEPT: Kept = { messages: new Map(), files: new Map() };

/** Messages by id, in every version. */
export type KeptMessages = ReadonlyMap<string, readonly MessageNode[]>;

/** The words of a message that is there without them, where those that its record tells of were written down elsewhere. */
export function keptWords({ id, rev, bodyHash }: NodeInfo, kept: KeptMessages): UIMessage | undefined {
  const isIt = (node: MessageNode): boolean =>
    bodyHash === undefined ? node.rev === rev : hasSum(JSON.stringify(node.data), bodyHash);
  return kept.get(id)?.find(isIt)?.data;
}

/** The tables that a chat is told from. */
export const TRACES: readonly Table[] = ['chats', 'branches', 'nodes'];

/**
 * The row of a chat, deleted or not. Where it is lost but for its messages and branches, it is told from them: nobody's
 * (`userId` is empty) until someone writes to it. Undefined where there is nothing.
 */
export async function readChat(rows: Rows, chatId: string): Promise<Chat | undefined> {
  return (await rows.get('chats', chatId)) ?? rebuildChat(rows, chatId);
}

async function rebuildChat(rows: Rows, id: string): Promise<Chat | undefined> {
  const [branches, nodes] = await Promise.all([
    rows.list('branches', ofChat(id)),
    rows.list('nodes', ofChat(id)),
  ]);
  return branches.length + nodes.length === 0 ? undefined : chatOf(id, branches, nodes);
}

/** The row of a chat as these tell it, of which there is one at least. */
export function chatOf(id: string, branches: readonly Branch[], nodes: readonly NodeInfo[]): Chat {
  const times = [...branches, ...nodes].map(({ createdAt }) => createdAt);
  return {
    id,
    userId: '',
    createdAt: times.reduce((a, b) => Math.min(a, b)),
    updatedAt: times.reduce((a, b) => Math.max(a, b)),
    activeBranchId: lastUsed(branches)?.id ?? '',
    rev: 1,
    messageCount: nodes.filter(isVisible).length,
    nextSeq: (nodes.at(-1)?.seq ?? -1) + 1,
    epoch: 0,
  };
}

function lastUsed(branches: readonly Branch[]): Branch | undefined {
  return branches
    .filter((branch) => branch.deletedAt === undefined)
    .toSorted((a, b) => b.usedSeq - a.usedSeq)[0];
}
