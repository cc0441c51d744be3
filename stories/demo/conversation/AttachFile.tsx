import { useRef, type ReactNode } from 'react';
import { Icon } from '../ui/Icon.tsx';

/** Lets the person choose files, as many as they like. */
export function AttachFile({ onAttach }: AttachFileProps): ReactNode {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button
        type="button"
        className="icon-button attach"
        aria-label="Attach file"
        title="Attach file"
        onClick={() => input.current?.click()}
      >
        <Icon name="clip" />
      </button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        onChange={({ currentTarget }) => {
          onAttach([...(currentTarget.files ?? [])]);
          // The same file may be chosen again after it was removed.
          currentTarget.value = '';
        }}
      />
    </>
  );
}

interface AttachFileProps {
  readonly onAttach: (files: readonly File[]) => unknown;
}
