import { keys } from '../keys.ts';
import type { UIMessage } from 'ai';
import { type ReactNode, useState } from 'react';
import { Textarea } from './Textarea.tsx';

/** Edits a message as a version on a branch of its own. Parts that are no text stay. */
export function EditBranch({ message, off, onSave, onClose }: EditBranchProps): ReactNode {
  const [parts, setParts] = useState(message.parts);
  const texts = parts.flatMap((part, at) => (isText(part) ? [{ ...part, at }] : []));
  const isChanged = texts.some(({ text, at }) => text !== Object(message.parts[at]).text);
  const change = (at: number, text: string): void =>
    setParts(parts.map((part, i) => (i === at && isText(part) ? { ...part, text } : part)));
  return (
    <section className="form" aria-label="Edit as a new branch">
      {texts.map(({ text, at }, n) => (
        <Textarea
          key={at}
          // oxlint-disable-next-line jsx-a11y/no-autofocus -- a person has just opened it
          autoFocus={n === 0}
          aria-label={`Words ${n + 1} of ${texts.length}`}
          value={text}
          onChange={(words) => change(at, words)}
          onKeyDown={keys({ Escape: onClose })}
        />
      ))}
      {texts.length === 0 && <p className="words">It has no text to edit.</p>}
      <div className="bar">
        <span className="grow muted">{off}</span>
        <button onClick={onClose}>Cancel</button>
        <button disabled={!isChanged || off !== undefined} onClick={() => onSave(parts)}>
          Save as a new branch
        </button>
      </div>
    </section>
  );
}

interface EditBranchProps {
  readonly message: UIMessage;
  /** Why no branch can be made now. */
  readonly off: string | undefined;
  readonly onSave: (parts: UIMessage['parts']) => void;
  readonly onClose: () => void;
}

type Part = UIMessage['parts'][number];

function isText(part: Part): part is Extract<Part, { type: 'text' }> {
  return Object(part).type === 'text';
}
