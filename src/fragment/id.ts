/** A new id: a random UUID (version 4), also on pages without a secure context, where `randomUUID` is missing. */
export function createId(): string {
  return typeof crypto.randomUUID === 'function'
    ? crypto.randomUUID()
    : uuidOf(crypto.getRandomValues(new Uint8Array(16)));
}

/** Sixteen random bytes with the version and variant bits of a random UUID. */
function uuidOf(bytes: Uint8Array): string {
  const marked = Array.from(bytes, (byte, i) =>
    i === 6 ? (byte & 0x0f) | 0x40 : i === 8 ? (byte & 0x3f) | 0x80 : byte,
  );
  const hex = marked.map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
