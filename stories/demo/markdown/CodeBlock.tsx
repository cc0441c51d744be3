import type { ReactNode } from 'react';
import type { ExtraProps } from 'react-markdown';
import { CopyButton } from '../ui/CopyButton.tsx';
import { textIn } from './textIn.ts';

type Element = NonNullable<ExtraProps['node']>;

/** A block of code as it was written, with its language and a way to take it along. */
export function CodeBlock({ node }: { readonly node: Element | undefined }): ReactNode {
  const code = node === undefined ? '' : textIn(node).replace(/\n$/, '');
  const language = node === undefined ? undefined : languageOf(node);
  return (
    <div className="code-block" dir="ltr">
      <div className="code-head">
        <span>{language ?? 'text'}</span>
        <CopyButton label="Copy code" text={code} />
      </div>
      <pre role="group" aria-label="Code" tabIndex={0}>
        <code>{code}</code>
      </pre>
    </div>
  );
}

function languageOf(pre: Element): string | undefined {
  const code = pre.children.find((child) => child.type === 'element');
  const classes = code?.properties['className'];
  const prefix = 'language-';
  const name = Array.isArray(classes)
    ? classes.map(String).find((name) => name.startsWith(prefix))
    : undefined;
  return name?.slice(prefix.length);
}
