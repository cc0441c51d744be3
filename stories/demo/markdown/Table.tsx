import type { CSSProperties, ReactNode } from 'react';
import type { ExtraProps } from 'react-markdown';
import { textIn } from './textIn.ts';

type Element = NonNullable<ExtraProps['node']>;

/**
 * A table that keeps its column widths while it grows.
 *
 * A browser sizes columns by all of their cells, so each word that streams in would move every other one. The head is there
 * from the first moment: its words share the width, and cells wrap within it.
 */
export function Table({ node, children }: TableProps): ReactNode {
  const widths = node === undefined ? [] : columnWidths(node);
  const whole = widths.reduce((sum, width) => sum + width, 0);
  return (
    <div className="table-scroll" role="group" aria-label="Table" tabIndex={0}>
      <table style={{ '--least': `${whole}ch` } as CSSProperties}>
        <colgroup>
          {widths.map((width, i) => (
            <col key={i} style={{ inlineSize: `${(100 * width) / whole}%` }} />
          ))}
        </colgroup>
        {children}
      </table>
    </div>
  );
}

/** How wide each column wants to be at least, in characters: its head, and room for a word of its cells. */
function columnWidths(table: Element): readonly number[] {
  const heads = descendants(table).filter(({ tagName }) => tagName === 'th');
  return heads.map((head) => 8 + Math.min(textIn(head).length, 24));
}

function descendants(element: Element): readonly Element[] {
  return element.children.flatMap((child) =>
    child.type === 'element' ? [child, ...descendants(child)] : [],
  );
}

interface TableProps {
  readonly node: Element | undefined;
  readonly children?: ReactNode;
}
