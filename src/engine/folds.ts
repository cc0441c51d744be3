import type { UIMessage } from 'ai';
import { foldInto, stripReminders, type FoldContext } from '../fragment/fold.ts';
import { isFolding, type ContextFragment } from '../fragment/fragment.ts';
import { asContextError, type Pending } from './desk.ts';
import { sameContent, sameItems } from './same.ts';
import type { Asked } from './saves.ts';
import type { Writer } from './writer.ts';

/**
 * Reminders: fragments that are added to the user's message on its way to the model.
 *
 * A message is folded (gets its reminders) when it is written, and `resolve()` shows it folded before that. A reminder may be
 * random, so it is evaluated once for a question: for the message, the reminders and what stands before it. A new version of a
 * message is folded anew, without the reminders of the old one. Everywhere else a message equals itself without reminders.
 */
export class Folds {
  readonly #writer: Writer;
  readonly #kept: WeakMap<UIMessage, Kept> = new WeakMap();

  constructor(writer: Writer) {
    this.#writer = writer;
  }

  /** The pending messages with their reminders; those of the prompt go into the last user message. */
  async pending(pending: readonly Pending[], asked: readonly Asked[]): Promise<readonly Pending[]> {
    const own = new Map(
      pending.map((one) => [one.content.kind === 'message' && one.content.message, one.fragment]),
    );
    const folded = new Map<UIMessage, UIMessage>();
    for (const [i, one] of asked.entries()) {
      const ofMessage = own.get(one.message);
      const ofPrompt = asked[i + 1] ? [] : this.#ofPrompt();
      const reminders = ofMessage ? [ofMessage, ...ofPrompt] : ofPrompt;
      folded.set(one.message, await this.fold(one, reminders));
    }
    return pending.map((one) => {
      const { content } = one;
      const message = content.kind === 'message' ? folded.get(content.message) : undefined;
      if (content.kind !== 'message' || !message || message === content.message) return one;
      return { ...one, content: { ...content, message } };
    });
  }

  #ofPrompt(): ContextFragment[] {
    return this.#writer.desk.prompt.list().filter(isFolding);
  }

  /** A message with reminders, by default those of the prompt. */
  async fold(asked: Asked, fragments: readonly ContextFragment[] = this.#ofPrompt()): Promise<UIMessage> {
    const { message } = asked;
    const reminders = fragments.filter(isFolding);
    const plain = asked.isVersion || reminders.length > 0 ? stripReminders(message) : message;
    if (reminders.length === 0) return plain;
    const { after, between } = asked;
    const kept = this.#kept.get(message);
    if (kept && isSame(kept, { reminders, after, between })) return kept.folded;
    const folded = await foldInto(plain, reminders, await this.#contextOf(message.id, after, between));
    this.#kept.set(message, { reminders, after, between, folded });
    return folded;
  }

  async #contextOf(id: string, after: string | null, between: readonly UIMessage[]): Promise<FoldContext> {
    const messages = [...(await this.#writer.chains.messages(after)), ...between];
    const begun = this.#writer.replica.record(after)?.createdAt;
    const usage = this.#writer.desk.state.getState().chat?.metadata?.['usage'] as FoldContext['usage'];
    return {
      messages,
      turn: messages.filter(({ role }) => role === 'user').length + 1,
      usage,
      elapsedMs: between.length > 0 ? 0 : begun === undefined ? undefined : Date.now() - begun,
      report: (error) => {
        const { code, message } = asContextError(error);
        this.#writer.desk.emit({ type: 'error', code, message, id });
      },
    };
  }
}

/** A folded message, and the question that it was folded for. */
interface Kept extends Omit<Asked, 'message'> {
  readonly reminders: readonly ContextFragment[];
  readonly folded: UIMessage;
}

function isSame(kept: Kept, now: Omit<Kept, 'folded'>): boolean {
  return (
    kept.after === now.after &&
    sameItems(kept.reminders, now.reminders) &&
    kept.between.length === now.between.length &&
    now.between.every((message, i) => sameContent(kept.between[i], message))
  );
}
