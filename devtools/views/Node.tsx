import { Alert } from '../attempt.tsx';
import { Scroll } from '../kit.tsx';
import { choice } from './choice.tsx';
import type { UIMessage } from 'ai';
import type { CallFacts, ContextEngine, EstimateResult, NodeInfo, Versions } from 'contextree';
import { type ReactNode, useMemo, useState } from 'react';
import { branchAt, branchOff } from '../branching.ts';
import { outcomeOf, writeClipboard } from '../Copy.tsx';
import { asCall, asMarkdown, chainAsJson } from '../exports.ts';
import { useAnswer } from '../live.tsx';
import { Menu, type MenuItem } from '../Menu.tsx';
import { textOf } from '../messageText.ts';
import { readMessage } from '../readMessage.ts';
import { useShownIn } from '../Styled.tsx';
import type { ViewProps } from '../view.ts';
import { EditBranch } from './EditBranch.tsx';
import { marksIn } from './Hidden.tsx';
import { holdersOf, nodeFacts } from './NodeFacts.tsx';
import { isTool, LongText, Part } from './Parts.tsx';
import { ReplayOf } from './Replay.tsx';
import { Revisions } from './Revisions.tsx';

/** All facts of one message: its content, how it was made, its cost, and the branches that hold it. */
export function Node(props: NodeProps): ReactNode {
  const { engine, state, messageKey, onBack, onCheckOut, attempt, onLook } = props;
  const { revision } = state;
  const moment = { engine, messageKey, revision };
  const [face, setFace] = useState<Face>('Parts');
  const [isEditing, setEditing] = useState(false);
  const { node, calls, versions, loaded } = knownAt(moment);
  // A loaded message is shown in the same frame as its new words.
  const since = loaded ? 0 : revision;
  const { value: read, error } = useAnswer(
    () => readMessage({ engine, messageKey }),
    [engine, messageKey, since],
  );
  const value = loaded ?? read;
  // A growing one is shown once a frame, and looked through when it has ended.
  const whole = node?.status === 'streaming' ? null : value;
  const { value: size } = useAnswer(
    () => whole && engine.estimate({ fragments: [], messages: [whole] }),
    [engine, whole],
  );
  const { branches, checkpoints } = state;
  const holders = useMemo(
    () => holdersOf(engine, branches, checkpoints, messageKey),
    [engine, branches, checkpoints, messageKey],
  );
  const { outcome, groups } = useActions(props, value, () => setEditing(true));
  if (!node) return null;
  const isHere = state.headKey === messageKey;
  const off = branchOff(state);
  const save = (parts: UIMessage['parts']): void => {
    setEditing(false);
    attempt(async () => onLook({ node: engine.node(await engine.edit(messageKey, { parts }))?.key }));
  };
  return (
    <section className="node" aria-label="Selected message">
      <div className="bar">
        {onBack && (
          // oxlint-disable-next-line jsx-a11y/no-autofocus -- it replaces the graph, where the focus was
          <button autoFocus onClick={onBack}>
            Back
          </button>
        )}
        <strong className="grow">{node.name}</strong>
        <span role="status" className="muted">
          {outcome}
        </span>
        <button disabled={isHere} onClick={onCheckOut}>
          {isHere ? 'Shown by the app' : 'Check out'}
        </button>
        <Menu label="Actions" groups={groups} />
      </div>
      <Scroll>
        {isEditing && value && (
          <EditBranch message={value} off={off} onSave={save} onClose={() => setEditing(false)} />
        )}
        {nodeFacts({ node, calls, versions }, value, holders, props.isTall)}
        {error && <Alert>The message could not be read: {error.message}</Alert>}
        {value && <div className="bar">{choice(FACES, face, setFace)}</div>}
        {value && (face === 'Parts' ? partsOf(value, calls, size) : shownAs(face, value, moment))}
        {value === null && !error && <p className="words">Its content is lost.</p>}
      </Scroll>
    </section>
  );
}

interface NodeProps extends ViewProps {
  readonly messageKey: string;
  /** Returns to the graph, where this view replaces it. */
  readonly onBack: (() => void) | undefined;
  /** Whether there is room for the facts above the words. */
  readonly isTall: boolean;
  readonly onCheckOut: () => void;
  /** Runs an action, and shows why it failed. */
  readonly attempt: (act: () => Promise<unknown>) => void;
}

/** The inputs of a query of the engine: after the next revision the result may differ. */
interface Moment {
  readonly engine: ContextEngine;
  readonly messageKey: string;
  readonly revision: number;
}

function knownAt({ engine, messageKey }: Moment): {
  readonly node: NodeInfo | undefined;
  readonly calls: readonly CallFacts[];
  readonly versions: Versions;
  readonly loaded: UIMessage | undefined;
} {
  return {
    node: engine.node(messageKey),
    calls: engine.calls(messageKey),
    versions: engine.siblings(messageKey),
    loaded: engine.message(messageKey),
  };
}

// ------------------------------------------------------------------ its content

const FACES = ['Parts', 'JSON', 'Revisions', 'Replay'] as const;

type Face = (typeof FACES)[number];

function shownAs(face: Face, message: UIMessage, moment: Moment): ReactNode {
  if (face === 'JSON')
    return (
      <div className="turn">
        <LongText text={JSON.stringify(message, null, 2)} code />
      </div>
    );
  if (face === 'Replay') return <ReplayOf {...moment} />;
  return <Revisions {...moment} message={message} />;
}

function partsOf(
  message: UIMessage,
  calls: readonly CallFacts[],
  size: EstimateResult | null | undefined,
): ReactNode {
  const shown = message.parts.filter((part) => Object(part).type !== 'step-start');
  const tools = shown.filter(isTool);
  const told = calls.flatMap(({ toolMs = [] }) => toolMs);
  if (shown.length === 0) return <p className="words">It has no parts.</p>;
  return shown.map((part, i) => {
    // Requests list the durations in the order of the calls: if some are missing, none can be assigned.
    const ms = told.length === tools.length ? told[tools.indexOf(part)] : null;
    return (
      <div key={i} className="turn">
        <Part part={part} ms={ms} marks={marksIn(size?.messages[0], message.parts.indexOf(part))} />
      </div>
    );
  });
}

// ------------------------------------------------------------------ its actions

/** The items of the menu, and the result of the last copy. */
function useActions(
  { engine, state, messageKey, sight, onLook, onOpen, attempt }: NodeProps,
  message: UIMessage | null | undefined,
  onEdit: () => void,
): { readonly outcome: string; readonly groups: Readonly<Record<string, readonly MenuItem[]>> } {
  const [outcome, setOutcome] = useState('');
  const { navigator } = useShownIn();
  const lost = message ? undefined : 'its content is lost';
  const off = branchOff(state);
  const copy = (label: string, text: () => string | Promise<string>, why?: string): MenuItem => ({
    label,
    off: why,
    run: () => void outcomeOf('Copied', writeClipboard(navigator, text)).then(setOutcome),
  });
  const isMarked = sight.against === messageKey;
  const groups: Record<string, readonly MenuItem[]> = {
    Do: [
      { label: 'Branch from here', off, run: () => attempt(() => branchAt(engine, state, messageKey)) },
      { label: 'Edit as a new branch', off: off ?? lost, run: onEdit },
      { label: 'Show the prompt here', run: () => onOpen('Prompt', { node: messageKey }) },
    ],
    Compare: [
      {
        label: isMarked ? 'Unmark' : 'Mark for compare',
        run: () => onLook({ against: isMarked ? undefined : messageKey }),
      },
      {
        label:
          sight.against === undefined || isMarked
            ? 'Compare with what the app shows'
            : 'Compare with the marked one',
        run: () => onOpen('Compare', { node: messageKey, ...(isMarked ? { against: undefined } : {}) }),
      },
    ],
    Copy: [
      copy('Text', () => (message ? textOf(message) : ''), lost),
      copy('JSON', () => JSON.stringify(message, null, 2), lost),
      copy('Markdown', () => (message ? asMarkdown(message) : ''), lost),
      copy('Chain as UIMessage[]', () => chainAsJson(engine, messageKey)),
      copy('generateText call', () => asCall(engine, messageKey)),
    ],
  };
  return { outcome, groups };
}
