import type { ReactNode } from 'react';

/** A table of figures: the names of its columns, and rows, each of which begins with its subject. */
export function Table({ className, label, heads, rows }: TableProps): ReactNode {
  return (
    <table className={className} aria-label={label}>
      <thead>
        <tr>
          {heads.map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, ...cells], i) => (
          <tr key={i}>
            <th scope="row" dir="auto">
              {name}
            </th>
            {cells.map((cell, at) => (
              <td key={at}>{cell}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface TableProps {
  readonly className?: string;
  readonly label?: string;
  readonly heads: readonly string[];
  readonly rows: readonly (readonly ReactNode[])[];
}
