import type { UIMessage } from 'ai';
import type { ContextEngine } from '../engine/engine.ts';
import { sameJson } from '../engine/same.ts';
import { ContextError } from '../errors.ts';
import { keepList } from './begin.ts';
import { keyOf, put, sameMessage, withId } from './list.ts';
import { callsIn, isToolPart, isWaiting, type Part, type ToolPart } from './message.ts';
import { busy, copyIn, isAsking, type OurChat } from './ourChat.ts';
import { keepMessage } from './turn.ts';

type Verb = 'addToolOutput' | 'addToolApprovalResponse';
type Result<M extends UIMessage> = Parameters<OurChat<M>['addToolOutput']>[0];
type Word<M extends UIMessage> = Parameters<OurChat<M>['addToolApprovalResponse']>[0];

/** What a page gives to a waiting tool call: the result, or an approval. */
interface Given {
  readonly isCall: (part: ToolPart) => boolean;
  readonly known: Readonly<Record<string, unknown>>;
}

/** Gives a tool result to the chat and the node that hold the call, on any branch. Rejects as `answerCall()` does. */
export function giveResult<M extends UIMessage>(chat: OurChat<M>, output: Result<M>): Promise<void> {
  const { tool: _tool, toolCallId, options: _options, ...result } = output;
  const isCall = (part: ToolPart): boolean => part.toolCallId === toolCallId;
  return answerCall(chat, 'addToolOutput', output, {
    isCall,
    known: { state: 'output-available', ...result },
  });
}

/** Gives an approval, or a denial, to the chat and the node that hold the call. */
export function giveWord<M extends UIMessage>(chat: OurChat<M>, response: Word<M>): Promise<void> {
  const { id, approved, reason } = response;
  const known = { state: 'approval-responded', approval: { id, approved, reason } };
  const isCall = ({ approval }: ToolPart): boolean => approval?.id === id;
  return answerCall(chat, 'addToolApprovalResponse', response, { isCall, known });
}

/**
 * Adds a result or an approval to the list of the chat that holds the call, and to its node.
 *
 * @throws busy while another tab, or another chat, writes the answer: its next save would overwrite the result
 * @throws head-moved where another tab gave this very call something else
 */
async function answerCall<M extends UIMessage>(
  chat: OurChat<M>,
  verb: Verb,
  told: Result<M> | Word<M>,
  given: Given,
): Promise<void> {
  const { engine, list } = chat;
  const { isCall } = given;
  const whoAsks = (is: Given['isCall']): OurChat<M> | undefined =>
    [chat, ...chat.host.all()].find((one) => asking(one.list.now, is));
  // Some models number their tool calls anew in each answer: prefer an answer in which the call still waits.
  const owner = whoAsks((part) => isCall(part) && isWaiting(part)) ?? whoAsks(isCall) ?? chat;
  if (owner.list !== list) return owner[verb](told as never);
  const listed = asking(list.now, isCall);
  // The call may be on another branch, or before the loaded messages.
  const elsewhere = listed ? undefined : await waitingCall(engine, isCall);
  const before = listed ?? (elsewhere?.message as M | undefined);
  if (!before) return;
  const key = elsewhere?.key ?? keyIn(chat, before);
  // A server's answer may just be about to be taken up.
  await chat.opening?.catch(() => {});
  const isOwn = chat.turn?.key === key && !chat.turn?.isSettled;
  if (!isOwn && key !== undefined && engine.status(key) === 'streaming') throw busy();
  chat.isMute = false;
  if (listed) await chat.own[verb](told as never);
  // The list may have been cut meanwhile, and older AI SDKs change only its last message. The node gets the result all the
  // same.
  const message = asking(list.now, isCall);
  const saved = isOwn || key === undefined ? undefined : (engine.message(key) as M | undefined);
  // The last draft that was saved may be older than the call.
  const answer = (now: UIMessage): M =>
    answered((callsIn(now).some(isCall) ? now : (message ?? before)) as M, given);
  try {
    const known = saved ? answer(saved) : (message ?? answer(before));
    if (message && !sameJson(message, known)) list.now = put(list.now, known);
    await keep(chat, key, known, answer);
  } catch (error) {
    // Show what is saved again.
    list.followed = undefined;
    const known = withId(list.whole, before.id);
    if (message && known) list.now = put(list.now, known);
    throw error;
  }
}

/** The message of a list that holds a tool call. */
function asking<M extends UIMessage>(list: readonly M[], isCall: (part: ToolPart) => boolean): M | undefined {
  return list.findLast(({ parts }) => parts.some((part) => isToolPart(part) && isCall(part)));
}

/** The key of a message of the list; for the growing answer, the key of its turn. */
function keyIn<M extends UIMessage>({ engine, turn, branchId }: OurChat<M>, { id }: M): string | undefined {
  const isGrowing = turn?.id === id && turn.isOpen && turn.versionOf === undefined;
  return isGrowing ? turn.key : keyOf(engine, id, branchId);
}

/**
 * Finds the message, on any branch, in which a tool call waits for a result or an approval; the newest where several have a
 * call of that id. Reads answers in blocks, newest first, until it finds one.
 */
async function waitingCall(
  engine: ContextEngine,
  isCall: (part: ToolPart) => boolean,
): Promise<{ readonly key: string; readonly message: UIMessage } | undefined> {
  const waits = (part: Part): boolean => isToolPart(part) && isCall(part) && isWaiting(part);
  const keys = engine.graph().nodes.flatMap(({ key, role }) => (role === 'assistant' ? key : []));
  for (let end = keys.length; end > 0; end -= AT_ONCE) {
    const some = keys.slice(Math.max(0, end - AT_ONCE), end);
    const bodies = await engine.store.bodies(engine.chatId, some);
    const key = some.findLast((one) => bodies.get(one)?.message.parts.some(waits));
    if (key !== undefined) return { key, message: bodies.get(key)?.message as UIMessage };
  }
  return undefined;
}

/** How many answers are read in one block. */
const AT_ONCE = 100;

/**
 * The message with the result or approval added to its tool call. The first result counts; giving the same one again changes
 * nothing.
 */
function answered<M extends UIMessage>(message: M, { isCall, known }: Given): M {
  const calls = callsIn(message).filter(isCall);
  if (calls.some(isWaiting))
    return {
      ...message,
      parts: message.parts.map((part) =>
        isToolPart(part) && isCall(part) && isWaiting(part) ? { ...part, ...known } : part,
      ),
    };
  const call = calls.at(-1) as (ToolPart & Record<string, unknown>) | undefined;
  if (!call || isSame(call, known)) return message;
  throw new ContextError(
    'head-moved',
    'This call of a tool was answered before, here or in another tab. That answer is kept.',
    { details: { toolCallId: call.toolCallId } },
  );
}

function isSame(call: Readonly<Record<string, unknown>>, known: Readonly<Record<string, unknown>>): boolean {
  if (known['approval'])
    return (call['approval'] as Word<UIMessage>).approved === (known['approval'] as Word<UIMessage>).approved;
  return sameJson([call['output'], call['errorText']], [known['output'], known['errorText']]);
}

/** Saves a message with the result of its tool call; `answer` adds the result to the message as another tab saved it. */
async function keep<M extends UIMessage>(
  chat: OurChat<M>,
  key: string | undefined,
  message: M,
  answer: (now: UIMessage) => M,
): Promise<unknown> {
  const { engine, turn, host } = chat;
  if (turn?.key === key && turn?.isOpen) return turn.savePoint();
  if (key === undefined) return keepList(chat);
  teach(chat, message);
  let kept = message;
  await keepMessage(engine, key, (now) => (kept = answer(now)), undefined);
  if (sameJson(kept, message)) return teach(chat, message);
  // A chat that read the branch meanwhile has the message without the result.
  teach(chat, kept);
  // Another tab may have answered another call of the same message: only now may all calls be answered.
  const isNext = await host.options.sendAutomaticallyWhen?.({ messages: chat.list.now });
  if (isNext && !isAsking(chat)) chat.goOn();
}

/** Updates the message in every chat that shows it, also in one that just asks the model to go on with it. */
function teach<M extends UIMessage>(chat: OurChat<M>, message: M): void {
  for (const one of [chat, ...chat.host.all()]) {
    learn(one.list, message);
    // The copy of a replayed answer holds fewer calls than the message.
    const copy = copyIn(one);
    if (copy?.id === message.id) copy.parts = copy.parts.map((part) => callAs(part, message));
  }
}

/** Replaces a changed message in a list, and in what the list takes for saved. */
function learn<M extends UIMessage>(list: OurChat<M>['list'], message: M): void {
  // A settled message may stand before what another tab is writing.
  const known = withId(list.whole, message.id);
  if (!known) return;
  if (withId(list.saved, message.id)) list.saved = put(list.saved, message);
  else list.remoteMessages = put(list.remoteMessages, message);
  const shown = withId(list.now, message.id);
  if (shown && sameMessage(shown, known)) list.now = put(list.now, message);
}

/**
 * A copy of a waiting tool call, because the AI SDK writes into it; any other part unchanged. Some models number their calls
 * anew in each step: of two calls with one id, the last one waits.
 */
function callAs(part: Part, { parts }: UIMessage): Part {
  if (!isToolPart(part) || !isWaiting(part)) return part;
  const known = parts.findLast((one) => isToolPart(one) && one.toolCallId === part.toolCallId);
  return known ? { ...known } : part;
}
