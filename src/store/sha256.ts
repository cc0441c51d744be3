/** SHA-256 (FIPS 180-4) for pages outside of secure contexts, where the platform has none. A megabyte takes some ten ms. */
export function sha256(bytes: Uint8Array): Uint8Array {
  const state = firstBits(8, 1 / 2);
  const rounds = firstBits(64, 1 / 3);
  const padded = pad(bytes);
  const words = new Uint32Array(64);
  for (let at = 0; at < padded.byteLength; at += 64)
    mix(state, rounds, words, new DataView(padded.buffer, at));
  const digest = new DataView(new ArrayBuffer(32));
  for (const [i, word] of state.entries()) digest.setUint32(i * 4, word);
  return new Uint8Array(digest.buffer);
}

/** The first 32 bits of the fractional parts of square or cube roots of the first primes. */
function firstBits(count: number, power: number): Uint32Array {
  const bits: number[] = [];
  for (let n = 2; bits.length < count; n += 1) if (isPrime(n)) bits.push((n ** power % 1) * 2 ** 32);
  return Uint32Array.from(bits);
}

function isPrime(n: number): boolean {
  for (let d = 2; d * d <= n; d += 1) if (n % d === 0) return false;
  return true;
}

/** Appends a 1 bit, zeros, and the length in bits, up to a multiple of 64 bytes. */
function pad(bytes: Uint8Array): Uint8Array {
  const padded = new Uint8Array(Math.ceil((bytes.length + 9) / 64) * 64);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  new DataView(padded.buffer).setBigUint64(padded.length - 8, BigInt(bytes.length) * 8n);
  return padded;
}

function mix(state: Uint32Array, rounds: Uint32Array, words: Uint32Array, block: DataView): void {
  for (let i = 0; i < 64; i += 1) {
    const [before, recent] = [words[i - 15] ?? 0, words[i - 2] ?? 0];
    const small = turned(before, 7) ^ turned(before, 18) ^ (before >>> 3);
    const large = turned(recent, 17) ^ turned(recent, 19) ^ (recent >>> 10);
    words[i] = i < 16 ? block.getUint32(i * 4) : (words[i - 16] ?? 0) + small + (words[i - 7] ?? 0) + large;
  }
  let [a, b, c, d, e, f, g, h] = [...state] as Eight;
  for (let i = 0; i < 64; i += 1) {
    const chosen = (e & f) ^ (~e & g);
    const one =
      h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + chosen + (rounds[i] ?? 0) + (words[i] ?? 0);
    const two = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
  }
  for (const [i, word] of [a, b, c, d, e, f, g, h].entries()) state[i] = (state[i] ?? 0) + word;
}

type Eight = [number, number, number, number, number, number, number, number];

function turned(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}
