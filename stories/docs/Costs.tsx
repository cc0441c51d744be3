import { Fragment, type ReactNode } from 'react';
import own from '../../test/bench/RESULTS.md?raw';
import peers from '../../test/bench/peers/RESULTS.md?raw';
import { readCosts } from './costs.ts';
import './docs.css';

/** What is promised of the store's speed and size, and each figure that was measured, also where it was not kept. */
export function Costs(): ReactNode {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">what</th>
          <th scope="col">promise</th>
          <th scope="col">measured</th>
        </tr>
      </thead>
      <tbody>
        {readCosts(own, peers).map(({ what, promise, measured }) => (
          <tr key={what}>
            <td>{what.replaceAll('`', '')}</td>
            <td>{promise}</td>
            <td>
              {measured.map(({ place, figures, isKept }, i) => (
                <Fragment key={place}>
                  {i === 0 ? null : <br />}
                  {place}: {figures}
                  {isKept ? '' : ' (not kept)'}
                </Fragment>
              ))}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
