/** A new id for this device: 32 random hexadecimal digits. Works on pages without a secure context, too. */
export function createDeviceId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
