import type { UIMessage } from 'ai';
import { sameJson } from '../engine/sameJson.ts';
import { answered, type Given } from './answered.ts';
import { copyIn, keepList } from './begin.ts';
import type { Standing } from './contextChat.ts';
import { put, withId, type IsCall } from './list.ts';
import { isAsking } from './queue.ts';
import { isToolPart, isWaiting } from './toolPart.ts';
import { keepMessage } from './turn.ts';

/** A call of a tool, and what it was given. */
interface Answer<M extends UIMessage> {
  /** The message in which it is called, as it was before. */
  readonly before: M;
  /** Whether that grows in this chat. */
  readonly isOwn: boolean;
  readonly isCall: IsCall;
  readonly given: Given;
}

/** Puts what a call was given into the list, where the AI SDK did not, and keeps it on the node that asked. */
export async function keepAnswer<M extends UIMessage>(
  at: Standing<M>,
  { before, isOwn, isCall, given }: Answer<M>,
): Promise<void> {
  const { host, list } = at;
  const message = list.asking(isCall);
  // The list was cut meanwhile, or this AI SDK looks at its end alone: the node that asked is answered all the same.
  const asked = message ?? before;
  const saved = isOwn ? undefined : (host.engine.message(asked.id) as M | undefined);
  const answer = (now: UIMessage | undefined): M => answered(asked, isCall, given, now as M | undefined);
  try {
    const known = answer(saved);
    if (message && known !== message) list.now = put(list.now, known);
    await keep(at, known, answer);
  } catch (error) {
    // The list shows again what is saved.
    list.forget();
    const known = withId(list.whole, asked.id);
    if (message && known) list.now = put(list.now, known);
    throw error;
  }
}

/** Keeps a message with what a call in it was given; `answer` gives that to it as another tab left it. */
async function keep<M extends UIMessage>(
  at: Standing<M>,
  message: M,
  answer: (now: UIMessage) => M,
): Promise<unknown> {
  const { host, chat, list, turn } = at;
  if (turn?.options.id === message.id && turn.isOpen) return turn.savePoint();
  const { engine, options } = host;
  if (!engine.node(message.id)) return keepList(at);
  teach(at, message);
  let kept = message;
  await keepMessage(engine, message.id, (now) => (kept = answer(now)), undefined);
  const isSame = sameJson(kept, message);
  // Who read the branch meanwhile has the message as it was before.
  teach(at, isSame ? message : kept);
  // Another tab answered another call at the same moment: only now may all of them be answered.
  if (isSame) return;
  if (!isAsking(chat) && (await options.sendAutomaticallyWhen?.({ messages: list.now }))) at.goOn?.();
}

/** All chats that show a message go on from what it is now, also one that asks for more of it at this moment. */
function teach<M extends UIMessage>({ host, chat }: Standing<M>, message: M): void {
  for (const one of [chat, ...host.all()]) {
    one.learn(message);
    // Of what is said again, it has less.
    const copy = copyIn(one);
    if (copy?.id === message.id) copy.parts = copy.parts.map((part) => callAs(part, message));
  }
}

/**
 * A call that waits, as it is in a message that knows of it, and as an object of its own, which the AI SDK writes into;
 * any other part as it is. Of two calls with one id, which some models count anew in each step, the last one waits.
 */
function callAs(part: Part, { parts }: UIMessage): Part {
  if (!isToolPart(part) || !isWaiting(part)) return part;
  const known = parts.findLast((one) => isToolPart(one) && one.toolCallId === part.toolCallId);
  return known ? { ...known } : part;
}

type Part = UIMessage['parts'][number];
