import type { UIMessage } from 'ai';
import type { Branch, Chat, Checkpoint, MessageGraph, NodeInfo } from './graph.ts';
import { createGraph, freeNames, isVisible, putNode, reachable } from './graph.ts';

/**
 * Is a chat whole, and if not, what would make it so?
 *
 * The rules of a store let no broken chat arise, but disks lose blocks, people edit databases, and programs have
 * faults. What is broken in one place must not cost the conversation: all that can still be read has to stay in reach.
 * So the check and the cure are one walk. It takes the records in the order in which they depend on each other
 * (messages, their parents, their depths, then what points at them), mends each on the way, and says what it mended.
 * What comes out is a chat without findings; where it differs from what went in is the repair.
 *
 * The cure throws no words away. A message whose parent is gone becomes a first message. A ring is cut at its oldest
 * message. What no branch reaches gets a branch, because nobody would find it otherwise. A branch that ends nowhere
 * ends at the newest message that is left without one, and a checkpoint that marks nothing goes: it held no words.
 *
 * Some losses can only be told: a body that is gone, a tool that never answered.
 *
 * It goes in steps: of 140,000 messages, each takes a tenth of a second, and a page wants to go on between them.
 */
export function* examination(
  records: ExaminedRecords,
  { now, createId }: ExamineOptions,
): Generator<void, Examination, void> {
  const findings: Finding[] = [];
  const kept = oncePerId(records.nodes, findings);
  yield;
  const graph = createGraph(kept);
  yield;
  mendOrphans(graph, kept, findings);
  tellRings(graph, kept, findings);
  yield;
  mendDepths(graph, findings);
  yield;
  const nodes = kept.map(({ id }) => graph.nodes.get(id) as NodeInfo);
  const branches = mendBranches(graph, records.branches, { now, createId }, findings);
  yield;
  const checkpoints = records.checkpoints.map((one) => mendCheckpoint(graph, one, now, findings));
  const chat = mendChat(withCheckpoints(records, findings), nodes, branches, findings);
  return {
    findings,
    chat: chat === records.chat ? undefined : chat,
    nodes: without(nodes, records.nodes),
    dropped: without(records.nodes, kept),
    branches: without(branches, records.branches),
    checkpoints: without(checkpoints, records.checkpoints),
  };
}

/** What is wrong, in kinds. */
export type FindingKind =
  /** A record that is not as it was written, or is gone. */
  | 'damaged-record'
  /** The words of a block of sealed messages, gone or in part unreadable. */
  | 'missing-pack'
  /** A message whose words the disk has changed. */
  | 'changed-body'
  /** Two records of one message: the one with the higher revision counts. */
  | 'duplicate-id'
  /** A message whose parent is not there. */
  | 'orphan'
  /** Messages that follow each other in a ring. */
  | 'cycle'
  /** A message, a branch or the chat that counts messages wrongly. */
  | 'wrong-count'
  /** A branch that ends in a message that is not there. */
  | 'dangling-head'
  /** A checkpoint at a message that is not there. */
  | 'dangling-checkpoint'
  /** Two branches of one name. */
  | 'duplicate-name'
  /** The chat opens on a branch that is not there, or has none that is not deleted. */
  | 'lost-branch'
  /** Messages that no branch reaches. */
  | 'unreached'
  /** A message whose words are gone, or can't be read. */
  | 'missing-body'
  /** A file of a message whose bytes are gone. */
  | 'missing-file'
  /** A tool that was called and never answered, in an answer that something follows. */
  | 'tool-without-result';

/** One thing that is wrong. */
export interface Finding {
  readonly kind: FindingKind;
  /** The message, branch or checkpoint that it is about. */
  readonly id: string;
  /** What is wrong and what a repair does about it, in words. */
  readonly text: string;
  /** Whether `repair()` mends it. What is lost it can only name. */
  readonly mends: boolean;
}

/** The records of one chat, as they are found; deleted branches and checkpoints are among them. */
export interface ExaminedRecords {
  readonly chat: Chat;
  readonly nodes: readonly NodeInfo[];
  readonly branches: readonly Branch[];
  readonly checkpoints: readonly Checkpoint[];
}

/** What new branches are made with. */
export interface ExamineOptions {
  /** Milliseconds since epoch. */
  readonly now: number;
  readonly createId: () => string;
}

/** What is wrong, and the records that a repair writes. */
export interface Examination {
  /** In the order in which they were met: messages, branches, checkpoints. */
  readonly findings: readonly Finding[];
  /** The chat's row, if it changes. */
  readonly chat: Chat | undefined;
  /** Messages with another parent or depth. */
  readonly nodes: readonly NodeInfo[];
  /** Records that go, because another one of the same message counts. */
  readonly dropped: readonly NodeInfo[];
  /** Changed and new branches. */
  readonly branches: readonly Branch[];
  readonly checkpoints: readonly Checkpoint[];
}

/** Things that are not among others; mostly they are the same. */
function without<T>(things: readonly T[], known: readonly T[]): T[] {
  if (things.every((thing, i) => thing === known[i])) return [];
  const before = new Set(known);
  return things.filter((thing) => !before.has(thing));
}

// --- Messages -------------------------------------------------------------------------------------------------------

function oncePerId(nodes: readonly NodeInfo[], findings: Finding[]): NodeInfo[] {
  const best = new Map<string, NodeInfo>();
  for (const node of nodes) {
    const other = best.get(node.id);
    if (other)
      tell(findings, 'duplicate-id', node.id, `Message "${node.id}" is there twice: the newer one counts.`);
    if (!other || node.rev >= other.rev) best.set(node.id, node);
  }
  return [...best.values()].toSorted((a, b) => a.seq - b.seq);
}

function mendOrphans(graph: MessageGraph, nodes: readonly NodeInfo[], findings: Finding[]): void {
  for (const node of nodes) {
    if (node.parentId === null || graph.nodes.has(node.parentId)) continue;
    const text = `The message before "${node.id}" is gone ("${node.parentId}"): it becomes a first message.`;
    tell(findings, 'orphan', node.id, text);
    putNode(graph, { ...node, parentId: null });
  }
}

/** A graph takes no rings: where a message lost a parent that is there on the way in, it was the oldest of one. */
function tellRings({ nodes: mended }: MessageGraph, nodes: readonly NodeInfo[], findings: Finding[]): void {
  for (const { id, parentId } of nodes)
    if (parentId !== null && mended.get(id)?.parentId === null && mended.has(parentId))
      tell(findings, 'cycle', id, `Message "${id}" comes after itself: it becomes a first message.`);
}

/** Depths follow from the parents. One that is off only because a message before it was, is no finding of its own. */
function mendDepths(graph: MessageGraph, findings: Finding[]): void {
  const { children, nodes } = graph;
  const rerooted = new Set(findings.map(({ kind, id }) => (kind === 'duplicate-id' ? undefined : id)));
  const mended = new Map<string | null, NodeInfo>();
  const ids = [...(children.get(null) ?? [])];
  for (const id of ids) {
    const node = nodes.get(id) as NodeInfo;
    const parent = node.parentId === null ? undefined : nodes.get(node.parentId);
    const depth = ((mended.get(node.parentId) ?? parent)?.depth ?? 0) + 1;
    for (const child of children.get(id) ?? []) ids.push(child);
    if (depth !== node.depth) mended.set(id, { ...node, depth });
    if (node.depth === (parent?.depth ?? 0) + 1 || rerooted.has(id)) continue;
    tell(findings, 'wrong-count', id, `Message "${id}" is number ${depth} of its chain, not ${node.depth}.`);
  }
  for (const node of mended.values()) putNode(graph, node);
}

// --- What points at them --------------------------------------------------------------------------------------------

function mendBranches(
  graph: MessageGraph,
  branches: readonly Branch[],
  options: ExamineOptions,
  findings: Finding[],
): Branch[] {
  const isThere = ({ headMessageId }: Branch): boolean =>
    headMessageId === null || graph.nodes.has(headMessageId);
  const reached = reachable(
    graph,
    branches.filter(isThere).map((branch) => branch.headMessageId),
  );
  const ends = lostEnds(graph, reached);
  const whole = branches.map((branch) =>
    isThere(branch) ? branch : lead(branch, ends.pop() ?? null, findings),
  );
  const named = withOwnNames(whole, findings);
  const led = new Set(findings.filter(({ kind }) => kind === 'dangling-head').map(({ id }) => id));
  const counted = named.map((branch) => withCount(graph, branch, led, findings));
  const added = branchesFor(graph, ends, counted, options, findings);
  return withLiveOne([...counted, ...added], findings);
}

/** The last branch can't be deleted. Where all are, the one used last comes back. */
function withLiveOne(branches: readonly Branch[], findings: Finding[]): Branch[] {
  const [last] = branches.toSorted((a, b) => b.usedSeq - a.usedSeq);
  if (!last || branches.some(({ deletedAt }) => deletedAt === undefined)) return [...branches];
  tell(findings, 'lost-branch', last.id, `Every branch is deleted: "${last.name}" comes back.`);
  const { deletedAt: _deleted, ...live } = last;
  return branches.map((branch) => (branch === last ? live : branch));
}

/** The last messages of conversations that no branch reaches, oldest first. */
function lostEnds(graph: MessageGraph, reached: ReadonlySet<string>): string[] {
  return [...graph.nodes.values()]
    .filter((node) => !reached.has(node.id) && isVisible(node))
    .filter(
      ({ id }) =>
        !(graph.children.get(id) ?? []).some((child) => isVisible(graph.nodes.get(child) as NodeInfo)),
    )
    .toSorted((a, b) => a.seq - b.seq)
    .map(({ id }) => id);
}

function lead(branch: Branch, end: string | null, findings: Finding[]): Branch {
  const there = end === null ? 'it becomes empty' : `it leads to "${end}"`;
  const text = `Branch "${branch.name}" ends in a message that is gone ("${branch.headMessageId}"): ${there}.`;
  tell(findings, 'dangling-head', branch.id, text);
  return { ...branch, headMessageId: end };
}

/** Of live branches with one name, the first keeps it. */
function withOwnNames(branches: readonly Branch[], findings: Finding[]): Branch[] {
  const taken = new Set<string>();
  const freeName = freeNames(new Set(branches.map(({ name }) => name)));
  return branches.map((branch) => {
    if (branch.deletedAt !== undefined) return branch;
    const name = taken.has(branch.name) ? freeName(branch.name) : branch.name;
    taken.add(name);
    if (name === branch.name) return branch;
    tell(
      findings,
      'duplicate-name',
      branch.id,
      `Two branches are named "${branch.name}": one becomes "${name}".`,
    );
    return { ...branch, name };
  });
}

/** `led` are the ids of branches that lead to another message now: another count is no finding of its own. */
function withCount(
  graph: MessageGraph,
  branch: Branch,
  led: ReadonlySet<string>,
  findings: Finding[],
): Branch {
  const messageCount = graph.nodes.get(branch.headMessageId ?? '')?.depth ?? 0;
  if (messageCount === branch.messageCount) return branch;
  const text = `Branch "${branch.name}" counts ${branch.messageCount} messages; it has ${messageCount}.`;
  if (!led.has(branch.id)) tell(findings, 'wrong-count', branch.id, text);
  return { ...branch, messageCount };
}

/** A branch for each conversation that none reaches; a chat without any branch gets `main`. */
function branchesFor(
  graph: MessageGraph,
  ends: readonly string[],
  branches: readonly Branch[],
  { now, createId }: ExamineOptions,
  findings: Finding[],
): Branch[] {
  const names = new Set(branches.filter(({ deletedAt }) => deletedAt === undefined).map(({ name }) => name));
  const freeName = freeNames(names);
  return ends.map((end) => {
    const name = names.has('main') ? freeName('main') : 'main';
    names.add(name);
    tell(findings, 'unreached', end, `No branch reaches message "${end}": "${name}" will.`);
    const { chatId, depth, deviceId } = graph.nodes.get(end) as NodeInfo;
    const times = { createdAt: now, updatedAt: now, usedSeq: 0 };
    return {
      id: createId(),
      chatId,
      name,
      headMessageId: end,
      messageCount: depth,
      ...times,
      rev: 0,
      deviceId,
    };
  });
}

function mendCheckpoint(
  graph: MessageGraph,
  checkpoint: Checkpoint,
  now: number,
  findings: Finding[],
): Checkpoint {
  if (checkpoint.deletedAt !== undefined || graph.nodes.has(checkpoint.messageId)) return checkpoint;
  const text = `Checkpoint "${checkpoint.name}" marks a message that is gone ("${checkpoint.messageId}"): it goes too.`;
  tell(findings, 'dangling-checkpoint', checkpoint.id, text);
  return { ...checkpoint, deletedAt: now };
}

/** Of a checkpoint that is lost, nothing is left to tell of it but that there was one more. */
function withCheckpoints({ chat, checkpoints }: ExaminedRecords, findings: Finding[]): Chat {
  const lost = (chat.checkpointCount ?? 0) - checkpoints.length;
  if (lost <= 0) return chat;
  const what = lost === 1 ? 'A checkpoint is' : `${lost} checkpoints are`;
  tell(findings, 'damaged-record', chat.id, `${what} lost: the chat counts those that are left.`);
  return { ...chat, checkpointCount: checkpoints.length };
}

/** The row of the chat: how many messages it has, where the next one goes, and the branch that it opens on. */
function mendChat(
  chat: Chat,
  nodes: readonly NodeInfo[],
  branches: readonly Branch[],
  findings: Finding[],
): Chat {
  const live = branches.filter(({ deletedAt }) => deletedAt === undefined);
  // A growing answer counts from its first stored word, which may come after its first drafted one.
  const shown = nodes.filter(isVisible);
  const settled = shown.filter(({ status }) => status !== 'streaming');
  const messageCount = Math.min(Math.max(chat.messageCount, settled.length), shown.length);
  const nextSeq = Math.max(chat.nextSeq, (nodes.at(-1)?.seq ?? -1) + 1);
  const activeBranchId = live.some(({ id }) => id === chat.activeBranchId)
    ? chat.activeBranchId
    : (live[0]?.id ?? chat.activeBranchId);
  if (messageCount !== chat.messageCount || nextSeq !== chat.nextSeq)
    tell(
      findings,
      'wrong-count',
      chat.id,
      `The chat counts ${chat.messageCount} messages; it has ${messageCount}.`,
    );
  if (activeBranchId !== chat.activeBranchId)
    tell(
      findings,
      'lost-branch',
      chat.id,
      `The chat opens on a branch that is gone: it will open on another one.`,
    );
  const isWhole =
    messageCount === chat.messageCount && nextSeq === chat.nextSeq && activeBranchId === chat.activeBranchId;
  return isWhole ? chat : { ...chat, messageCount, nextSeq, activeBranchId };
}

// --- Words ----------------------------------------------------------------------------------------------------------

/**
 * What is wrong with the words of these messages: it can be told, and not mended. `followed` are the ids that some
 * message comes after, `isBack` tells of files that a repair brings back.
 */
export function examineBodies(
  infos: readonly NodeInfo[],
  bodies: ReadonlyMap<string, UIMessage>,
  followed: ReadonlySet<string | null>,
  isBack: (url: string) => boolean = () => false,
): Finding[] {
  const findings: Finding[] = [];
  for (const { id, parts, status } of infos) {
    const body = bodies.get(id);
    if (parts > 0 && !body?.parts?.length)
      lose(findings, 'missing-body', id, `The words of message "${id}" are gone.`);
    for (const text of filesGone(body, isBack))
      lose(findings, 'missing-file', id, `Message "${id}": ${text}`);
    if (status === 'streaming' || !followed.has(id)) continue;
    for (const tool of unanswered(body))
      lose(findings, 'tool-without-result', id, `Message "${id}" called ${tool}, which never answered.`);
  }
  return findings;
}

/** The names of the tools that a message called and that gave neither a result nor an error, and were not denied. */
function unanswered(body: UIMessage | undefined): string[] {
  return (body?.parts ?? []).flatMap((part) => {
    if (!('toolCallId' in part) || !isOpen(part)) return [];
    return [part.type === 'dynamic-tool' ? part.toolName : part.type.replace(/^tool-/, '')];
  });
}

/** Whether a tool that was called has still to answer; one that asks first, also where nobody said yes or no. */
function isOpen({ state, approval }: { readonly state?: string; readonly approval?: unknown }): boolean {
  const { approved } = Object(approval) as { readonly approved?: unknown };
  if (state === 'approval-responded') return approved === true;
  return /^(input-streaming|input-available|approval-requested)$/.test(state ?? '');
}

/** What stands in a message in the place of files whose bytes are gone. */
function filesGone(body: UIMessage | undefined, isBack: (url: string) => boolean): string[] {
  return (body?.parts ?? []).flatMap((part) => {
    if (part.type !== 'text' || !('gone' in part)) return [];
    const { url } = Object(part.gone) as { readonly url?: unknown };
    return typeof url === 'string' && isBack(url) ? [] : [part.text];
  });
}

function tell(findings: Finding[], kind: FindingKind, id: string, text: string): void {
  findings.push({ kind, id, text, mends: true });
}

function lose(findings: Finding[], kind: FindingKind, id: string, text: string): void {
  findings.push({ kind, id, text, mends: false });
}
