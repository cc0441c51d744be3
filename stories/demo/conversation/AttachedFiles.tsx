import type { ReactNode } from 'react';
import { notHeld } from '../shell/once.ts';
import { Icon } from '../ui/Icon.tsx';
import { usePassFocus } from '../ui/usePassFocus.ts';
import type { UnsentFile } from '../unsentFiles.ts';
import { isPicture } from './FilePart.tsx';
import { nameOf, type Attachments } from './useAttachments.ts';

/** The files that go with the next message; nothing where there are none. */
export function AttachedFiles({ attachments, onLast }: AttachedFilesProps): ReactNode {
  const { files, remove } = attachments;
  if (files.length === 0) return null;
  return (
    <ul className="attached" aria-label="Attached files">
      {files.map((file) => (
        <AttachedFile key={file.id} file={file} onRemove={() => remove(file)} onLast={onLast} />
      ))}
    </ul>
  );
}

function AttachedFile({ file, onRemove, onLast }: AttachedFileProps): ReactNode {
  const item = usePassFocus<HTMLLIElement>(onLast);
  const name = nameOf(file);
  return (
    <li ref={item} className="attached-file">
      {isPicture(file.part) ? <img src={file.part.url} alt="" /> : <Icon name="file" />}
      <span dir="auto" title={name}>
        {name}
      </span>
      <button
        type="button"
        className="icon-button"
        aria-label={`Remove ${name}`}
        title={`Remove ${name}`}
        onKeyDown={notHeld}
        onClick={onRemove}
      >
        <Icon name="close" />
      </button>
    </li>
  );
}

interface AttachedFilesProps {
  readonly attachments: Attachments;
  /** Takes the focus when the last file goes away with it. */
  readonly onLast: () => void;
}

interface AttachedFileProps extends Pick<AttachedFilesProps, 'onLast'> {
  readonly file: UnsentFile;
  readonly onRemove: () => void;
}
