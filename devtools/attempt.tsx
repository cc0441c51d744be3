import { type ReactNode, useState } from 'react';
import { errorOf } from './reason.ts';

/** Runs a person's actions, and shows the last failure until the next action, or until the person closes it. */
export function useAttempt(): {
  readonly alert: ReactNode;
  readonly attempt: (act: () => Promise<unknown>) => void;
} {
  const [failure, setFailure] = useState<string>();
  const close = (): void => setFailure(undefined);
  const attempt = (act: () => Promise<unknown>): void => {
    act().then(close, (error: unknown) => setFailure(errorOf(error).message));
  };
  return { alert: failure !== undefined && <Alert onClose={close}>{failure}</Alert>, attempt };
}

/** Says what failed. */
export function Alert({ children, onClose }: AlertProps): ReactNode {
  return (
    <div className="alert" role="alert">
      {children}
      {onClose && <button className="icon close" aria-label="Close the message" onClick={onClose} />}
    </div>
  );
}

interface AlertProps {
  readonly children: ReactNode;
  readonly onClose?: () => void;
}
