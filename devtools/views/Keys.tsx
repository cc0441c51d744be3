import { type Fact, factList } from '../kit.tsx';
import type { ReactNode } from 'react';

/** The keys of the list while it has the focus. */
const KEYS: readonly (readonly [keys: string, does: string])[] = [
  ['↑ ↓ Home End', 'select'],
  ['Space', 'read'],
  ['Enter', 'check out'],
  ['← →', 'fold and unfold'],
  ['[ ]', 'previous and next fork'],
  ['h', 'to the message that the app shows last'],
  ['/', 'search'],
  ['b', 'branch from here'],
  ['c', 'checkpoint here'],
  ['d', 'mark for compare; on another message, compare'],
  ['y', 'copy the text'],
  ['u', 'undo'],
  ['Esc', 'follow the app again'],
  ['?', 'show or hide this'],
];

/** All keys of the graph; `branchOff` is the reason why one of them is disabled. */
export function keysHelp(branchOff: string | undefined): ReactNode {
  const facts = KEYS.map(([keys, does]): Fact => [
    keys,
    <>
      {does}
      {keys === 'b' && branchOff !== undefined && <span className="warn"> - off: {branchOff}</span>}
    </>,
  ]);
  return factList(facts, 'Keys');
}
