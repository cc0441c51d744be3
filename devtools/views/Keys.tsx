import { type Fact, factList } from '../kit.tsx';
import type { EngineState } from 'contextree';
import type { ReactNode } from 'react';
import { branchOff } from '../branching.ts';

/** The keys of the list while it has the focus. */
const KEYS: readonly (readonly [keys: string, does: string])[] = [
  ['↑ ↓ Home End', 'select'],
  ['Space', 'read'],
  ['Enter', 'check out'],
  ['← →', 'fold, unfold'],
  ['[ ]', 'previous, next fork'],
  ['h', 'go to what the app shows'],
  ['/', 'search'],
  ['b', 'branch from here'],
  ['c', 'checkpoint here'],
  ['d', 'mark for compare; on another, compare'],
  ['y', 'copy the text'],
  ['u', 'undo'],
  ['Esc', 'follow the app'],
  ['?', 'this help'],
];

/** All keys of the graph, and why one of them is off. */
export function keysHelp(state: EngineState): ReactNode {
  const off = branchOff(state);
  const facts = KEYS.map(([keys, does]): Fact => [
    keys,
    <>
      {does}
      {keys === 'b' && off !== undefined && <span className="warn"> - off: {off}</span>}
    </>,
  ]);
  return factList(facts, 'Keys');
}
