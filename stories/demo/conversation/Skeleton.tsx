import type { ReactNode } from 'react';

/** The shape of a history that is being read. It appears after 150 ms (in the style sheet): most are faster. */
export function Skeleton(): ReactNode {
  return (
    <div className="skeleton" role="img" aria-label="Loading the conversation" aria-busy="true">
      {[38, 92, 64, 45, 88].map((width) => (
        <i key={width} style={{ inlineSize: `${width}%` }} />
      ))}
    </div>
  );
}
