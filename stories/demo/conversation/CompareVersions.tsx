import { useEngine, type ContextEngine } from 'contextree';
import { useEffect, useId, useState, type ReactNode } from 'react';
import { useAttempt } from '../shell/useAttempt.ts';
import { MarkedMarkdown, MarkedText, type Piece } from '../markdown/MarkedMarkdown.tsx';
import { plainText } from '../stored.ts';
import { Dialog } from '../ui/Dialog.tsx';
import type { Versions } from './useVersions.ts';

/**
 * Two versions of a message side by side, the words that differ marked in each: the shown one, and the one before it or
 * else the one after it. With more than two, each side can be another one.
 */
export function CompareVersions({ versions, beside, onClose, onKept }: CompareVersionsProps): ReactNode {
  const { index, siblings, select } = versions;
  const [[left, right], setShown] = useState<Pair>(() => pairOf(index, beside));
  const texts = useTexts(siblings);
  const difference = useDifference(texts?.[left], texts?.[right]);
  const isAnswer = useEngine().node(siblings[index] ?? '')?.name === 'assistant';
  const attempt = useAttempt();
  const keep = (version: number): void => {
    onClose();
    if (version === index) return;
    onKept(version);
    attempt(() => select(version));
  };
  const side = (version: number, other: number, which: 0 | 1): ReactNode => (
    <Side
      version={version}
      other={other}
      count={siblings.length}
      pieces={difference?.[which]}
      isAnswer={isAnswer}
      isShown={version === index}
      onChoose={(next) => setShown(which === 0 ? [next, right] : [left, next])}
      onKeep={() => keep(version)}
    />
  );
  return (
    <Dialog title="Compare versions" isWide onClose={onClose}>
      <div className="compare">
        {side(left, right, 0)}
        {side(right, left, 1)}
      </div>
      <div className="form-actions">
        <button type="button" className="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

/** The shown version and another one, the older first. */
function pairOf(index: number, beside = index > 0 ? index - 1 : 1): Pair {
  return beside < index ? [beside, index] : [index, beside];
}

function Side({ version, other, count, pieces, isAnswer, isShown, onChoose, onKeep }: SideProps): ReactNode {
  const name = `Version ${version + 1}`;
  const textId = useId();
  const Marked = isAnswer ? MarkedMarkdown : MarkedText;
  return (
    <section className="compare-side" aria-label={name}>
      <header>
        {count > 2 ? (
          <select
            className="select"
            aria-label="Version to compare"
            value={version}
            onChange={(event) => onChoose(Number(event.target.value))}
          >
            {Array.from({ length: count }, (_, i) => (
              <option key={i} value={i} disabled={i === other}>
                Version {i + 1}
              </option>
            ))}
          </select>
        ) : (
          <h3>{name}</h3>
        )}
        {isShown && <small>shown</small>}
        <button type="button" className="button" aria-describedby={textId} onClick={onKeep}>
          Keep this one
        </button>
      </header>
      <div
        id={textId}
        className="compare-text"
        dir="auto"
        tabIndex={0}
        role="group"
        aria-label={`${name}, text`}
      >
        {pieces === undefined ? 'Loading…' : <Marked pieces={pieces} />}
      </div>
    </section>
  );
}

/** What all versions say; undefined while it is read. */
function useTexts(siblings: readonly string[]): readonly string[] | undefined {
  const engine = useEngine();
  const [texts, setTexts] = useState<readonly string[]>();
  useEffect(() => {
    let isGone = false;
    void Promise.all(siblings.map((key) => textOf(engine, key))).then((read) => isGone || setTexts(read));
    return () => {
      isGone = true;
    };
  }, [engine, siblings]);
  return texts;
}

/** A version that is not saved yet is in this page only. */
async function textOf(engine: ContextEngine, key: string): Promise<string> {
  const loaded = engine.message(key);
  if (loaded) return plainText(loaded);
  const stored = await engine.store.getMessage(engine.chatId, key).catch(() => undefined);
  return stored ? plainText(stored.data) : '';
}

/** What differs, once the code that finds it has come; until then, and without it, nothing is marked. */
function useDifference(
  left: string | undefined,
  right: string | undefined,
): readonly [readonly Piece[], readonly Piece[]] | undefined {
  const [found, setFound] = useState<{ readonly of: string; readonly sides: readonly [Piece[], Piece[]] }>();
  const of = `${left}\0${right}`;
  useEffect(() => {
    if (left === undefined || right === undefined) return;
    let isGone = false;
    void differenceOf(left, right).then((sides) => isGone || setFound({ of, sides }));
    return () => {
      isGone = true;
    };
  }, [left, right, of]);
  return found?.of === of ? found.sides : undefined;
}

async function differenceOf(left: string, right: string): Promise<readonly [Piece[], Piece[]]> {
  try {
    const { diffWordsWithSpace } = await import('diff');
    const changes = diffWordsWithSpace(left, right, { timeout: 500 }) ?? [
      { value: left, added: false, removed: true },
      { value: right, added: true, removed: false },
    ];
    return [
      changes.filter(({ added }) => !added).map(({ value, removed }) => ({ text: value, isMarked: removed })),
      changes.filter(({ removed }) => !removed).map(({ value, added }) => ({ text: value, isMarked: added })),
    ];
  } catch {
    return [[{ text: left, isMarked: false }], [{ text: right, isMarked: false }]];
  }
}

/** Places of two versions, from 0. */
type Pair = readonly [left: number, right: number];

interface CompareVersionsProps {
  readonly versions: Versions;
  /** The version to show beside it at first, by its place from 0; default the one before it. */
  readonly beside?: number;
  readonly onClose: () => void;
  /** Another version than the shown one was chosen, by its place from 0. */
  readonly onKept: (version: number) => void;
}

interface SideProps {
  readonly version: number;
  readonly other: number;
  readonly count: number;
  /** Undefined while they are found. */
  readonly pieces: readonly Piece[] | undefined;
  /** Whether they are Markdown. */
  readonly isAnswer: boolean;
  readonly isShown: boolean;
  readonly onChoose: (version: number) => void;
  readonly onKeep: () => void;
}
