import type { UIMessage } from 'ai';
import {
  childrenOf,
  compareAt,
  eachRecord,
  idOf,
  isCut,
  isVisible,
  type ChatValue,
  type GrowingOf,
  type LinkedMessage,
  type MessageRecord,
} from './graph.ts';
import type { Way } from './branches.ts';
import { marksOfKind, subjectOf, type CheckpointValue } from './marks.ts';
import { reachableFrom } from './messages.ts';

/**
 * Checking a chat.
 *
 * A chat that can be joined needs no repair to be read: a missing record is no error, each reader cuts a ring at the same
 * place, and late records are joined. So the check reports what a person should know: what can't be read, what is shown at
 * another place than it was written, and messages that no branch reaches. A new branch mends the last of these.
 */
export function verify(chat: ChatValue, ways: readonly Way[], growingOf?: GrowingOf): Finding[] {
  const records = [...eachRecord(chat)].toSorted(compareAt);
  return [
    ...records.flatMap((record) => placeFindings(chat, record)),
    ...unreachedEnds(chat, ways, growingOf).map((record) =>
      about(record, 'unreached', 'is reached by no branch: a repair gives it one.', true),
    ),
    ...endFindings(chat),
    ...checkpointFindings(chat),
  ];
}

type FindingKind =
  | 'damaged-record'
  | 'changed-body'
  | 'two-parents'
  | 'orphan'
  | 'cycle'
  | 'dangling-head'
  | 'dangling-checkpoint'
  | 'unreached'
  | 'missing-body'
  | 'missing-file'
  | 'tool-without-result';

/** One thing that is wrong. */
export interface Finding {
  readonly kind: FindingKind;
  /** The id of its message, branch record or checkpoint. */
  readonly id: string;
  /** The key of the message; absent for other subjects. */
  readonly key?: string;
  /** What is wrong, and how readers or a repair deal with it, for people. */
  readonly text: string;
  /** Whether `repair()` mends it. Lost content is only named. */
  readonly mends: boolean;
}

function placeFindings(chat: ChatValue, record: MessageRecord): Finding[] {
  const { key, parent } = record;
  const found = (isThere: boolean, kind: FindingKind, text: string): Finding[] =>
    isThere ? [about(record, kind, text)] : [];
  const isOrphan = parent !== null && !chat.messages.has(parent);
  return [
    ...found(
      chat.twoPlaces.has(key),
      'two-parents',
      'was found in two places: it is shown in the older one.',
    ),
    ...found(isCut(chat, record), 'cycle', 'follows itself: it is shown as a first message.'),
    ...found(isOrphan, 'orphan', `follows "${parent}", which is gone: it is shown as a first message.`),
  ];
}

/** A finding about a message; `text` continues behind its name. */
export function about(record: MessageRecord, kind: FindingKind, text: string, mends = false): Finding {
  const id = idOf(record);
  return { kind, id, key: record.key, text: `Message "${id}" ${text}`, mends };
}

/** The last messages that no branch reaches, deleted ones included, in the order of `(at, key)`: a repair adds an end at each. */
export function unreachedEnds(chat: ChatValue, ways: readonly Way[], growingOf?: GrowingOf): MessageRecord[] {
  const heads = ways.map(({ head }) => head);
  const reached = reachableFrom(chat, heads);
  const isLost = ({ record }: LinkedMessage): boolean =>
    !reached.has(record.key) && isVisible(record, growingOf);
  const lost = [...chat.messages.values()].filter((one) => isLost(one) && !one.children.some(isLost));
  return lost.map(({ record }) => record).toSorted(compareAt);
}

function endFindings({ ends, messages }: ChatValue): Finding[] {
  return [...ends.values()].flatMap(({ id, keys }) => {
    const gone = keys.filter((key) => !messages.has(key));
    return gone.map((key): Finding => {
      const text = `Branch "${id}" was seen to end in a message that is gone ("${key}"): it ends before it.`;
      return { kind: 'dangling-head', id, text, mends: false };
    });
  });
}

function checkpointFindings(chat: ChatValue): Finding[] {
  return marksOfKind(chat, 'checkpoint').flatMap((mark) => {
    const { name, key, isDeleted } = mark.value as CheckpointValue;
    if (isDeleted || chat.messages.has(key)) return [];
    const text = `Checkpoint "${name}" marks a message that is gone ("${key}"): it is not shown.`;
    return [{ kind: 'dangling-checkpoint', id: subjectOf(mark), text, mends: false }];
  });
}

/** Findings in the bodies of these messages, which no repair can mend. `bodies` are by key. */
export function verifyBodies(
  chat: ChatValue,
  records: readonly MessageRecord[],
  bodies: ReadonlyMap<string, UIMessage>,
): Finding[] {
  return records.flatMap((record) => {
    const body = bodies.get(record.key);
    const { parts, status } = record.versions.at(-1) ?? { parts: 0, status: 'complete' };
    const isFollowed = status !== 'streaming' && childrenOf(chat, record.key).length > 0;
    const tools = isFollowed ? unanswered(body) : [];
    return [
      ...(parts > 0 && !body?.parts?.length ? [about(record, 'missing-body', 'has lost its words.')] : []),
      ...tools.map((tool) => about(record, 'tool-without-result', `called ${tool}, which never answered.`)),
    ];
  });
}

/** The names of a message's tools that were called and have neither a result nor an error, and were not denied. */
function unanswered(body: UIMessage | undefined): string[] {
  return (body?.parts ?? []).flatMap((part) => {
    if (!('toolCallId' in part)) return [];
    const { state, approval } = part as {
      readonly state?: string;
      readonly approval?: { approved?: unknown };
    };
    const isApproved = state === 'approval-responded' && approval?.approved === true;
    const isOpen = /^(input-streaming|input-available|approval-requested)$/.test(state ?? '');
    if (!isApproved && !isOpen) return [];
    return [part.type === 'dynamic-tool' ? part.toolName : part.type.replace(/^tool-/, '')];
  });
}
