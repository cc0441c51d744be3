import { isContextError } from '../errors.ts';
import { createId } from '../fragment/id.ts';
import type { Chat } from '../graph/graph.ts';
import { examine, examineBodies, type Examination, type Finding } from '../graph/verify.ts';
import type { ChatRecords, ContextStore, StoreOp } from '../store/store.ts';

/** The one operation of a repair. */
type Mend = Extract<StoreOp, { readonly op: 'mend' }>;

// Examining a chat where it lies, not as an engine remembers it. Loaded when first asked for.

/** What a repair did, or would do. */
export interface Repair {
  /** What is wrong; those with `mends` are mended by it. Empty for a whole chat. */
  readonly findings: readonly Finding[];
  /** Ids of messages that get another place, of branches that change or are new, and of checkpoints that go. */
  readonly messages: readonly string[];
  readonly branches: readonly string[];
  readonly checkpoints: readonly string[];
}

/** Examines a chat and hands what is to be written to `write`; again, if somebody wrote to the chat meanwhile. */
export async function repairChat(
  store: ContextStore,
  chatId: string,
  write: (mend: Mend) => Promise<void>,
): Promise<Repair> {
  for (let attempt = 1; ; attempt += 1) {
    const records = await store.load(chatId);
    const { findings, ...rest } = isThere(records) ? examine(records, { now: Date.now(), createId }) : WHOLE;
    try {
      if (findings.length > 0) await write({ op: 'mend', seq: records.seq, ...rest });
      return summaryOf([...findings, ...(await examineWords(store, records))], rest);
    } catch (error) {
      if (attempt === ATTEMPTS || !isContextError(error, 'head-moved')) throw error;
    }
  }
}

const ATTEMPTS = 5;

/** What there is to say of a chat that is not there. */
const WHOLE: Examination = {
  findings: [],
  chat: undefined,
  nodes: [],
  dropped: [],
  branches: [],
  checkpoints: [],
};

function isThere(records: ChatRecords): records is ChatRecords & { readonly chat: Chat } {
  return records.chat !== undefined && records.chat.deletedAt === undefined;
}

const BLOCK = 100;

/** Looks at all bodies, some at a time: a long chat and its files need not be in memory at once. */
async function examineWords(store: ContextStore, { chat, nodes }: ChatRecords): Promise<Finding[]> {
  const findings: Finding[] = [];
  const followed = new Set(nodes.map(({ parentId }) => parentId));
  for (let at = 0; at < nodes.length; at += BLOCK) {
    const block = nodes.slice(at, at + BLOCK);
    const read = await store.getNodes(
      chat?.id ?? '',
      block.map(({ id }) => id),
    );
    const bodies = new Map(read.map(({ id, data }) => [id, data]));
    findings.push(...examineBodies(block, bodies, followed));
  }
  return findings;
}

function summaryOf(
  findings: readonly Finding[],
  { nodes, branches, checkpoints }: Pick<Examination, 'nodes' | 'branches' | 'checkpoints'>,
): Repair {
  return { findings, messages: idsOf(nodes), branches: idsOf(branches), checkpoints: idsOf(checkpoints) };
}

function idsOf(things: readonly { readonly id: string }[]): string[] {
  return things.map(({ id }) => id);
}
