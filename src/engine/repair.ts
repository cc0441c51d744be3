import { isContextError } from '../errors.ts';
import { createId } from '../fragment/id.ts';
import type { Chat } from '../graph/graph.ts';
import {
  examination,
  examineBodies,
  type Examination,
  type ExaminedRecords,
  type Finding,
} from '../graph/verify.ts';
import { hashIn } from '../store/blobs.ts';
import { type Rest, restNow } from '../store/rest.ts';
import type { ChatRecords, ContextStore, Salvage, OpNamed } from '../store/store.ts';

/** The one operation of a repair. */
type Mend = OpNamed<'mend'>;

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

/**
 * Examines a chat and hands what is to be written to `write`; again, if somebody wrote to the chat meanwhile. Without
 * `write`, nothing is written.
 */
export async function repairChat(
  store: ContextStore,
  chatId: string,
  write: ((mend: Mend) => Promise<void>) | undefined,
): Promise<Repair> {
  const rest = restNow();
  for (let attempt = 1; ; attempt += 1) {
    const saved = (await store.salvage?.(chatId)) ?? NOTHING;
    const records = withSaved(await store.load(chatId), saved);
    const examined = isThere(records) ? await examineInSteps(records, rest) : WHOLE;
    const { findings, ...changes } = alsoWrite(examined, records, saved);
    const isToWrite = write !== undefined && findings.some(({ mends }) => mends);
    const lost = await examineWords(store, records, saved, rest);
    try {
      // It is refused where the chat was written to since it was read.
      if (isToWrite)
        await write({ op: 'mend', seq: records.seq, bodies: saved.bodies, files: saved.files, ...changes });
      // What somebody deletes meanwhile is not lost.
      const isSure = lost.length === 0 || isToWrite || attempt === ATTEMPTS;
      if (isSure || !(await isWritten(store, chatId, records)))
        return summaryOf([...findings, ...lost], changes);
    } catch (error) {
      if (attempt === ATTEMPTS || !isContextError(error, 'head-moved')) throw error;
    }
  }
}

const ATTEMPTS = 5;

/** Whether a chat was written to, deleted or cleared since its records were read. */
async function isWritten(store: ContextStore, chatId: string, { seq }: ChatRecords): Promise<boolean> {
  const { chat, clearedSeq = 0 } = await store.load(chatId, seq);
  return chat !== undefined || clearedSeq > seq;
}

/** Examines records, and lets the page go on in between. */
async function examineInSteps(records: ExaminedRecords, rest: Rest): Promise<Examination> {
  const steps = examination(records, { now: Date.now(), createId });
  for (;;) {
    await rest();
    const step = steps.next();
    if (step.done) return step.value;
  }
}

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

const NOTHING: Salvage = { findings: [], nodes: [], bodies: [], pointers: [] };

/** The records with what was saved in the place of what was damaged. */
function withSaved(records: ChatRecords, { nodes, chat }: Salvage): ChatRecords {
  if (chat && !records.chat) return { ...records, chat, nodes };
  if (nodes.length === 0) return records;
  const saved = new Set<string | number>(nodes.flatMap(({ id, seq }) => [id, seq]));
  const others = records.nodes.filter(({ id, seq }) => !saved.has(id) && !saved.has(seq));
  return { ...records, nodes: [...others, ...nodes].toSorted((a, b) => a.seq - b.seq) };
}

/** What was damaged is written, even where an examination finds nothing wrong with what was saved. */
function alsoWrite(
  examined: Examination,
  records: ChatRecords,
  { findings, nodes, pointers }: Salvage,
): Examination {
  const damaged = new Set(pointers);
  const isDamaged = ({ id }: { readonly id: string }): boolean => damaged.has(id);
  return {
    ...examined,
    findings: [...findings, ...examined.findings],
    nodes: oncePerId([...nodes, ...examined.nodes]),
    branches: oncePerId([...records.branches.filter(isDamaged), ...examined.branches]),
    checkpoints: oncePerId([...records.checkpoints.filter(isDamaged), ...examined.checkpoints]),
    chat: examined.chat ?? (findings.some(({ mends }) => mends) ? records.chat : undefined),
  };
}

/** Of several versions of a thing the last one. */
function oncePerId<T extends { readonly id: string }>(things: readonly T[]): T[] {
  return [...new Map(things.map((thing) => [thing.id, thing])).values()];
}

/** Sealed blocks of 128 are read whole: a multiple of them. About a megabyte. */
const MANY = 1024;

/** Looks at all bodies, some at a time: a long chat and its files need not be in memory at once. */
async function examineWords(
  store: ContextStore,
  { chat, nodes }: ChatRecords,
  saved: Salvage,
  rest: Rest,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  // Those that are lost are found only where a repair will put them, or without the words that it will bring.
  const isSaved = new Set(saved.nodes.map(({ id }) => id));
  const isWorded = new Set(saved.bodies.map(({ id }) => id));
  const followed = new Set(nodes.map(({ parentId }) => parentId));
  for (let at = 0; at < nodes.length; at += MANY) {
    const block = nodes.slice(at, at + MANY);
    await rest();
    const read = await store.getNodes(
      chat?.id ?? '',
      block.map(({ id }) => id),
      block.map(({ seq }) => seq),
    );
    const bodies = new Map(read.map(({ id, data }) => [id, data]));
    const there = block.filter(({ id }) => {
      const body = bodies.get(id);
      return body ? body.parts.length > 0 || !isWorded.has(id) : !isSaved.has(id);
    });
    const isBack = (url: string): boolean => saved.files?.has(hashIn(url)) ?? false;
    findings.push(...examineBodies(there, bodies, followed, isBack));
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
