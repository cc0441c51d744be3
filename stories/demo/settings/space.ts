import type { ContextStore, StorageFigures } from 'contextree';
import { counted, inUnits } from '../quantities.ts';

/** How much is stored, how much room it takes, and whether it is safe from the browser: a line each. */
export async function spaceInWords(store: ContextStore): Promise<readonly string[]> {
  const figures = await store.storage?.().catch(() => undefined);
  const usage = figures?.usage ?? (await bytesUsed());
  const space =
    usage === undefined
      ? 'This browser does not tell how much space is used.'
      : `${inUnits(usage)} of space used`;
  return figures ? [space, ...contentOf(figures)] : [space];
}

function contentOf({ chats, messages, blobs, persisted, quota }: StorageFigures): string[] {
  const files = blobs.count === 0 ? '' : `, attachments of ${inUnits(blobs.bytes)}`;
  return [
    ...(quota === undefined ? [] : [`${inUnits(quota)} is this app’s share`]),
    counted(chats, messages) + files,
    ...(persisted === true ? ['Kept until you clear it'] : []),
  ];
}

async function bytesUsed(): Promise<number | undefined> {
  try {
    const { usage } = await navigator.storage.estimate();
    return usage;
  } catch {
    return undefined;
  }
}

/** Asks the browser not to clear this app's data by itself, and says what it answered. */
export async function askToKeep(store: ContextStore): Promise<string> {
  return (await store.persist?.())
    ? 'The browser will keep your data until you clear it.'
    : 'The browser did not promise to keep your data. It may clear it when space runs low; export what matters.';
}
