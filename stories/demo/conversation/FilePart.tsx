import type { FileUIPart } from 'ai';
import type { ReactNode } from 'react';
import { safeLink } from '../markdown/safeLink.ts';
import { fileAddress, fileName } from '../stored.ts';
import { Icon } from '../ui/Icon.tsx';

/**
 * A file of a message: a picture is shown, any other file is offered by name.
 *
 * Only a picture inside of the message is shown: loading one from elsewhere would tell its host who looks.
 */
export function FilePart({ part }: { readonly part: FileUIPart }): ReactNode {
  const name = fileName(part);
  const url = fileAddress(part);
  if (isPicture(part))
    return (
      <a className="picture" href={part.url} download={name} title={`Download ${name}`}>
        <img src={part.url} alt={name} />
      </a>
    );
  const address = url?.startsWith('data:') ? url : safeLink(url);
  const chip = (
    <>
      <Icon name="file" />
      <span dir="auto">{name}</span>
    </>
  );
  if (address === undefined) return <span className="file">{chip}</span>;
  return (
    <a className="file" href={address} download={name} target="_blank" rel="noopener noreferrer">
      {chip}
    </a>
  );
}

/** Whether a file can be shown as a picture without asking anybody for it. */
export function isPicture(part: FileUIPart): boolean {
  const isKnown = /^image\/(png|jpeg|gif|webp|avif|svg\+xml|bmp)$/.test(part.mediaType);
  return isKnown && (fileAddress(part)?.startsWith('data:image/') ?? false);
}
