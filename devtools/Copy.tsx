import { type ReactNode, useEffect, useState } from 'react';
import { download } from './download.ts';
import { errorOf } from './reason.ts';
import { useShownIn } from './Styled.tsx';

/** A button that copies the result of `text`, and says whether that worked. */
export function Copy({ label, text }: CopyProps): ReactNode {
  const [outcome, setOutcome] = useState('');
  const { navigator } = useShownIn();
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
      <button onClick={() => void outcomeOf('Copied', writeClipboard(navigator, text)).then(setOutcome)}>
        {label}
      </button>
    </>
  );
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
export function Take({ what, json, isOff }: TakeProps): ReactNode {
  const shownIn = useShownIn();
  return (
    <>
      <Copy label="Copy JSON" text={json} />
      <button disabled={isOff} onClick={() => void json().then((text) => download(shownIn, what, text))}>
        Download
      </button>
    </>
  );
}

interface TakeProps {
  /** Part of the file's name. */
  readonly what: string;
  readonly json: () => Promise<string>;
  readonly isOff: boolean;
}

/** Pages outside of secure contexts have no clipboard. */
export async function writeClipboard(
  { clipboard }: Partial<Navigator>,
  text: CopyProps['text'],
): Promise<void> {
  if (!clipboard) throw new Error('This page has no clipboard.');
  await clipboard.writeText(await text());
}
