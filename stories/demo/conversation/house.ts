import { hint, role, type ContextFragment } from 'contextree';

/** What every answer of this app is asked to be. */
export const house: readonly ContextFragment[] = [
  role('You are a helpful companion in a chat window.'),
  hint('Answer in Markdown. Come to the point; leave out pleasantries.'),
  hint('Write in the language of the question.'),
];
