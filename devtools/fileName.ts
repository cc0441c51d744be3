/** The name of a new file: `contextree-log-2026-11-26T0912.json`. */
export function fileName(what: string): string {
  const now = new Date().toISOString().slice(0, 16).replace(':', '');
  return `contextree-${what}-${now}.json`;
}
