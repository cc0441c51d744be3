/** A new id for this device: 32 random hexadecimal digits. Works on pages without a secure context, too. */
export function createDeviceId(): string {
  const words = crypto.getRandomValues(new Uint32Array(4));
  return Array.from(words, (word) => word.toString(16).padStart(8, '0')).join('');
}
