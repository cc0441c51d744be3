/**
 * The chat that a first visit opens on has an id and keys of its own, the same in every browser: made twice, by two tabs
 * that open at once, it is one chat.
 */
export const FIRST_CHAT = 'coffee-cart';

/** The messages of the first chat that something is said of elsewhere, by their number. */
export const FIRST = { fork: 3, slogan: 6, sign: 10, aside: 11, cups: 12 } as const;

/** The name of its checkpoint. */
export const FLAG = 'Name and slogan';

/** The key of a message of the first chat. */
export const firstKey = (number: number): string => `key:${uuid(number)}`;

/** A fixed UUID. */
export const uuid = (number: number): string => `c0ffee00-0000-4000-8000-${String(number).padStart(12, '0')}`;
