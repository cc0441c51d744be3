import type { ReactNode } from 'react';
import ReactMarkdown, { type Components, type ExtraProps } from 'react-markdown';
import { Guard } from '../shell/Guard.tsx';
import { componentsUnder, highestHeading, isTooMuch, passLink, plugins } from './Markdown.tsx';

type Element = NonNullable<ExtraProps['node']>;
type Child = Element['children'][number];
type Text = Extract<Child, { readonly type: 'text' }>;
type Parent = Pick<Element, 'children' | 'position'>;

/** A piece of a text, and whether it is marked. */
export interface Piece {
  readonly text: string;
  readonly isMarked: boolean;
}

/** An answer's Markdown, with the words of some pieces marked; as it was written where it can't be read. */
export function MarkedMarkdown({ pieces }: { readonly pieces: readonly Piece[] }): ReactNode {
  const text = pieces.map((piece) => piece.text).join('');
  const asWritten = <MarkedText pieces={pieces} />;
  if (isTooMuch(text)) return asWritten;
  const marking = () => (tree: Parent) => mark(tree, text, rangesOf(pieces));
  return (
    <Guard renderFailure={() => asWritten}>
      <div className="prose">
        <ReactMarkdown
          remarkPlugins={plugins}
          rehypePlugins={[marking]}
          urlTransform={passLink}
          components={{ ...componentsUnder(highestHeading(text)), ...plainCode }}
        >
          {text}
        </ReactMarkdown>
      </div>
    </Guard>
  );
}

/** A text as it was written, with some pieces marked. */
export function MarkedText({ pieces }: { readonly pieces: readonly Piece[] }): ReactNode {
  const words = pieces.map(({ text, isMarked }, i) => (isMarked ? <mark key={i}>{text}</mark> : text));
  return (
    <p className="words" dir="auto">
      {words}
    </p>
  );
}

/** Code without its colours, which would leave no room for marks. */
const plainCode: Components = {
  pre: ({ children }) => (
    <pre dir="ltr" className="plain-code">
      {children}
    </pre>
  ),
};

type Range = readonly [from: number, to: number];

/** The ranges of the marked pieces in the text that all pieces make. */
function rangesOf(pieces: readonly Piece[]): readonly Range[] {
  let at = 0;
  return pieces.flatMap(({ text, isMarked }) => {
    const range: Range = [at, (at += text.length)];
    return isMarked ? [range] : [];
  });
}

function mark(parent: Parent, source: string, ranges: readonly Range[]): void {
  parent.children = parent.children.flatMap((child) => {
    if (child.type === 'element') mark(child, source, ranges);
    return child.type === 'text' ? marked(child, placeOf(child, parent, source), ranges) : child;
  });
}

/** Where a text is in the source; a block of code does not say it, and begins in the line after its fence. */
function placeOf({ value, position }: Text, { position: around }: Parent, source: string): Range {
  if (position) return [position.start.offset ?? 0, position.end.offset ?? 0];
  const at = source.indexOf(value.trimEnd(), source.indexOf('\n', around?.start.offset ?? 0));
  return [at, at + value.length];
}

/** A text of the source in pieces; a text that was written otherwise there (`&amp;`) is marked whole. */
function marked(text: Text, [from, to]: Range, ranges: readonly Range[]): Child[] {
  const { value } = text;
  const own = ranges.filter(([start, end]) => start < to && end > from);
  if (own.length === 0) return [text];
  if (to - from !== value.length) return [markOf(value)];
  const children: Child[] = [];
  let at = from;
  for (const [start, end] of own) {
    children.push(...textOf(value.slice(at - from, Math.max(start, from) - from)));
    at = Math.min(end, to);
    children.push(markOf(value.slice(Math.max(start, from) - from, at - from)));
  }
  return [...children, ...textOf(value.slice(at - from))];
}

function markOf(value: string): Element {
  return { type: 'element', tagName: 'mark', properties: {}, children: textOf(value) };
}

function textOf(value: string): Text[] {
  return value === '' ? [] : [{ type: 'text', value }];
}
