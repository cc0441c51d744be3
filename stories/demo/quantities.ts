/** Bytes as people say them, one digit after the point. */
export function inUnits(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  const units = ['kB', 'MB', 'GB', 'TB'];
  const power = Math.min(Math.floor(Math.log10(bytes) / 3), units.length);
  return `${(bytes / 1000 ** power).toFixed(1)} ${units[power - 1]}`;
}

/** For example "1 chat with 2 messages". */
export function counted(chats: number, messages: number): string {
  return `${plural(chats, 'chat')} with ${plural(messages, 'message')}`;
}

function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}
