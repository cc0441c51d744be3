import type { EstimateResult } from 'contextree';
import type { HiddenMark } from 'contextree/tokens';
import type { ReactNode } from 'react';
import { counted } from '../figures.ts';

/** Warns of invisible characters in a prompt, and names them; nothing where there are none. */
export function hiddenNote({ systemPrompt, messages }: EstimateResult): ReactNode {
  const marks = [systemPrompt, ...messages].flatMap(({ hidden }) => hidden ?? []);
  if (marks.length === 0) return null;
  const names = [...new Set(marks.map(({ name }) => name))];
  return (
    <p className="inset warn" role="note">
      The model reads {counted(marks.length, 'character')} here that nobody sees: {names.join(', ')}
    </p>
  );
}

/** The invisible characters of one part of a message. */
export function marksIn(
  message: EstimateResult['messages'][number] | undefined,
  part: number,
): readonly HiddenMark[] | undefined {
  return message?.hidden?.filter((mark) => mark.part === part);
}

/** A text with a visible mark in place of each invisible character. */
export function marked(text: string, marks: readonly HiddenMark[] = []): ReactNode {
  return [...marks, undefined].map((mark, i) => {
    const before = marks[i - 1];
    const from = before ? before.at + lengthOf(before) : 0;
    return (
      <span key={i}>
        {text.slice(from, mark?.at)}
        {mark && mark.at < text.length && chipOf(mark)}
      </span>
    );
  });
}

/** The marks alone, where their places are not those of the shown text. */
export function chipsOf(marks: readonly HiddenMark[]): ReactNode {
  return marks.map(chipOf);
}

function chipOf({ at, name, code }: HiddenMark): ReactNode {
  return (
    <code key={at} className="chip" title={name} dir="ltr">
      {code}
    </code>
  );
}

/** UTF-16 units: two for a character beyond U+FFFF. */
function lengthOf({ code }: HiddenMark): number {
  return code.length > 'U+FFFF'.length ? 2 : 1;
}
