/** A new id: a random UUID (version 4), also on pages without a secure context, where `randomUUID` is missing. */
export function createId(): string {
  return typeof crypto.randomUUID === 'function' ? crypto.randomUUID() : TEMPLATE.replace(/[018]/g, digitFor);
}

/** The digits 0, 1 and 8 stand for random ones: 8 for one whose first two bits say which variant of UUID this is. */
const TEMPLATE = '10000000-1000-4000-8000-100000000000';

function digitFor(digit: string): string {
  const [random = 0] = crypto.getRandomValues(new Uint8Array(1));
  return (digit === '8' ? 8 + (random & 3) : random & 15).toString(16);
}
