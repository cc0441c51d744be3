import { useState } from 'react';

/** Runs what a person asked for, and keeps why it could not be done until the next one. */
export function useAttempt(): {
  readonly failure: string | undefined;
  readonly attempt: (act: () => Promise<unknown>) => void;
} {
  const [failure, setFailure] = useState<string>();
  const attempt = (act: () => Promise<unknown>): void => {
    act().then(
      () => setFailure(undefined),
      (error: unknown) => setFailure(error instanceof Error ? error.message : String(error)),
    );
  };
  return { failure, attempt };
}
