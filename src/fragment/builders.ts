import type { ContextFragment, FragmentData, LoadContext } from './fragment.ts';
import { serializable } from './serialize.ts';

/**
 * The vocabulary of a prompt: nineteen kinds of fragment that have a meaning and a form to be stored in.
 *
 * Optional fields that are empty are left out. A text may also be a function or a promise of one; `resolve()` loads it.
 */

/** A text, or a function or promise that gives one. */
export type FragmentText = string | ((context: LoadContext) => unknown) | PromiseLike<unknown>;

/** A text under each of these names; those of `Optional` may be left out. */
type Texts<Needed extends string, Optional extends string = never> = Readonly<
  Record<Needed, FragmentText> & Partial<Record<Optional, FragmentText>>
>;

/** A word of the domain and what it means. */
export function term(name: FragmentText, definition: FragmentText): ContextFragment {
  return serializable('term', { name, definition });
}

/** One piece of advice. */
export function hint(text: FragmentText): ContextFragment {
  return serializable('hint', { text });
}

/** A line not to be crossed, why, and what to do instead. */
export function guardrail(input: Texts<'rule', 'reason' | 'action'>): ContextFragment {
  return serializable('guardrail', input);
}

/** A concept explained, and what follows from it. */
export function explain(input: Texts<'concept' | 'explanation', 'therefore'>): ContextFragment {
  return serializable('explain', input);
}

/** A question with its model answer. */
export function example(input: Texts<'question' | 'answer', 'note'>): ContextFragment {
  return serializable('example', input);
}

/** What to ask back, when, and why. */
export function clarification(input: Texts<'when' | 'ask' | 'reason'>): ContextFragment {
  return serializable('clarification', input);
}

/** The steps of a task, in order. */
export function workflow(
  input: Texts<'task', 'notes'> & { steps: readonly FragmentText[]; triggers?: readonly FragmentText[] },
): ContextFragment {
  return serializable('workflow', input);
}

/** Something odd about the domain and how to live with it. */
export function quirk(input: { issue: FragmentText; workaround: FragmentText }): ContextFragment {
  return serializable('quirk', input);
}

/** How to write: what to prefer, never do, always do. */
export function styleGuide(input: Texts<'prefer', 'never' | 'always'>): ContextFragment {
  return serializable('styleGuide', input);
}

/** Concepts that resemble each other, and how far that carries. */
export function analogy(
  input: Texts<'relationship', 'insight' | 'therefore' | 'pitfall'> & { concepts: readonly FragmentText[] },
): ContextFragment {
  return serializable('analogy', input);
}

/** Terms and the expressions they stand for; its data is a list of `{ term, expression }`. */
export function glossary(entries: Readonly<Record<string, FragmentText>>): ContextFragment {
  return serializable('glossary', { entries });
}

/** Who the model is. */
export function role(content: FragmentText): ContextFragment {
  return serializable('role', { content });
}

/** A principle and the policies that carry it out. */
export function principle(
  input: Texts<'title' | 'description'> & { policies?: readonly FragmentData[] },
): ContextFragment {
  return serializable('principle', input);
}

/** A rule, what it comes before, why, and the rules under it. */
export function policy(
  input: Texts<'rule', 'before' | 'reason'> & { policies?: readonly FragmentData[] },
): ContextFragment {
  return serializable('policy', input);
}

/** Who the person is. */
export function identity(input: { name?: FragmentText; role?: FragmentText }): ContextFragment {
  return serializable('identity', input);
}

/** The character that the model plays. */
export function persona(input: Texts<'name', 'role' | 'objective' | 'tone'>): ContextFragment {
  return serializable('persona', input);
}

/** What the person means when they say a word. */
export function alias(term: FragmentText, meaning: FragmentText): ContextFragment {
  return serializable('alias', { term, meaning });
}

/** What the person likes, in one respect. */
export function preference(aspect: FragmentText, value: FragmentText): ContextFragment {
  return serializable('preference', { aspect, value });
}

/** What the person corrected, and how it is right. */
export function correction(subject: FragmentText, clarification: FragmentText): ContextFragment {
  return serializable('correction', { subject, clarification });
}
