import type { UIMessage } from 'ai';
import type { CallFacts } from '../engine/calls.ts';
import { busy } from '../errors.ts';
import type { ContextEngine } from '../engine/engine.ts';
import { onLeaving } from '../engine/leaving.ts';
import { createId } from '../fragment/id.ts';
import type { MessageStatus } from '../graph/graph.ts';
import type { NodeInfo } from '../graph/messages.ts';
import type { BranchChat } from './branchChat.ts';
import { headOf, keyOf, sameMessage, withId, type List } from './list.ts';
import { sameJson } from '../graph/same.ts';
import { asJson, callsIn, hasWords, isWaiting, longer } from './message.ts';

/** How often the words of a growing answer are handed to the engine, in ms; the engine decides how often it writes them. */
const DRAFT_INTERVAL = 100;

type Facts = Omit<CallFacts, 'ms' | 'status'>;

/** The facts of a request, known while its answer passes. */
export type Call = { -readonly [Name in keyof Facts]: Facts[Name] };

/**
 * One turn, from the list that asks for it to the last word of its answer.
 *
 * The list is compared with what is saved; its new messages are saved, with a node that is reserved for the answer, and the
 * words go to that node, whichever branch the person shows meanwhile. However the answer ends, it ends once, and its words are
 * saved; a store that refuses is the engine's concern. An answer in the middle of a conversation is continued as a version of
 * itself.
 */
export class Turn {
  readonly engine: ContextEngine;
  readonly key: string;
  id: string;
  /** The branch that the answer grows on. */
  branchId: string;
  /** The id of the branch that is made if the turn needs one. */
  readonly forkId: string = createId();
  /** The continued answer, as it was saved; undefined for a new one. */
  answer: UIMessage | undefined;
  /** Resolves when the end of the answer is saved, or held in memory where the disk refuses. Never rejects. */
  readonly settled: Promise<void>;
  isSettled = false;
  /** Whether the answer has ended without a new word: sending again automatically would loop. */
  isMute = false;
  call: Call | undefined;

  readonly #list: List;
  readonly #asked: readonly UIMessage[];
  readonly #plan: TurnPlan;
  /** Whether the continued answer was complete: it stays so until a word is added. */
  #isWhole = false;
  #last: UIMessage | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #end: Promise<void> | undefined;
  #settle: () => void = () => {};

  constructor(place: Place, asked: readonly UIMessage[], { messageId, answerId = createId() }: Named) {
    const plan = planTurn(place, asked, messageId);
    this.engine = place.engine;
    this.branchId = place.branchId as string;
    this.answer = plan.answer;
    this.key = (plan.isInPlace && plan.answerKey) || `key:${createId()}`;
    this.id = plan.answer?.id ?? answerId;
    this.#list = place.list;
    this.#asked = asked;
    this.#plan = plan;
    this.settled = new Promise((resolve) => (this.#settle = resolve));
  }

  // ------------------------------------------------------------------ it is saved

  /** Saves the turn; `isSole`: refuses with `busy` while another tab begins one. */
  async save(isSole: boolean | undefined): Promise<void> {
    const { answerKey, isInPlace } = this.#plan;
    if (answerKey !== undefined) this.#expectSettled(answerKey);
    if (isInPlace && this.answer) await this.#goOn(this.answer);
    else await this.#ask(isSole);
    this.#takeIn();
    void this.settled.then(onLeaving(() => void this.#keep('streaming')));
  }

  async #ask(isSole: boolean | undefined): Promise<void> {
    const { answer, branchId: branch, engine, forkId, id, key } = this;
    const { keys, messages } = this.#plan;
    const fresh = messages.slice(keys.length);
    await engine.ask(fresh.map(asJson), {
      branch,
      forkId,
      id,
      key,
      parentId: keys.at(-1) ?? null,
      answer: answer && asJson(answer),
      // Another tab may continue the same answer at this moment.
      isSole: isSole || fresh.length === 0,
    });
    // The branch made for it, its own, or the `main` that another tab made first.
    this.branchId = engine.branchHolding(key) ?? branch;
  }

  /** Opens an answer's node to grow again, from the words saved by then: another tab may have answered a tool call in it. */
  async #goOn(answer: UIMessage): Promise<void> {
    await keepMessage(this.engine, this.key, (saved) => (this.answer = longer(saved, answer)), 'streaming');
  }

  /** Refuses to continue an answer that grows, and notes whether it was complete. */
  #expectSettled(key: string): void {
    const [last] = callsIn({ parts: this.answer?.parts.slice(-1) ?? [] });
    const status = this.engine.status(key);
    if (status === 'streaming') throw busy(this.id);
    this.#isWhole = status === 'complete' && (!last || isWaiting(last));
  }

  /** Updates the chat's list to the saved conversation up to the answer; earlier messages that the chat has loaded stay. */
  #takeIn(): void {
    const list = this.#list;
    const { answer, engine } = this;
    const { isInPlace, keys, messages } = this.#plan;
    const conversation = isInPlace ? [] : messages.map((message, i) => savedAs(engine, message, keys[i]));
    const before = engine.node(keys[0] ?? '')?.parentId ?? null;
    const start = list.saved.findIndex(({ id }) => id === before) + 1;
    if (!isInPlace) list.saved = [...list.saved.slice(0, start), ...conversation];
    list.followed = [];
    // A saved message may differ from the sent one: another tab added a tool result, or JSON can't hold a value.
    list.renew(this.#asked, conversation);
    if (answer) list.keep(answer);
  }

  /** Names the answer: a new answer takes its server's id, if its conversation has no message of that id. */
  name(given: string | undefined): string {
    if (given !== undefined && !this.answer && !this.#last && !withId(this.#asked, given)) this.id = given;
    return this.id;
  }

  // ------------------------------------------------------------------ it grows

  get isOpen(): boolean {
    return this.#end === undefined;
  }

  read(): UIMessage | undefined {
    const grown = this.#list.now.findLast(({ id }) => id === this.id);
    // A server may begin a cut answer anew: its version counts once it is longer.
    return grown && longer(this.answer, grown);
  }

  /** Drafts the words that have been read: soon, and the first ones at once. */
  draft(): void {
    if (this.#end || this.#timer !== undefined) return;
    if (this.#last) this.#timer = setTimeout(() => void this.#keep('streaming'), DRAFT_INTERVAL);
    else void this.#keep('streaming');
  }

  /** Saves the words so far durably. */
  async savePoint(): Promise<void> {
    if (!this.#end) await this.#keep(undefined);
  }

  /** What can't be saved now is saved, or reported, at the end. */
  async #keep(status: 'streaming' | undefined): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const message = this.#words();
    if (message) await keepMessage(this.engine, this.key, message, status).catch(() => {});
  }

  #words(): UIMessage | undefined {
    const message = this.read();
    if (message && hasWords(message)) this.#last = message;
    return this.#last;
  }

  // ------------------------------------------------------------------ it ends

  /** Ends the answer. Only the first call counts; each resolves when the end is saved. */
  end(how: CallFacts['status'], usage?: Readonly<Record<string, unknown>>): Promise<void> {
    this.#end ??= this.#store(how, usage).finally(() => {
      this.isSettled = true;
      this.#settle();
    });
    return this.#end;
  }

  async #store(
    how: CallFacts['status'],
    usage: Readonly<Record<string, unknown>> | undefined,
  ): Promise<void> {
    clearTimeout(this.#timer);
    const { answer, call, engine, id, key } = this;
    const read = this.#words();
    // An answer that was complete stays so if Continue brought no word.
    const said = read ?? (this.#isWhole ? answer : undefined);
    this.isMute = sameJson(answer?.parts, said?.parts);
    const message = read ?? (how === 'complete' ? this.#wordless() : undefined) ?? said;
    this.#show(message);
    const words = message ?? { id, role: 'assistant', parts: [] };
    const isWhole = how === 'complete' || (this.isMute && this.#isWhole);
    const facts = call && { ...call, ms: Date.now() - call.startedAt, status: how };
    try {
      await keepMessage(engine, key, words, isWhole ? 'complete' : 'interrupted', facts);
      if (usage) await engine.trackUsage(usage);
    } catch {
      // The engine has reported the failure, and the page shows the answer.
    }
  }

  /** Shows what is saved: a server may have sent an answer anew with less in it. */
  #show(message: UIMessage | undefined): void {
    const list = this.#list;
    if (message) list.keep(message);
    else if (!this.answer && list.now.at(-1)?.id === this.id) list.now = list.now.slice(0, -1);
  }

  /** What to save of an answer without a word, but with metadata: without parts it would count as reserved. */
  #wordless(): UIMessage | undefined {
    const message = this.read();
    if (message?.metadata === undefined) return undefined;
    return message.parts.length > 0 ? message : { ...message, parts: [{ type: 'step-start' }] };
  }
}

/** Where a turn begins: the list that asks for it, and its branch. */
type Place = Pick<BranchChat, 'engine' | 'branchId' | 'list'>;

/** What a request names: an answer to continue, and an id that was reserved for a new one. */
export interface Named {
  readonly messageId?: string | undefined;
  readonly answerId?: string | undefined;
}

/** Hands new words to the engine, without values that JSON can't hold, such as a function in a tool's output. */
export function keepMessage(
  engine: ContextEngine,
  key: string,
  message: UIMessage | ((saved: UIMessage) => UIMessage),
  status: MessageStatus | undefined,
  call?: CallFacts,
): Promise<void> {
  const words =
    typeof message === 'function' ? (saved: UIMessage) => asJson(message(saved)) : asJson(message);
  return engine.updateMessage(key, words, status, call);
}

// ------------------------------------------------------------------ what a list asks for

/**
 * What a list of messages asks for.
 *
 * A chat says what it wants by its list, whichever verb made it: a new question at the end, the list cut back to an older one,
 * another text in place of a message. The longest beginning that is saved, on whichever branch, is kept; the rest is written.
 */
interface TurnPlan {
  /** The messages before the answer, oldest first. */
  readonly messages: readonly UIMessage[];
  /** The keys of those that are saved at this place: the first ones; all, where a saved question is asked again. */
  readonly keys: readonly string[];
  /** The answer to continue; undefined for a new one. */
  readonly answer: UIMessage | undefined;
  /** The key of that answer; undefined where it is not saved at this place. */
  readonly answerKey: string | undefined;
  /** Whether the answer continues in its node: not where messages stand behind it, which a version of it leaves alone. */
  readonly isInPlace: boolean;
}

/** Compares a list with what is saved. An answer that the request names, or at the end of the list, is continued. */
function planTurn(place: Place, list: readonly UIMessage[], messageId: string | undefined): TurnPlan {
  const { engine, branchId } = place;
  const spoken = list.filter(
    (message) => message.role !== 'assistant' || hasWords(message) || keyOf(engine, message.id, branchId),
  );
  const at = answerIndex(spoken, messageId);
  const messages = spoken.slice(0, at);
  const keys: string[] = [];
  for (const message of messages) {
    const key = keysAt(place, message, keys.at(-1)).find((one) => says(place, one, message));
    if (key === undefined) break;
    keys.push(key);
  }
  const answer = spoken[at];
  const there = answer && keys.length === at ? keysAt(place, answer, keys.at(-1)) : [];
  const answerKey = there.find((key) => answer && says(place, key, answer)) ?? there[0];
  const isEarlier = at === spoken.length - 1 && headOf(engine, branchId) !== answerKey;
  return { messages, keys, answer, answerKey, isInPlace: answerKey !== undefined && !isEarlier };
}

/** The index of the answer that a list continues; its length where it asks for a new one. */
function answerIndex(list: readonly UIMessage[], messageId: string | undefined): number {
  const named = list.findIndex(({ id, role }) => id === messageId && role === 'assistant');
  if (named !== -1) return named;
  return list.at(-1)?.role === 'assistant' ? list.length - 1 : list.length;
}

/** The keys of messages with this id behind the one under `parentKey` (default: at the beginning), those of the branch first. */
function keysAt(
  { engine, branchId, list }: Place,
  { id }: UIMessage,
  parentKey: string | null = null,
): string[] {
  const isHere = (node: NodeInfo): boolean =>
    node.parentKey === parentKey ||
    shownBefore(engine, node) === parentKey ||
    (parentKey === null && id === list.saved[0]?.id);
  return engine.nodesOf(id, branchId).flatMap((node) => (isHere(node) ? node.key : []));
}

/** Whether the message under a key has this content, now or as the chat knows it: another tab's change since must stay. */
function says({ engine, branchId, list }: Place, key: string, message: UIMessage): boolean {
  const nodes = engine.nodesOf(message.id, branchId);
  const known = withId(list.saved, message.id);
  if (known && nodes[0]?.key === key && sameMessage(known, message)) return true;
  // Versions share an id: if there are several, one that is not loaded may differ.
  return engine.matches(asJson(message), key) ?? nodes.length === 1;
}

/** The key of the message that a list shows before this one; null for the first. Skips a wordless answer of another tab. */
function shownBefore(engine: ContextEngine, { parentKey }: NodeInfo): string | null {
  const node = parentKey === null ? undefined : engine.node(parentKey);
  return node && node.parts === 0 && node.status !== 'complete' ? shownBefore(engine, node) : parentKey;
}

/** A message as it is saved now, with tool results that others gave meanwhile. */
function savedAs(engine: ContextEngine, message: UIMessage, key = ''): UIMessage {
  const saved = engine.message(key);
  return saved && !sameMessage(saved, message) ? saved : message;
}
