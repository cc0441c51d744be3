import type { ContextError } from '../errors.ts';
import type { Desk } from './desk.ts';
import { isRefusal, type Outbox } from './outbox.ts';
import type { RefusedSave } from './refusedSave.ts';
import { sameItems } from './same.ts';
import type { SaveState } from './state.ts';

/** The first pause before an unsaved turn is tried again, in ms; it doubles up to half a minute. */
const RETRY_FIRST = 1000;
const RETRY_LAST = 30_000;

const SAVED: SaveState = { state: 'saved', pending: 0 };

/**
 * Whether what was said is safe: the light that people look at before they close the tab.
 *
 * It is red while something should be on the disk and is not, and only then. A name that is taken or a branch that is
 * gone fails too, but leaves nothing unsaved; such a failure is told, and the light stays as it was.
 */
export class Safety {
  state: SaveState;
  /** The save() that the disk refused last, as long as some of its messages wait. */
  refused: RefusedSave | undefined;
  readonly #desk: Desk;
  readonly #outbox: Outbox;
  readonly #retry: () => Promise<void>;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;
  #retryDelay: number = RETRY_FIRST;
  /** How many messages of the chat are here and, since the browser lost it, nowhere else. */
  #lost = 0;
  /** What was told before that. */
  #beforeLoss: SaveState = SAVED;

  constructor(desk: Desk, outbox: Outbox, retry: () => Promise<void>) {
    this.#desk = desk;
    this.#outbox = outbox;
    this.#retry = retry;
    this.state = desk.state.getState().saveState;
  }

  /** Tries again in a while, and again until it works. */
  scheduleRetry(): void {
    if (this.#retryTimer !== undefined) return;
    this.#retryTimer = setTimeout(() => {
      this.#retryTimer = undefined;
      this.#retry().catch(() => this.scheduleRetry());
    }, this.#retryDelay);
    this.#retryDelay = Math.min(this.#retryDelay * 2, RETRY_LAST);
  }

  /** Whether the chat is only here, because the browser lost it. */
  get isLost(): boolean {
    return this.#lost > 0;
  }

  /** The browser lost the chat. It is not written again by itself: a person may have meant it to go. */
  lose(count: number, error: ContextError): void {
    if (!isLoss(this.state)) this.#beforeLoss = this.state;
    this.#lost = count;
    this.#become({ state: 'error', error, pending: this.#unsavedCount });
  }

  /** The chat is written again: whoever does that tells how it ends. */
  find(): void {
    this.#lost = 0;
  }

  /** The chat is nobody's loss any more. What waited before that waits still, and is tried again when it was to be. */
  settle(): void {
    if (!this.isLost && !isLoss(this.state)) return;
    this.find();
    if (this.#outbox.isEmpty && this.#unsavedCount === 0) this.succeed(SAVED);
    else this.#become(this.#withoutLoss(this.state));
  }

  /** What was told, but for a loss that is none any more. */
  #withoutLoss(told: SaveState): SaveState {
    return isLoss(told) && !this.isLost ? { ...this.#beforeLoss, pending: this.#unsavedCount } : told;
  }

  /** The disk took it. A save() that it refused before may wait still, and what was left out of messages. */
  succeed(before: SaveState): void {
    if (this.isLost) return;
    const { refusal } = this.#outbox;
    if (refusal) {
      this.#become({ state: 'error', error: refusal, pending: this.#unsavedCount });
      this.scheduleRetry();
      return;
    }
    clearTimeout(this.#retryTimer);
    this.#retryTimer = undefined;
    this.#retryDelay = RETRY_FIRST;
    this.#become(this.#unsavedCount === 0 ? SAVED : this.#withoutLoss(before));
  }

  /** It did not happen. That concerns what is saved only if something stays unsaved by it. */
  fail(error: ContextError, before: SaveState): void {
    this.#desk.emit({ type: 'error', code: error.code, message: error.message });
    const pending = this.#unsavedCount;
    // A question that is taken back counts as nobody's message, and waits all the same.
    if (pending > 0 || !this.#outbox.isEmpty || this.#outbox.refusal)
      this.#become(isRefusal(error) ? { state: 'error', error, pending } : before);
    else this.#become(before.state === 'error' ? SAVED : before);
  }

  /** What waited was sent or dropped: without its messages, a save() that was refused is none any more. */
  forget(): void {
    if (!this.refused || this.#refusedCount > 0) return;
    this.refused = undefined;
    if (this.#outbox.isEmpty) this.succeed(SAVED);
  }

  /** Messages that should be saved and are not. */
  get #unsavedCount(): number {
    return this.#outbox.count + this.#refusedCount + this.#lost;
  }

  get #refusedCount(): number {
    return this.refused?.messages.filter((message) => this.#desk.pending.includes(message)).length ?? 0;
  }

  #become({ leftOut: _past, ...next }: SaveState): void {
    const leftOut = this.#outbox.owed.flatMap((op) => (op.op === 'replace' ? [op.id] : []));
    const wanted = leftOut.length > 0 ? { ...next, leftOut } : next;
    // What was told last, and is told again, is told as it was.
    const told = this.#desk.state.getState().saveState;
    this.state = [this.state, told].find((one) => isSame(one, wanted)) ?? wanted;
  }

  /** Shows at once that a write is under way, before it is known how it ends. */
  publish(next: SaveState): void {
    this.#become(next);
    this.#desk.state.setState({ saveState: this.state });
  }
}

function isSame(a: SaveState, b: SaveState): boolean {
  const isSameState = a.state === b.state && a.pending === b.pending;
  return isSameState && a.error?.message === b.error?.message && sameItems(a.leftOut ?? [], b.leftOut ?? []);
}

/** Whether a chat was lost; another user may have begun one under its id since. */
function isLoss({ error }: SaveState): boolean {
  return error?.code === 'data-loss' || error?.code === 'wrong-user';
}
