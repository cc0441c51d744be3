import type { GraphNode, Operation } from 'contextree';
import { plainLine } from './plainLine.ts';

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

/** Messages and operations in the order in which they were made. Both lists are in order already. */
export function stepsOf(nodes: readonly GraphNode[], operations: readonly Operation[]): readonly Step[] {
  const steps: Step[] = [];
  let done = 0;
  const operationsUpTo = (at: number): void => {
    for (let next = operations[done]; next && next.at <= at; next = operations[done]) {
      steps.push(operationStep(next));
      done += 1;
    }
  };
  for (const node of nodes) {
    operationsUpTo(node.at);
    steps.push(messageStep(node));
  }
  operationsUpTo(Number.POSITIVE_INFINITY);
  return steps;
}

function messageStep({ at, createdAt, role, content }: GraphNode): Step {
  return { at, time: createdAt, kind: role, label: plainLine(role, content) };
}

function operationStep({ at, kind, label, state }: Operation): Step {
  return { at, time: at, kind, label, state };
}
