import type { UIMessage } from 'ai';
import { compareAt, type ChatValue, type MessageRecord, isVisible, type GrowingOf } from './graph.ts';
import type { Way } from './branches.ts';
import { marksOfKind, subjectOf, type CheckpointValue } from './marks.ts';
import { reachableFrom } from './messages.ts';

/**
 * Is a chat whole?
 *
 * A chat that can be joined needs no cure: a missing record is no error, each reader cuts a ring at the same place, and later
 * records are joined. So the check tells what a person should know: what can't be read, what is shown elsewhere than it was
 * written, and messages that no branch reaches. A new branch mends the last of these.
 */
export function verify(chat: ChatValue, ways: readonly Way[], growingOf?: GrowingOf): Finding[] {
  const records = [...chat.messages.values()].toSorted(compareAt);
  return [
    ...records.flatMap((record) => placeFindings(chat, record)),
    ...unreachedEnds(chat, ways, growingOf).map(unreached),
    ...endFindings(chat),
    ...checkpointFindings(chat),
  ];
}

/** What is wrong, in kinds. */
type FindingKind =
  /** A record that is not as it was written, or is gone. */
  | 'damaged-record'
  /** A message whose words the disk has changed. */
  | 'changed-body'
  /** A message that two accounts of it put behind different ones. */
  | 'two-parents'
  /** A message whose parent is not there. */
  | 'orphan'
  /** Messages that follow each other in a ring. */
  | 'cycle'
  /** A branch that was seen to end in a message that is not there. */
  | 'dangling-head'
  /** A checkpoint at a message that is not there. */
  | 'dangling-checkpoint'
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
  /** The id of the message, branch record or checkpoint that it is about. */
  readonly id: string;
  /** The key of the message; absent for what is about no known message. */
  readonly key?: string;
  /** What is wrong, and what a reader or a repair makes of it, in words. */
  readonly text: string;
  /** Whether `repair()` mends it. What is lost it can only name. */
  readonly mends: boolean;
}

function placeFindings(chat: ChatValue, record: MessageRecord): Finding[] {
  const { key, parent } = record;
  const findings: Finding[] = [];
  if (chat.twoPlaces.has(key))
    findings.push(about(record, 'two-parents', 'was found in two places: it is shown in the older one.'));
  if (chat.cut.has(key))
    findings.push(about(record, 'cycle', 'follows itself: it is shown as a first message.'));
  else if (parent !== null && !chat.messages.has(parent))
    findings.push(
      about(record, 'orphan', `follows "${parent}", which is gone: it is shown as a first message.`),
    );
  return findings;
}

/** A finding about a message; `text` goes on behind its name. */
export function about({ id, key }: MessageRecord, kind: FindingKind, text: string, mends = false): Finding {
  return { kind, id, key, text: `Message "${id}" ${text}`, mends };
}

function unreached(record: MessageRecord): Finding {
  return about(record, 'unreached', 'is reached by no branch: a repair gives it one.', true);
}

/**
 * The last messages of conversations that no branch reaches, deleted ones included, in the order of `(at, key)`: a repair adds
 * an end at each of them.
 */
export function unreachedEnds(chat: ChatValue, ways: readonly Way[], growingOf?: GrowingOf): MessageRecord[] {
  const reached = reachableFrom(
    chat,
    ways.map(({ head }) => head),
  );
  const isLost = (key: string): boolean => {
    const record = chat.messages.get(key);
    return record !== undefined && !reached.has(key) && isVisible(record, growingOf);
  };
  const lost = [...chat.messages.values()].filter(({ key }) => isLost(key));
  return lost.filter(({ key }) => !(chat.children.get(key) ?? []).some(isLost)).toSorted(compareAt);
}

function endFindings({ ends, messages }: ChatValue): Finding[] {
  return [...ends.values()].flatMap(({ id, keys }) =>
    keys
      .filter((key) => !messages.has(key))
      .map((key): Finding => {
        const text = `Branch "${id}" was seen to end in a message that is gone ("${key}"): it ends before it.`;
        return { kind: 'dangling-head', id, text, mends: false };
      }),
  );
}

function checkpointFindings(chat: ChatValue): Finding[] {
  return marksOfKind(chat, 'checkpoint').flatMap((mark) => {
    const { name, key, isDeleted } = mark.value as CheckpointValue;
    if (isDeleted || chat.messages.has(key)) return [];
    const text = `Checkpoint "${name}" marks a message that is gone ("${key}"): it is not shown.`;
    return [{ kind: 'dangling-checkpoint', id: subjectOf(mark), text, mends: false }];
  });
}

/** What is wrong with the words of these messages; it can be told, and not mended. `bodies` are by key. */
export function verifyBodies(
  chat: ChatValue,
  records: readonly MessageRecord[],
  bodies: ReadonlyMap<string, UIMessage>,
): Finding[] {
  return records.flatMap((record) => {
    const body = bodies.get(record.key);
    const { parts, status } = record.versions.at(-1) ?? { parts: 0, status: 'complete' };
    const isFollowed = status !== 'streaming' && chat.children.has(record.key);
    const tools = isFollowed ? unanswered(body) : [];
    return [
      ...(parts > 0 && !body?.parts?.length ? [about(record, 'missing-body', 'has lost its words.')] : []),
      ...tools.map((tool) => about(record, 'tool-without-result', `called ${tool}, which never answered.`)),
    ];
  });
}

/** The names of the tools that a message called and that gave neither a result nor an error, and were not denied. */
function unanswered(body: UIMessage | undefined): string[] {
  return (body?.parts ?? []).flatMap((part) => {
    if (!('toolCallId' in part) || !isOpen(part)) return [];
    return [part.type === 'dynamic-tool' ? part.toolName : part.type.replace(/^tool-/, '')];
  });
}

/** Whether a call still waits for its result, or for a person's yes or no. */
function isOpen({ state, approval }: { readonly state?: string; readonly approval?: unknown }): boolean {
  const { approved } = Object(approval) as { readonly approved?: unknown };
  if (state === 'approval-responded') return approved === true;
  return /^(input-streaming|input-available|approval-requested)$/.test(state ?? '');
}
