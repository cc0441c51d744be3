import { useDeferredValue, useEffect, useState, type ReactNode } from 'react';
import type { ExtraProps } from 'react-markdown';
import { CopyButton } from '../ui/CopyButton.tsx';
import type * as Highlighting from './highlight.ts';
import { textIn } from './textIn.ts';

type Element = NonNullable<ExtraProps['node']>;

/** A block of code as it was written, with its language and colours, and a way to take it along. */
export function CodeBlock({ node }: { readonly node: Element | undefined }): ReactNode {
  const code = node === undefined ? '' : textIn(node).replace(/\n$/, '');
  const language = node === undefined ? undefined : languageOf(node);
  const [isWrapped, setWrapped] = useState(false);
  return (
    <div className="code-block" dir="ltr" data-wrapped={isWrapped || undefined}>
      <div className="code-head">
        <span>{language ?? 'text'}</span>
        <button
          type="button"
          className="word-button"
          aria-pressed={isWrapped}
          onClick={() => setWrapped(!isWrapped)}
        >
          Wrap
        </button>
        <CopyButton label="Copy code" text={code} hasWord />
      </div>
      <pre role="group" aria-label="Code" tabIndex={0}>
        <Code code={code} language={language} />
      </pre>
    </div>
  );
}

/** What is longer has no colours: they would come later than the reader. */
const LONGEST = 20_000;

function Code({
  code,
  language,
}: {
  readonly code: string;
  readonly language: string | undefined;
}): ReactNode {
  const highlighting = useHighlighting(language !== undefined);
  // Words that stream in wait for no colour.
  const settled = useDeferredValue(code);
  if (settled !== code || code.length > LONGEST || language === undefined) return <code>{code}</code>;
  const pieces = highlighting?.highlight(code, language.toLowerCase()) ?? [{ text: code }];
  return (
    <code>
      {pieces.map(({ text, kind }, i) =>
        kind === undefined ? (
          text
        ) : (
          <span key={i} data-kind={kind}>
            {text}
          </span>
        ),
      )}
    </code>
  );
}

let loaded: typeof Highlighting | undefined;

/** The code that colours code, once it has come; code without colours can be read as well. */
function useHighlighting(isWanted: boolean): typeof Highlighting | undefined {
  const [highlighting, setHighlighting] = useState(loaded);
  useEffect(() => {
    if (!isWanted || highlighting) return;
    let isGone = false;
    const load = async (): Promise<void> => {
      loaded = await import('./highlight.ts');
      if (!isGone) setHighlighting(loaded);
    };
    load().catch(() => {});
    return () => {
      isGone = true;
    };
  }, [isWanted, highlighting]);
  return highlighting;
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
