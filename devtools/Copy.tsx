import { type ReactNode, useEffect, useState } from 'react';
import { download } from './download.ts';
import { errorOf } from './reason.ts';
import { useShownIn } from './Styled.tsx';

/** A button that copies the result of `text`, and says whether that worked. */
export function Copy({ label, text }: CopyProps): ReactNode {
  const { navigator } = useShownIn();
  return <Act label={label} done="Copied" act={() => writeClipboard(navigator, text)} />;
}

/** A button that says for a while how its act ended. */
export function Act({ label, done, act, disabled }: ActProps): ReactNode {
  const [outcome, setOutcome] = useState('');
  useEffect(() => {
    if (!outcome) return undefined;
    const timer = setTimeout(() => setOutcome(''), 2_000);
    return () => clearTimeout(timer);
  }, [outcome]);
  return (
    <>
      <span role="status" className="muted">
        {outcome}
      </span>
      <button disabled={disabled} onClick={() => void outcomeOf(done, act()).then(setOutcome)}>
        {label}
      </button>
    </>
  );
}

interface ActProps {
  readonly label: string;
  readonly done: string;
  readonly act: () => Promise<void>;
  readonly disabled?: boolean;
}

interface CopyProps {
  readonly label: string;
  readonly text: () => string | Promise<string>;
}

/** How an act ended, for people: `Saved`, and what the act tells beside, or `Not saved` and why. */
export function outcomeOf(done: string, act: Promise<string | void>): Promise<string> {
  return act.then(
    (told = '') => done + told,
    (error: unknown) => `Not ${done.toLowerCase()}: ${errorOf(error).message}`,
  );
}

/** Two buttons that copy JSON, and download it; it is written when one of them is pressed, because much of it takes a while. */
export function Take({ what, json, disabled }: TakeProps): ReactNode {
  const shownIn = useShownIn();
  return (
    <>
      <Copy label="Copy JSON" text={json} />
      <Act
        label="Download"
        done="Saved"
        act={async () => download(shownIn, what, await json())}
        disabled={disabled}
      />
    </>
  );
}

interface TakeProps {
  /** Part of the file's name. */
  readonly what: string;
  readonly json: () => Promise<string>;
  readonly disabled: boolean;
}

/** Pages outside of secure contexts have no clipboard. */
export async function writeClipboard(
  { clipboard }: Partial<Navigator>,
  text: CopyProps['text'],
): Promise<void> {
  if (!clipboard) throw new Error('This page has no clipboard.');
  await clipboard.writeText(await text());
}
