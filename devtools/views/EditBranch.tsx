import { keys } from '../kit.tsx';
import type { UIMessage } from 'ai';
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';

/** Edits a message as a version on a branch of its own. Parts that are no text stay. */
export function EditBranch({ message, off, onSave, onClose }: EditBranchProps): ReactNode {
  const { parts } = message;
  const [texts, setTexts] = useState(
    () => new Map(parts.flatMap((part, i) => (isText(part) ? [[i, part.text]] : []))),
  );
  const first = useRef<HTMLTextAreaElement>(null);
  useEffect(() => first.current?.focus(), []);
  const isChanged = parts.some((part, i) => isText(part) && texts.get(i) !== part.text);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (off !== undefined) return;
    onSave(parts.map((part, i) => (isText(part) ? { ...part, text: texts.get(i) ?? part.text } : part)));
  };
  return (
    <form className="form" aria-label="Edit as a new branch" onSubmit={submit}>
      {[...texts].map(([i, text], n) => (
        <textarea
          key={i}
          ref={n === 0 ? first : null}
          aria-label={texts.size === 1 ? 'Words' : `Words ${n + 1} of ${texts.size}`}
          dir="auto"
          rows={Math.min(12, Math.max(3, text.split('\n').length + 1))}
          value={text}
          onKeyDown={keys({ Escape: onClose })}
          onChange={(event) => setTexts(new Map(texts).set(i, event.target.value))}
        />
      ))}
      {texts.size === 0 && <p className="words">It has no words to edit.</p>}
      <div className="bar">
        <span className="grow muted">{off}</span>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="submit" disabled={!isChanged || off !== undefined}>
          Save as a new branch
        </button>
      </div>
    </form>
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
