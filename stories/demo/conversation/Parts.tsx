import { isToolUIPart, type UIMessage } from 'ai';
import { useState, type ReactNode } from 'react';
import { Markdown } from '../markdown/Markdown.tsx';
import { safeLink } from '../markdown/safeLink.ts';
import { Guard } from '../shell/Guard.tsx';
import { inUnits, seconds } from '../quantities.ts';
import { directionOf } from '../ui/direction.ts';
import { partsOf, wordsOf } from '../stored.ts';
import { thoughtMs } from '../thoughtTime.ts';
import { FilePart } from './FilePart.tsx';
import { ToolCall } from './ToolCall.tsx';

type Part = UIMessage['parts'][number];

interface PartsProps {
  readonly message: UIMessage;
  /** Whether it is the last message: only then can a tool still be approved. */
  readonly isLast: boolean;
  /** Whether more is on its way. */
  readonly growing: boolean;
}

/** The content of a message, part by part. Parts with nothing to show are left out; one that can’t be shown says so. */
export function Parts({ message, isLast, growing }: PartsProps): ReactNode {
  const parts = partsOf(message);
  return parts.map((part, i) => (
    <Guard key={i} renderFailure={() => <Unshown type={part.type} />}>
      <OnePart
        part={part}
        message={message}
        place={placeOf(parts, i)}
        isLast={isLast}
        growing={growing && i === parts.length - 1}
      />
    </Guard>
  ));
}

/** In place of a part that is not what its type says. */
function Unshown({ type }: { readonly type: string }): ReactNode {
  return (
    <p className="unshown" role="note">
      A part of this message can’t be shown (<bdi>{type}</bdi>). It is kept as it is.
    </p>
  );
}

interface OnePartProps extends Pick<PartsProps, 'isLast' | 'growing'> {
  readonly part: Part;
  readonly message: UIMessage;
  /** How many parts of its kind stand before it. */
  readonly place: number;
}

function placeOf(parts: readonly Part[], at: number): number {
  const kindOf = (part: Part | undefined): string | undefined =>
    part && (isToolUIPart(part) ? 'tool' : part.type);
  return parts.slice(0, at).filter((part) => kindOf(part) === kindOf(parts[at])).length;
}

function OnePart({ part, message, place, isLast, growing }: OnePartProps): ReactNode {
  if (isToolUIPart(part))
    return <ToolCall part={part} isOpen={isLast} messageId={message.id} place={place} />;
  if (part.type === 'text')
    return message.role === 'assistant' ? (
      <Markdown text={wordsOf(part)} growing={growing} />
    ) : (
      <Words text={wordsOf(part)} />
    );
  if (part.type === 'reasoning')
    return <Thoughts text={wordsOf(part)} growing={growing} ms={thoughtMs(message, place)} />;
  if (part.type === 'source-url') return <Source address={part.url} title={part.title ?? part.url} />;
  if (part.type === 'file') return <FilePart part={part} />;
  return null;
}

/**
 * A person's text, as it was written; of a long text the beginning, and all of it on demand. A folded text is cut and not
 * hidden, because a browser lays out what is hidden, too.
 */
function Words({ text }: { readonly text: string }): ReactNode {
  const [isWhole, setWhole] = useState(false);
  const beginning = beginningOf(text);
  const isFolded = beginning !== undefined && !isWhole;
  return (
    <>
      <p className="words" dir={directionOf(text)} data-folded={isFolded || undefined}>
        {isFolded ? beginning : text}
      </p>
      {beginning !== undefined && (
        <button type="button" className="fold" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
          {isWhole ? 'Show less' : 'Show more'}
          {!isWhole && <small> {inUnits(text.length)}</small>}
        </button>
      )}
    </>
  );
}

/** The beginning of a long text, cut after a word; undefined for a text that is not long. */
export function beginningOf(text: string): string | undefined {
  const lines = text.slice(0, FOLD + 1).split('\n');
  if (text.length <= FOLD && lines.length <= FOLD_LINES) return undefined;
  const cut = lines.slice(0, FOLD_LINES / 2).join('\n');
  // The last word may be half a one, and half a sign.
  return `${cut.length < FOLD / 2 ? cut : cut.slice(0, FOLD / 2).replace(/\s*(\S{1,40}|[\uD800-\uDBFF])$/, '')}…`;
}

/** From how many code units and lines on a text is folded. */
const FOLD = 1600;
const FOLD_LINES = 16;

function Thoughts({ text, growing, ms }: ThoughtsProps): ReactNode {
  if (text.trim() === '') return null;
  const told = ms === undefined ? 'Thoughts' : `Thought for ${seconds(ms)}`;
  return (
    <details className="aside">
      <summary>{growing ? 'Thinking…' : told}</summary>
      <Markdown text={text} />
    </details>
  );
}

interface ThoughtsProps {
  readonly text: string;
  readonly growing: boolean;
  /** How long they took, where that was measured. */
  readonly ms: number | undefined;
}

function Source({ address, title }: { readonly address: string; readonly title: string }): ReactNode {
  const safe = safeLink(address);
  if (safe === undefined) return null;
  return (
    <p className="source">
      <a href={safe} target="_blank" rel="noopener noreferrer">
        {title}
      </a>
    </p>
  );
}

/** Whether a message has anything to show yet. */
export function saysSomething(message: UIMessage): boolean {
  return partsOf(message).some((part) => {
    if (part.type === 'text' || part.type === 'reasoning') return wordsOf(part).trim() !== '';
    return isToolUIPart(part) || part.type === 'source-url' || part.type === 'file';
  });
}
