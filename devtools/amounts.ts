// Amounts for people: short, and not more exact than they are.

/** Bytes in steps of a thousand: `512 bytes`, `18.4 MB`. */
export function bytesOf(bytes: number): string {
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), 3);
  return `${(bytes / 1000 ** power).toFixed(power && 1)} ${['bytes', 'kB', 'MB', 'GB'][power]}`;
}

/** A number of milliseconds: `320 ms`, `1.2 s`, `2 min 5 s`. */
export function span(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

/** US dollars: `$0.0041`, `$1.20`. */
export function dollars(cost: number): string {
  if (cost > 0 && cost < 0.0001) return '<$0.0001';
  return `$${cost.toFixed(cost < 0.1 ? 4 : 2)}`;
}

/** A time of day: `14:03:59`. */
export function clock(at: number): string {
  return new Date(at).toLocaleTimeString('en', { hour12: false });
}
