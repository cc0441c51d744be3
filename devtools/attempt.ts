import { useState } from 'react';

/** Runs a person's actions, and keeps the last failure until the next action. */
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
