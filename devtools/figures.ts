// Numbers as a person reads them in a row: short, and never more exact than they are.

/** Tokens, messages and the like: `812`, `1.2k`, `61k`, `1.2M`. */
export function count(number: number): string {
  return compact.format(number).replace('K', 'k');
}

const compact: Intl.NumberFormat = /* @__PURE__ */ new Intl.NumberFormat('en', {
  notation: 'compact',
  maximumFractionDigits: 1,
});

/** How long ago a moment was, in ms since epoch: `now`, `5 min`, `3 h`, `2 d`, `1 y`. */
export function age(at: number, now: number = Date.now()): string {
  const minutes = Math.floor((now - at) / 60_000);
  if (minutes < 1) return 'now';
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours} h`;
  const days = Math.floor(hours / 24);
  return days < 365 ? `${days} d` : `${Math.floor(days / 365)} y`;
}

/** `1 message`, `2 messages`. */
export function counted(number: number, one: string, many: string = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}
