/** How much room this app takes in the browser, in words. */
export async function spaceInWords(): Promise<string> {
  const usage = await bytesUsed();
  return usage === undefined
    ? 'This browser does not tell how much space is used.'
    : `${inUnits(usage)} of space used`;
}

async function bytesUsed(): Promise<number | undefined> {
  try {
    const { usage } = await navigator.storage.estimate();
    return usage;
  } catch {
    return undefined;
  }
}

/** Bytes as people say them, one digit after the point. */
export function inUnits(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  const units = ['kB', 'MB', 'GB', 'TB'];
  const power = Math.min(Math.floor(Math.log10(bytes) / 3), units.length);
  return `${(bytes / 1000 ** power).toFixed(1)} ${units[power - 1]}`;
}

/** Asks the browser not to clear this app's data by itself, and says what it answered. Never rejects. */
export async function askToKeep(): Promise<string> {
  try {
    if (await navigator.storage.persist()) return 'The browser will keep your data until you clear it.';
    return 'The browser did not promise to keep your data. It may clear it when space runs low; export what matters.';
  } catch {
    return 'This browser can’t promise to keep data. Export what matters.';
  }
}
