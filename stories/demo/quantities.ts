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

/** For example "2 messages". */
export function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}

/** A time as people say it, of ms: "0.2 s", "3 s", "2 min". */
export function seconds(ms: number): string {
  if (ms < 9_950) return `${Math.max(0.1, ms / 1000).toFixed(1)} s`;
  return ms < 120_000 ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 60_000)} min`;
}

/** How long ago something was, for example "5 min ago". */
export function age(then: number, now: number = Date.now()): string {
  const minutes = Math.floor((now - then) / 60_000);
  if (minutes < 1) return 'just now';
  if (minutes < 60) return `${minutes} min ago`;
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h ago`;
  const days = Math.floor(minutes / (24 * 60));
  return days < 30 ? `${plural(days, 'day')} ago` : new Date(then).toLocaleDateString();
}
