import { memo, type ComponentProps, type ReactNode } from 'react';
import ReactMarkdown, { type Components } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { Guard } from '../shell/Guard.tsx';
import { CodeBlock } from './CodeBlock.tsx';
import { safeLink } from './safeLink.ts';
import { Table } from './Table.tsx';

/**
 * An answer's Markdown as elements.
 *
 * A model may write anything, so nothing it writes is trusted: raw HTML stays text, a link leads only to the web or
 * to a mail, and a picture is offered as a link, because loading it would tell its server that it was seen. Each block
 * takes its own direction, wide tables and code scroll within themselves, and headings go below that of the page.
 *
 * Long answers grow word by word. They are cut into blocks that no later word can change, so that a new word costs
 * the last block only. A block that no page can nest, or that fails to be read, is shown as it was written; so is a text
 * as long as a book: the lines of a paragraph cost the square of their number, and one of a megabyte would stop the page
 * for minutes, each time that its chat is opened.
 */
export function Markdown({ text, growing = false }: MarkdownProps): ReactNode {
  if (isTooLong(text)) return <AsWritten text={text} />;
  const blocks = settledBlocks(growing ? withoutHalfTable(text) : text);
  const top = Math.min(...blocks.map(highestHeading));
  return (
    <div className="prose">
      {blocks.map((block, i) => (
        <Block key={i} text={block} top={top} />
      ))}
    </div>
  );
}

interface MarkdownProps {
  readonly text: string;
  /** Whether more words are on their way. */
  readonly growing?: boolean;
}

/** Characters of ordinary lines, and lines of the worst text, that are read in less than a second. */
const LONGEST = 200_000;
const MOST_LINES = 5000;

function isTooLong(text: string): boolean {
  return text.length > LONGEST || text.split('\n').length > MOST_LINES;
}

/** Whether a text is shown as it was written, because it is too long or nested too deep to be read as Markdown. */
export function isTooMuch(text: string): boolean {
  return isTooLong(text) || TOO_DEEP.test(text);
}

function AsWritten({ text }: { readonly text: string }): ReactNode {
  return (
    <p className="words" dir="auto">
      {text}
    </p>
  );
}

const Block = memo(function Block({ text, top }: { readonly text: string; readonly top: number }): ReactNode {
  const asWritten = <AsWritten text={text} />;
  if (TOO_DEEP.test(text)) return asWritten;
  return (
    <Guard renderFailure={() => asWritten}>
      <ReactMarkdown remarkPlugins={plugins} urlTransform={passLink} components={componentsUnder(top)}>
        {text}
      </ReactMarkdown>
    </Guard>
  );
});

/** Forty quotes and lists in each other on one line, or a hundred marks of stress on a word: parsers recurse. */
const TOO_DEEP = /^(?:[ \t]*(?:>|(?:[-+*]|\d{1,9}[.)])[ \t])){40}(?=.*\w)|[*_~]{100}[^\s*_~]/m;

/**
 * Cuts where a paragraph at the left margin follows a blank line outside of code: what stands before is finished.
 * A text with reference definitions or footnotes, which may reach over any distance, stays whole.
 */
export function settledBlocks(text: string): readonly string[] {
  if (/^ {0,3}\[[^\]]+\]:/m.test(text)) return [text];
  const blocks: string[] = [];
  let block = '';
  let fence: string | undefined;
  for (const line of text.split(/(?<=\n)/)) {
    if (fence === undefined && block.endsWith('\n\n') && /^[\p{L}#]/u.test(line)) {
      blocks.push(block);
      block = '';
    }
    fence = fenceAfter(line, fence);
    block += line;
  }
  return [...blocks, block];
}

/** The head of a table is bars and dashes until its first row begins: it waits for that outside of code. */
function withoutHalfTable(text: string): string {
  const lines = text.replace(/\n$/, '').split('\n');
  const begin = lines.findLastIndex((line) => !/^ {0,3}\|/.test(line)) + 1;
  const isHalf = begin < lines.length && lines.length - begin < 3;
  if (!isHalf || lines.reduce(openFence, undefined) !== undefined) return text;
  return lines.slice(0, begin).join('\n');
}

function openFence(open: string | undefined, line: string): string | undefined {
  return fenceAfter(line, open);
}

function fenceAfter(line: string, open: string | undefined): string | undefined {
  const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1];
  if (mark === undefined) return open;
  if (open === undefined) return mark;
  return mark.startsWith(open) ? undefined : open;
}

/** What Markdown may hold beyond its core: tables, task lists, struck words. */
export const plugins = [remarkGfm];

/** The address of a link that may be followed; '' for any other. */
export function passLink(address: string): string {
  return safeLink(address) ?? '';
}

function Link({ href, children }: ComponentProps<'a'>): ReactNode {
  const safe = safeLink(href);
  if (safe === undefined) return <span>{children}</span>;
  return (
    <a href={safe} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  );
}

function Picture({ src, alt }: ComponentProps<'img'>): ReactNode {
  return <Link href={typeof src === 'string' ? src : undefined}>{alt || 'Picture'}</Link>;
}

function Checkbox({ checked }: ComponentProps<'input'>): ReactNode {
  return (
    <span role="img" aria-label={checked ? 'Done' : 'Open'} className={checked ? 'task task-done' : 'task'} />
  );
}

const parts: Components = {
  a: ({ href, children }) => <Link href={href}>{children}</Link>,
  img: ({ src, alt }) => <Picture src={src} alt={alt} />,
  table: ({ node, children }) => <Table node={node}>{children}</Table>,
  input: ({ checked }) => <Checkbox checked={checked} />,
  pre: ({ node }) => <CodeBlock node={node} />,
  p: ({ children }) => <p dir="auto">{children}</p>,
  ul: ({ children }) => <ul dir="auto">{children}</ul>,
  ol: ({ children, start }) => (
    <ol dir="auto" start={start}>
      {children}
    </ol>
  ),
  blockquote: ({ children }) => <blockquote dir="auto">{children}</blockquote>,
  th: ({ children, style }) => (
    <th dir="auto" style={style}>
      {children}
    </th>
  ),
  td: ({ children, style }) => (
    <td dir="auto" style={style}>
      {children}
    </td>
  ),
};

/** The level of the highest heading in a text; 6 where there is none. */
export function highestHeading(text: string): number {
  const marks = text.match(/^ {0,3}#{1,6}(?=\s)/gm) ?? [];
  return Math.min(6, ...marks.map((mark) => mark.trim().length));
}

/**
 * Headings stand under the title of the chat, which is the page's first: the highest of an answer is a second, however
 * many marks it was written with. How large it looks follows the marks.
 */
export function componentsUnder(top: number): Components {
  return (known[top] ??= {
    ...parts,
    ...Object.fromEntries(LEVELS.map((level) => [`h${level}`, heading(level, top)])),
  });
}

const LEVELS = [1, 2, 3, 4, 5, 6] as const;
const known: Record<number, Components> = {};

function heading(level: number, top: number): (props: ComponentProps<'h2'>) => ReactNode {
  const Tag = `h${Math.min(6, Math.max(2, level - top + 2))}` as 'h2';
  return ({ children }) => (
    <Tag dir="auto" className={`heading-${level}`}>
      {children}
    </Tag>
  );
}
