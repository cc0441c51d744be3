// Numbers for people: short, and not more exact than they are.

/** Tokens, messages and other counts: `812`, `1.2k`, `61k`, `1.2M`. */
export function count(number: number): string {
  return compact.format(number).replace('K', 'k');
}

const compact: Intl.NumberFormat = /* @__PURE__ */ new Intl.NumberFormat('en', {
  notation: 'compact',
  maximumFractionDigits: 1,
});

/** The age of a moment, given in ms since epoch: `now`, `5 min`, `3 h`, `2 d`, `1 y`. */
export function age(at: number, now: number = Date.now()): string {
  const minutes = (now - at) / 60_000;
  const unit = UNITS.find(([, size]) => minutes >= size);
  return unit ? `${Math.floor(minutes / unit[1])} ${unit[0]}` : 'now';
}

/** Units of time, and their sizes in minutes. */
const UNITS = [
  ['y', 525_600],
  ['d', 1440],
  ['h', 60],
  ['min', 1],
] as const;

/** `1 message`, `2,000 messages`. */
export function counted(number: number, one: string, many: string = `${one}s`): string {
  return `${exactly(number)} ${number === 1 ? one : many}`;
}

/** A number for people: `10,482`. */
export function exactly(value: number): string {
  return value.toLocaleString('en');
}
