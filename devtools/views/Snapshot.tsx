import { maskSecrets } from 'contextree';
import type { Session } from 'contextree/session';
import { type ReactNode, useRef, useState } from 'react';
import { outcomeOf, Take } from '../Copy.tsx';
import { download } from '../download.ts';
import { logOf } from '../events.ts';
import { hitAfter } from '../hits.ts';
import { Check, SearchField } from '../kit.tsx';
import { instead, useAnswer } from '../live.tsx';
import { useShownIn } from '../Styled.tsx';
import { openCopy } from '../sessionCopy.ts';
import { findRows } from '../treeRows.ts';
import type { ViewProps } from '../view.ts';
import { Tree } from './Tree.tsx';

/** Everything that the engine knows of its context, as `inspect()` returns it: now, or at the selected message. */
export function Snapshot({ engine, state, sight, onLook, onCopy }: ViewProps): ReactNode {
  const at = sight.node;
  const answer = useAnswer(() => engine.inspect({ at }), [engine, at, state]);
  const { value } = answer;
  const [withSecrets, setWithSecrets] = useState(false);
  const [shown, setShown] = useState<string>();
  return (
    <>
      <div className="bar">
        <Search value={value} shown={shown} onShow={setShown} />
        <Check checked={withSecrets} onChange={() => setWithSecrets(!withSecrets)}>
          with secrets
        </Check>
        <Take what="snapshot" json={() => jsonOf(value, withSecrets)} disabled={!value} />
      </div>
      {at !== undefined && (
        <div className="bar">
          <span className="grow muted">At the selected message</span>
          <button className="quiet" onClick={() => onLook({ node: undefined })}>
            Follow the app
          </button>
        </div>
      )}
      {instead(answer)}
      {value && <Tree label="Snapshot" value={value} opened={opened} shown={shown} />}
      <SessionFile engine={engine} withSecrets={withSecrets} onCopy={onCopy} />
    </>
  );
}

/** The paths that are open at first: they identify the chat. */
const opened: readonly string[] = ['/meta', '/estimate'];

async function jsonOf(value: unknown, withSecrets: boolean): Promise<string> {
  return JSON.stringify(withSecrets ? value : await maskSecrets(value), null, 2) ?? '';
}

interface SearchProps {
  readonly value: unknown;
  /** The path of the hit that was gone to. */
  readonly shown: string | undefined;
  readonly onShow: (path: string | undefined) => void;
}

/** Finds keys and values, folded ones too, and steps through them. */
function Search({ value, shown, onShow }: SearchProps): ReactNode {
  const [words, setWords] = useState('');
  const wanted = words.trim();
  const { value: answer } = useAnswer(
    async (signal) => ({
      of: wanted,
      paths: wanted === '' ? [] : await findRows(value, wanted, { most: MOST, signal }),
    }),
    [value, wanted],
  );
  const found = answer?.paths ?? [];
  return (
    <SearchField
      label="Search the snapshot"
      placeholder="Search"
      value={words}
      onChange={(some) => {
        setWords(some);
        onShow(undefined);
      }}
      found={wanted === '' ? undefined : answer?.of === wanted ? found.length : -1}
      most={MOST}
      at={found.indexOf(shown ?? '')}
      onStep={(by) => onShow(hitAfter(found, shown, by))}
    />
  );
}

/** The most hits to step through. */
const MOST = 500;

interface SessionFileProps extends Pick<ViewProps, 'engine' | 'onCopy'> {
  readonly withSecrets: boolean;
}

/** Exports the chat and its surroundings as one file for a bug report, and opens such a file. */
function SessionFile({ engine, withSecrets, onCopy }: SessionFileProps): ReactNode {
  const [told, setTold] = useState('');
  const shownIn = useShownIn();
  const input = useRef<HTMLInputElement>(null);
  const save = async (): Promise<string> => {
    const session = await exported(engine, !withSecrets);
    download(shownIn, 'session', JSON.stringify(session));
    return maskedIn(session);
  };
  const onSave = (): void => {
    setTold('Exporting…');
    void outcomeOf('Exported', save()).then(setTold);
  };
  return (
    <footer className="bar">
      <span className="grow" role="status">
        {told}
      </span>
      <button onClick={onSave}>Export session</button>
      <button onClick={() => input.current?.click()}>Open session…</button>
      <input
        ref={input}
        type="file"
        accept=".json,application/json"
        aria-label="Session file"
        hidden
        onChange={({ target }) => {
          void openCopy(target.files?.[0], onCopy);
          target.value = '';
        }}
      />
    </footer>
  );
}

async function exported(engine: ViewProps['engine'], mask: boolean): Promise<Session> {
  const { exportSession } = await import('contextree/session');
  const events = logOf(engine)
    .list()
    .map(({ event }) => event);
  return exportSession(engine, { mask, events });
}

/** What was masked, for people. */
function maskedIn({ masked }: Session): string {
  if (!masked) return ' with secrets';
  const kinds = Object.entries(masked).map(([kind, count]) => `${kind} ×${count}`);
  return `. Masked: ${kinds.join(', ') || 'nothing'}`;
}
