import type { ExtraProps } from 'react-markdown';

/** What an element of parsed Markdown says, without its marks. */
export function textIn(element: NonNullable<ExtraProps['node']>): string {
  return element.children
    .map((child) => (child.type === 'text' ? child.value : child.type === 'element' ? textIn(child) : ''))
    .join('');
}
