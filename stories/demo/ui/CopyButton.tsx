import { useEffect, useState, type ReactNode } from 'react';
import { useAnnounce } from '../shell/Announcer.tsx';
import { Icon } from './Icon.tsx';

/** Puts a text on the clipboard, and says whether that worked. */
export function CopyButton({ label, text, hasWord = false }: CopyButtonProps): ReactNode {
  const [copied, setCopied] = useState(false);
  const announce = useAnnounce();
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1500);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async (): Promise<void> => {
    const done = await toClipboard(text);
    setCopied(done);
    announce(done ? 'Copied' : 'The browser did not allow copying. Select the text and copy it by hand.');
  };
  return (
    <button
      type="button"
      className={hasWord ? 'word-button' : 'icon-button'}
      aria-label={label}
      title={hasWord ? undefined : label}
      onClick={() => void copy()}
    >
      <Icon name={copied ? 'check' : 'copy'} />
      <span className={hasWord ? undefined : 'word'}>{copied ? 'Copied' : label}</span>
    </button>
  );
}

interface CopyButtonProps {
  readonly label: string;
  readonly text: string;
  /** Whether the label is shown, also where there is room for a drawing only. */
  readonly hasWord?: boolean;
}

async function toClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
