import type { UIMessage } from 'ai';
import { foldInto, type FoldContext, type FoldingFragment } from '../fragment/fold.ts';
import { sameContent, sameItems } from '../graph/same.ts';
import { stripReminders } from '../reminded.ts';
import type { ContextFragment } from '../fragment/fragment.ts';
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

  /** A message with these reminders. */
  async fold({ message, after, between }: Asked, reminders: readonly FoldingFragment[]): Promise<UIMessage> {
    const kept = this.#kept.get(message);
    if (kept && isSame(kept, { reminders, after, between })) return kept.folded;
    const context = await this.#contextOf(message.id, after, between);
    const folded = await foldInto(stripReminders(message), reminders, context);
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
      report: (error) => this.#writer.desk.report(error, id),
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
