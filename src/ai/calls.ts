import type { UIMessage } from 'ai';
import type { ContextEngine } from '../engine/engine.ts';
import { busy, ContextError } from '../errors.ts';
import { sameJson } from '../graph/same.ts';
import { keepList } from './again.ts';
import { keyOf, put, withId } from './list.ts';
import { callsIn, isToolPart, isWaiting, type Part, type ToolPart } from './message.ts';
import type { BranchChat } from './branchChat.ts';
import { isAsking } from './host.ts';
import { keepMessage } from './turn.ts';

type Verb = 'addToolOutput' | 'addToolApprovalResponse';
type Result = Parameters<BranchChat['addToolOutput']>[0];
type Word = Parameters<BranchChat['addToolApprovalResponse']>[0];

/** What a page gives to a waiting tool call: the result, or an approval. */
interface Given {
  readonly isCall: (part: ToolPart) => boolean;
  readonly known: Readonly<Record<string, unknown>>;
}

/** Gives a tool result to the chat and the node that hold the call, on any branch. Rejects as `answerCall()` does. */
export function giveResult(chat: BranchChat, output: Result): Promise<void> {
  const { tool: _tool, toolCallId, options: _options, ...result } = output;
  const isCall = (part: ToolPart): boolean => part.toolCallId === toolCallId;
  const known = { state: 'output-available', ...result };
  return answerCall(chat, 'addToolOutput', output, { isCall, known });
}

/** Gives an approval, or a denial, to the chat and the node that hold the call. */
export function giveWord(chat: BranchChat, response: Word): Promise<void> {
  const { id, approved, reason } = response;
  const known = { state: 'approval-responded', approval: { id, approved, reason } };
  const isCall = ({ approval }: ToolPart): boolean => approval?.id === id;
  return answerCall(chat, 'addToolApprovalResponse', response, { isCall, known });
}

/**
 * Adds a result or an approval to the list and the node that hold the call; continues the answer if the app asks for it.
 *
 * @throws busy while another tab, or another chat, writes the answer: its next save would overwrite the result
 * @throws head-moved where another tab gave this very call something else
 */
async function answerCall(chat: BranchChat, verb: Verb, told: Result | Word, given: Given): Promise<void> {
  const { engine, host, list } = chat;
  const { isCall } = given;
  const whoAsks = (is: Given['isCall']): BranchChat | undefined =>
    [chat, ...host.all()].find((one) => asking(one.list.now, is));
  // Some models number their tool calls anew in each answer: prefer an answer in which the call still waits.
  const owner = whoAsks((part) => isCall(part) && isWaiting(part)) ?? whoAsks(isCall) ?? chat;
  if (owner !== chat) return owner[verb](told as never);
  // A server's answer may just be about to be taken up.
  await chat.opening?.catch(() => {});
  const listed = asking(list.now, isCall);
  // The call may be on another branch, or before the loaded messages.
  const found = listed ? { key: keyIn(chat, listed), message: listed } : await waitingCall(engine, isCall);
  if (!found) return;
  const { key, message: before } = found;
  const { turn } = chat;
  if (turn) turn.isMute = false;
  if (turn && turn.key === key) {
    // The AI SDK writes on in a copy of the growing answer, and knows how to add to it.
    if (turn.isOpen) await chat.own[verb](told as never);
    if (turn.isOpen) return turn.savePoint();
    await turn.settled;
  }
  if (key !== undefined && engine.status(key) === 'streaming') throw busy();
  // The last draft that was saved may be older than the call.
  const answer = (now: UIMessage): UIMessage => answered(callsIn(now).some(isCall) ? now : before, given);
  const shown = answer(before);
  teach(chat, before, shown);
  const goOn = async (): Promise<void> => {
    const isNext = listed && (await host.options.sendAutomaticallyWhen?.({ messages: list.now }));
    if (!isNext || isAsking(chat)) return;
    list.leaveRemote();
    // The request waits for the end of this function, as it does for all results that are being given.
    chat.own.sendMessage(undefined, told.options).catch(() => {});
  };
  await goOn();
  let kept = shown;
  try {
    if (key === undefined) await keepList(chat);
    else await keepMessage(engine, key, (now) => (kept = answer(now)), undefined);
    teach(chat, shown, kept);
  } catch (error) {
    teach(chat, shown, engine.message(key ?? '') ?? before);
    throw error;
  }
  // Another tab may have answered another call of the same message: only now may all calls be answered.
  if (!sameJson(kept, shown)) await goOn();
}

/** The message of a list that holds a tool call. */
function asking(list: readonly UIMessage[], isCall: (part: ToolPart) => boolean): UIMessage | undefined {
  return list.findLast((message) => callsIn(message).some(isCall));
}

/** The key of a message of the list; for the growing answer, the key of its turn. */
function keyIn({ engine, turn, branchId }: BranchChat, { id }: UIMessage): string | undefined {
  const isGrowing = turn?.id === id && turn.isOpen;
  return isGrowing ? turn.key : keyOf(engine, id, branchId);
}

/** The newest message, on any branch, in which a tool call waits for a result or an approval. */
async function waitingCall(
  engine: ContextEngine,
  isCall: (part: ToolPart) => boolean,
): Promise<{ readonly key: string; readonly message: UIMessage } | undefined> {
  const keys = engine.graph().nodes.flatMap(({ key, role }) => (role === 'assistant' ? key : []));
  const bodies = await engine.store.bodies(engine.chatId, keys);
  return keys
    .flatMap((key) => ({ key, message: bodies.get(key)?.message as UIMessage }))
    .findLast(({ message }) => message && callsIn(message).some((call) => isCall(call) && isWaiting(call)));
}

/** The message with the result or approval added to its tool call. The first one counts; the same one again changes nothing. */
function answered(message: UIMessage, { isCall, known }: Given): UIMessage {
  const isOpen = (part: Part): boolean => isToolPart(part) && isCall(part) && isWaiting(part);
  const parts = message.parts.map((part) => (isOpen(part) ? { ...part, ...known } : part));
  if (message.parts.some(isOpen)) return { ...message, parts };
  const call = callsIn(message).findLast(isCall) as (ToolPart & Record<string, unknown>) | undefined;
  if (!call || isSame(call, known)) return message;
  const text = 'This call of a tool was answered before, here or in another tab. That answer is kept.';
  throw new ContextError('head-moved', text, { details: { toolCallId: call.toolCallId } });
}

function isSame(call: Readonly<Record<string, unknown>>, known: Readonly<Record<string, unknown>>): boolean {
  if (known['approval']) return (call['approval'] as Word).approved === (known['approval'] as Word).approved;
  return sameJson([call['output'], call['errorText']], [known['output'], known['errorText']]);
}

/** Updates a message in every chat that shows it. */
function teach(chat: BranchChat, before: UIMessage, message: UIMessage): void {
  for (const { list } of [chat, ...chat.host.all()]) {
    // The message may be among those of another tab: look at the whole list.
    const known = withId(list.whole, message.id);
    if (withId(list.saved, message.id)) list.saved = put(list.saved, message);
    else if (known) list.remoteMessages = put(list.remoteMessages, message);
    list.renew([before, known ?? before], [message]);
  }
}
