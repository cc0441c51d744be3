import type { ContextFragment } from '../fragment/fragment.ts';
import { refuseToLoad } from '../errors.ts';
import { asContextError } from './desk.ts';
import { Face } from './face.ts';
import type { Questions } from './questions.ts';
import type { Session } from './session.ts';

/**
 * How an engine comes to its chat: code and records are read with the first method that needs them, once. What failed to
 * come is asked for again by the next method.
 */
export class Opening extends Face {
  #session: Session | undefined;
  #opening: Promise<Session> | undefined;
  #ready: Promise<void> | undefined;
  #unsubscribe: (() => void) | undefined;

  /**
   * Reads the chat, its active branch and its last messages, once. Writes nothing.
   * Rejects with `wrong-user`, or with what the store says; the next call tries again.
   */
  ready(): Promise<void> {
    this.#ready ??= this.opened().then(() => undefined);
    return this.#ready;
  }

  /** @internal The session, once its code has come and the chat is read. */
  protected opened(): Promise<Session> {
    this.#opening ??= this.#open().catch((error: unknown) => {
      this.#opening = undefined;
      this.#ready = undefined;
      this.#stopListening();
      this.desk.publish({ status: 'error', error: asContextError(error) });
      throw error;
    });
    return this.#opening;
  }

  /**
   * @internal The same with code that is not needed before. Methods run in the order in which they were called, so all that come
   * later wait for that code, too.
   */
  protected with(code: 'saves' | 'tree'): Promise<Session> {
    if (this.#session?.has(code)) return this.opened();
    const opening = this.opened().then((session) => session.load(code));
    opening.catch(() => {
      if (this.#opening === opening) this.#opening = undefined;
    });
    return (this.#opening = opening);
  }

  async #open(): Promise<Session> {
    const { Session } = await import('./session.ts').catch(refuseToLoad);
    this.#session ??= new Session(this.desk);
    // Before the first read, so that nothing which others write meanwhile is missed.
    if (!this.desk.isDisposed)
      this.#unsubscribe ??= this.store.subscribe((notice) => this.#session?.writer.others.hear(notice));
    await this.#session.open();
    return this.#session;
  }

  /** Takes fragments out again: those with this id, or this very fragment, from both lanes. */
  override unset(idOrFragment: string | ContextFragment): this {
    super.unset(idOrFragment);
    this.#session?.writer.others.catchUp();
    return this;
  }

  /** @internal What is answered at once; undefined until the chat is read. */
  protected get questions(): Questions | undefined {
    return this.#session?.questions;
  }

  /** Stops listening, and being listened to. Streams go on, and their words are still saved, or tried again. */
  dispose(): void {
    this.desk.isDisposed = true;
    this.#stopListening();
    this.#session?.dispose();
    this.desk.listeners.clear();
  }

  #stopListening(): void {
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
  }
}
