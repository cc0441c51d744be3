import type { UIMessage } from 'ai';
import type { ContextEngine } from '../engine/engine.ts';
import { sameJson } from '../engine/same.ts';
import { ContextError } from '../errors.ts';
import { keepList } from './begin.ts';
import { keyOf, put, sameMessage, withId } from './list.ts';
import { callsIn, isToolPart, isWaiting, type Part, type ToolPart } from './message.ts';
import { copyIn, isAsking, type OurChat } from './ourChat.ts';
import { keepMessage } from './turn.ts';

type Verb = 'addToolOutput' | 'addToolApprovalResponse';
type Result<M extends UIMessage> = Parameters<OurChat<M>['addToolOutput']>[0];
type Word<M extends UIMessage> = Parameters<OurChat<M>['addToolApprovalResponse']>[0];

/** What a call of a tool waits for, its result or a person's word on it: which call, and what that has with it. */
interface Given {
  readonly isCall: (part: ToolPart) => boolean;
  readonly known: Readonly<Record<string, unknown>>;
}

/** A tool's result goes to the chat and the node that asked, whichever is shown. Rejects as `answerCall()` does. */
export function giveResult<M extends UIMessage>(chat: OurChat<M>, output: Result<M>): Promise<void> {
  const { tool: _tool, toolCallId, options: _options, ...result } = output;
  const isCall = (part: ToolPart): boolean => part.toolCallId === toolCallId;
  return answerCall(chat, 'addToolOutput', output, {
    isCall,
    known: { state: 'output-available', ...result },
  });
}

/** So does a person's word on a tool. */
export function giveWord<M extends UIMessage>(chat: OurChat<M>, response: Word<M>): Promise<void> {
  const { id, approved, reason } = response;
  const known = { state: 'approval-responded', approval: { id, approved, reason } };
  const isCall = ({ approval }: ToolPart): boolean => approval?.id === id;
  return answerCall(chat, 'addToolApprovalResponse', response, { isCall, known });
}

/**
 * Gives a call what it waits for: in the list of the chat that asked, and on its node.
 *
 * @throws busy where another tab, or another chat, is writing the answer: it would write over this
 * @throws head-moved where another tab has given this very call something else
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
  // Some models count their calls anew in each answer: one that has its result does not wait for this one.
  const owner = whoAsks((part) => isCall(part) && isWaiting(part)) ?? whoAsks(isCall) ?? chat;
  if (owner.list !== list) return owner[verb](told as never);
  const listed = asking(list.now, isCall);
  // A branch that was left asks, or a message before those that are loaded.
  const elsewhere = listed ? undefined : await waitingCall(engine, isCall);
  const before = listed ?? (elsewhere?.message as M | undefined);
  if (!before) return;
  const key = elsewhere?.key ?? keyIn(chat, before);
  // Its answer may be taken up at this moment.
  await chat.opening?.catch(() => {});
  const isOwn = chat.turn?.key === key && !chat.turn?.isSettled;
  if (!isOwn && key !== undefined && engine.status(key) === 'streaming')
    throw new ContextError('busy', 'An answer still grows here or in another tab. Wait for it or stop it.');
  chat.isMute = false;
  if (listed) await chat.own[verb](told as never);
  // The list may have been cut meanwhile, or this AI SDK looks at its end alone: the node that asked is answered all the same.
  const message = asking(list.now, isCall);
  const saved = isOwn || key === undefined ? undefined : (engine.message(key) as M | undefined);
  // What is saved may not have come as far as the call.
  const answer = (now: UIMessage): M =>
    answered((callsIn(now).some(isCall) ? now : (message ?? before)) as M, given);
  try {
    const known = saved ? answer(saved) : (message ?? answer(before));
    if (message && !sameJson(message, known)) list.now = put(list.now, known);
    await keep(chat, key, known, answer);
  } catch (error) {
    // The list shows again what is saved.
    list.followed = undefined;
    const known = withId(list.whole, before.id);
    if (message && known) list.now = put(list.now, known);
    throw error;
  }
}

/** The message of a list in which a tool is called. */
function asking<M extends UIMessage>(list: readonly M[], isCall: (part: ToolPart) => boolean): M | undefined {
  return list.findLast(({ parts }) => parts.some((part) => isToolPart(part) && isCall(part)));
}

/** The key of a message in the list; for an answer that still streams, the key of its turn. */
function keyIn<M extends UIMessage>({ engine, turn, branchId }: OurChat<M>, { id }: M): string | undefined {
  const isGrowing = turn?.id === id && turn.isOpen && turn.versionOf === undefined;
  return isGrowing ? turn.key : keyOf(engine, id, branchId);
}

/**
 * The message in which a call waits for its result, or for leave, wherever in the tree it is; the newest, where several
 * have a call of that name. Reads answers from the newest on, until it is found.
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

/** How many answers are read at once. */
const AT_ONCE = 100;

/** The message with the result or approval that a call in it waits for. The first one counts; the same one again changes nothing. */
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

/** Keeps a message with what a call in it was given; `answer` gives that to it as another tab left it. */
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
  // Who read the branch meanwhile has the message as it was before.
  teach(chat, kept);
  // Another tab answered another call at the same moment: only now may all of them be answered.
  const isNext = await host.options.sendAutomaticallyWhen?.({ messages: chat.list.now });
  if (isNext && !isAsking(chat)) chat.goOn();
}

/** All chats that show a message go on from what it is now, also one that asks for more of it at this moment. */
function teach<M extends UIMessage>(chat: OurChat<M>, message: M): void {
  for (const one of [chat, ...chat.host.all()]) {
    learn(one.list, message);
    // Of what is said again, it has less.
    const copy = copyIn(one);
    if (copy?.id === message.id) copy.parts = copy.parts.map((part) => callAs(part, message));
  }
}

/** A message was changed in a chat that shows it. A list that shows it too must not go on from what it was. */
function learn<M extends UIMessage>(list: OurChat<M>['list'], message: M): void {
  // A settled one may stand before what another tab is writing.
  const known = withId(list.whole, message.id);
  if (!known) return;
  if (withId(list.saved, message.id)) list.saved = put(list.saved, message);
  else list.remoteMessages = put(list.remoteMessages, message);
  const shown = withId(list.now, message.id);
  if (shown && sameMessage(shown, known)) list.now = put(list.now, message);
}

/**
 * A waiting tool call as the message has it, copied because the AI SDK writes into it; any other part unchanged. Some models
 * number their calls anew in each step: of two calls with one id, the last one waits.
 */
function callAs(part: Part, { parts }: UIMessage): Part {
  if (!isToolPart(part) || !isWaiting(part)) return part;
  const known = parts.findLast((one) => isToolPart(one) && one.toolCallId === part.toolCallId);
  return known ? { ...known } : part;
}
