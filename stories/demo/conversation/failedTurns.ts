import type { ContextEngine } from 'contextree';

/** Why turns failed on this page, in words, by the message that they ended with: a question, or a part of an answer. */
const failed = new WeakMap<ContextEngine, Map<string, string>>();

/** Notes why a turn failed. */
export function noteFailure(engine: ContextEngine, messageId: string, words: string): void {
  failed.set(engine, (failed.get(engine) ?? new Map<string, string>()).set(messageId, words));
}

/** Why the turn that ended with a message failed; undefined where it did not, or before this page. */
export function failureAt(engine: ContextEngine, messageId: string): string | undefined {
  return failed.get(engine)?.get(messageId);
}
