import { useEffect, useRef, type HTMLAttributes, type KeyboardEvent, type ReactNode } from 'react';
import type { ContextEngine } from '../engine/engine.ts';
import { useEngine } from './provider.tsx';
import { useMessageBranch } from './useMessageBranch.ts';

/** The texts of a {@link BranchPicker}, for other languages. */
export interface BranchPickerLabels {
  /** The name of the group of buttons. Default: `Versions`. */
  readonly group: string;
  /** Default: `Previous version`. */
  readonly previous: string;
  /** Default: `Next version`. */
  readonly next: string;
  /** What is announced when another version is shown; both count from 1. Default: `Version 2 of 3`. */
  readonly position: (version: number, count: number) => string;
}

/** Props of {@link BranchPicker}; all others go to its outermost element. */
export interface BranchPickerProps extends Omit<HTMLAttributes<HTMLDivElement>, 'children'> {
  readonly messageId: string;
  /** Default: the provider's. */
  readonly engine?: ContextEngine | undefined;
  readonly labels?: Partial<BranchPickerLabels> | undefined;
  readonly buttonClassName?: string | undefined;
  /** The content of the buttons; their names come from `labels`. Default: `‹` and `›`. */
  readonly icons?: { readonly previous: ReactNode; readonly next: ReactNode } | undefined;
}

const LABELS: BranchPickerLabels = {
  group: 'Versions',
  previous: 'Previous version',
  next: 'Next version',
  position: (version, count) => `Version ${version} of ${count}`,
};

/**
 * The pager of a message, `‹ 2 / 3 ›`, without a style of its own; renders nothing for a single version.
 *
 * Both buttons stay focusable at the ends; the left and right arrows, Home and End work on either. A hidden `status` at the end
 * of the page announces the version, and the focus stays on the pressed button: a list replaces the old message by the new one,
 * so the pager of the new one takes the focus.
 */
export function BranchPicker(props: BranchPickerProps): ReactNode {
  const { messageId, engine, labels, buttonClassName, icons = ARROWS, ...rest } = props;
  const chosen = useEngine(engine);
  const { index, count, siblings, hasSiblings, select } = useMessageBranch(messageId, chosen);
  const words = { ...LABELS, ...labels };
  const position = words.position(index + 1, count);
  const group = useArrival(chosen, siblings[index], position);
  if (!hasSiblings) return null;

  const go = (to: number): void => {
    const key = siblings[to];
    if (key === undefined || to === index) return;
    moves.set(chosen, { key, isForward: to > index });
    // The engine's state reports a failure.
    select(key).catch(() => {});
  };
  const press = (event: KeyboardEvent): void => {
    const to = targetOf(event, index, count);
    if (to === undefined) return;
    event.preventDefault();
    go(to);
  };
  const button = (to: number, name: string, icon: ReactNode): ReactNode => (
    <button
      type="button"
      className={buttonClassName}
      aria-label={name}
      aria-disabled={siblings[to] === undefined}
      onClick={() => go(to)}
      onKeyDown={press}
    >
      {icon}
    </button>
  );
  return (
    <div {...rest} ref={group} role="group" aria-label={words.group}>
      {button(index - 1, words.previous, icons.previous)}
      <span dir="ltr">{`${index + 1} / ${count}`}</span>
      {button(index + 1, words.next, icons.next)}
    </div>
  );
}

const ARROWS = { previous: '‹', next: '›' };

/** The version requested last with a pager of this engine, and its direction. */
const moves: WeakMap<ContextEngine, { readonly key: string; readonly isForward: boolean }> = new WeakMap();

/** If this pager belongs to the requested version, announces it and takes the focus. */
function useArrival(engine: ContextEngine, key: string | undefined, position: string) {
  const group = useRef<HTMLDivElement>(null);
  useEffect(holdRegion, []);
  useEffect(() => {
    if (!group.current) return;
    const move = moves.get(engine);
    if (!move || move.key !== key) return;
    moves.delete(engine);
    const [previous, next] = group.current.querySelectorAll('button');
    region?.replaceChildren(position);
    const { activeElement, body } = document;
    if (!activeElement || activeElement === body) (move.isForward ? next : previous)?.focus();
  }, [engine, key, position]);
  return group;
}

function targetOf(event: KeyboardEvent, index: number, count: number): number | undefined {
  const { key, altKey, ctrlKey, metaKey, currentTarget } = event;
  // With modifier keys the arrows belong to the browser.
  if (altKey || ctrlKey || metaKey) return undefined;
  const forward = getComputedStyle(currentTarget).direction === 'rtl' ? -1 : 1;
  const targets: Readonly<Record<string, number>> = {
    ArrowLeft: index - forward,
    ArrowRight: index + forward,
    Home: 0,
    End: count - 1,
  };
  return targets[key];
}

/**
 * Where versions are announced: one live region for all pagers, because a screen reader reads a region that changes, not one
 * that is added with its text. It outlives the last pager by a second.
 */
let region: HTMLElement | undefined;
let holders = 0;

function holdRegion(): () => void {
  holders += 1;
  if (!region?.isConnected) {
    region = document.body.appendChild(document.createElement('div'));
    region.setAttribute('role', 'status');
    region.style.cssText =
      'position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap';
  }
  return () => {
    holders -= 1;
    setTimeout(() => holders || region?.remove(), 1000);
  };
}
