// Durations and costs for rows: short, and not more exact than they are.

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
