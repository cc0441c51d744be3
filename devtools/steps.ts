import type { GraphNode, Operation } from 'contextree';
import { escaped, plainLine } from './plainLine.ts';

/** One step of a chat: a message, or an operation on branches and checkpoints. */
export interface Step {
  /** Its time, as `graph({ at })` takes it. */
  readonly at: number;
  /** Its time for people, in ms since epoch. */
  readonly time: number;
  readonly kind: string;
  readonly label: string;
  /** The state of an operation; absent for messages. */
  readonly state?: Operation['state'];
}

/** Messages and operations in the order in which they were made. */
export function stepsOf(nodes: readonly GraphNode[], operations: readonly Operation[]): readonly Step[] {
  return [...operations.map(operationStep), ...nodes.map(messageStep)].toSorted((a, b) => a.at - b.at);
}

function messageStep({ at, createdAt, role, content }: GraphNode): Step {
  return { at, time: createdAt, kind: role, label: plainLine(role, content) };
}

function operationStep({ at, kind, label, state }: Operation): Step {
  return { at, time: at, kind, label: escaped(label), state };
}
