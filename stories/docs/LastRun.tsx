import type { ReactNode } from 'react';
import './docs.css';
import run from './figures.json';

interface Figure {
  readonly what: string;
  readonly cases: number;
  readonly failed: number;
  /** When it ran, as in 2026-11-22. */
  readonly day: string;
}

const figures: readonly Figure[] = run.figures;

/** What the last run tried, and how much of it failed, as its reports tell. */
export function LastRun(): ReactNode {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">what ran</th>
          <th scope="col" align="right">
            cases
          </th>
          <th scope="col" align="right">
            failed
          </th>
          <th scope="col">day</th>
        </tr>
      </thead>
      <tbody>
        {figures.map(({ what, cases, failed, day }) => (
          <tr key={what}>
            <td>{what}</td>
            <td align="right">{cases.toLocaleString('en')}</td>
            <td align="right">{failed}</td>
            <td>
              <time dateTime={day}>{day}</time>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
