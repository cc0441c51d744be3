import { isToolUIPart, type UIMessage } from 'ai';
import type { ReactNode } from 'react';
import { Markdown } from '../markdown/Markdown.tsx';
import { safeLink } from '../markdown/safeLink.ts';
import { FilePart } from './FilePart.tsx';
import { ToolCall } from './ToolCall.tsx';

type Part = UIMessage['parts'][number];

interface PartsProps {
  readonly message: UIMessage;
  /** Whether nothing was said after it: only then can a tool still be let in. */
  readonly isLast: boolean;
  /** Whether more is on its way. */
  readonly growing: boolean;
}

/** What a message says, part by part. Parts that say nothing to a person are left out. */
export function Parts({ message, isLast, growing }: PartsProps): ReactNode {
  const { parts, role } = message;
  return parts.map((part, i) => (
    <OnePart key={i} part={part} role={role} isLast={isLast} growing={growing && i === parts.length - 1} />
  ));
}

interface OnePartProps extends Pick<PartsProps, 'isLast' | 'growing'> {
  readonly part: Part;
  readonly role: UIMessage['role'];
}

function OnePart({ part, role, isLast, growing }: OnePartProps): ReactNode {
  if (isToolUIPart(part)) return <ToolCall part={part} isOpen={isLast} />;
  if (part.type === 'text')
    return role === 'assistant' ? (
      <Markdown text={part.text} growing={growing} />
    ) : (
      <Words text={part.text} />
    );
  if (part.type === 'reasoning') return <Thoughts text={part.text} />;
  if (part.type === 'source-url') return <Source address={part.url} title={part.title ?? part.url} />;
  if (part.type === 'file') return <FilePart part={part} />;
  return null;
}

/** What a person wrote, as it was written. */
function Words({ text }: { readonly text: string }): ReactNode {
  return (
    <p className="words" dir="auto">
      {text}
    </p>
  );
}

function Thoughts({ text }: { readonly text: string }): ReactNode {
  if (text.trim() === '') return null;
  return (
    <details className="aside">
      <summary>Thoughts</summary>
      <Markdown text={text} />
    </details>
  );
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
  return message.parts.some((part) => {
    if (part.type === 'text' || part.type === 'reasoning') return part.text.trim() !== '';
    return isToolUIPart(part) || part.type === 'source-url' || part.type === 'file';
  });
}

/** The text of a message, paragraphs apart: what is copied and edited. */
export function plainText(message: UIMessage): string {
  return message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n');
}
