import type { ReactNode } from 'react';
import { diffLines, type DiffLine } from './diff.ts';
import './docs.css';
import { sourceOf } from './sources.ts';

/** The app on plain `useChat`, and what makes it one that forgets nothing: the two files that the tests drive. */
export function AppDiff(): ReactNode {
  const [plain, ours] = [
    sourceOf('../../test/apps/PlainApp.tsx'),
    sourceOf('../../test/apps/ContextApp.tsx'),
  ];
  return (
    // Unstyled by Storybook, which would set code in black, also on a dark page.
    <pre className="diff sb-unstyled" tabIndex={0} role="region" aria-label="What changes in the app">
      {diffLines(plain, ours).map((line, i) => (
        <Line key={i} line={line} />
      ))}
    </pre>
  );
}

function Line({ line: { kind, text } }: { readonly line: DiffLine }): ReactNode {
  if (kind === 'removed') return <del>{`- ${text}\n`}</del>;
  if (kind === 'added') return <ins>{`+ ${text}\n`}</ins>;
  return <span>{`  ${text}\n`}</span>;
}
