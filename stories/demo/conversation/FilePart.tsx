import type { FileUIPart } from 'ai';
import type { ReactNode } from 'react';
import { safeLink } from '../markdown/safeLink.ts';
import { Icon } from '../ui/Icon.tsx';

/**
 * A file of a message: a picture as a picture, anything else by its name, to be taken along.
 *
 * Only what lies in the message itself is shown as a picture: one that lies elsewhere would tell its host who looks.
 */
export function FilePart({ part }: { readonly part: FileUIPart }): ReactNode {
  const name = part.filename ?? part.mediaType;
  if (isPicture(part))
    return (
      <a className="picture" href={part.url} download={name} title={`Download ${name}`}>
        <img src={part.url} alt={name} />
      </a>
    );
  const address = part.url.startsWith('data:') ? part.url : safeLink(part.url);
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
export function isPicture({ mediaType, url }: FileUIPart): boolean {
  return /^image\/(png|jpeg|gif|webp|avif|svg\+xml|bmp)$/.test(mediaType) && url.startsWith('data:image/');
}
