/** A number for people: `10,482`. */
export function number(value: number): string {
  return value.toLocaleString('en');
}

/** Bytes in steps of a thousand: `512 bytes`, `18.4 MB`. */
export function bytesOf(bytes: number): string {
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), 3);
  return `${(bytes / 1000 ** power).toFixed(power && 1)} ${['bytes', 'kB', 'MB', 'GB'][power]}`;
}
