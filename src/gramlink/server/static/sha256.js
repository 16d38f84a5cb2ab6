/* SHA-256 in pieces. The browser's own needs the whole file in memory, and a bundle may be
   larger than that. FIPS 180-4, section 6.2. */

const PRIMES = [];
for (let number = 2; PRIMES.length < 64; number++) {
  if (PRIMES.every((prime) => number % prime)) PRIMES.push(number);
}

// the first 32 bits of the fractional part of a root; doubles have 17 bits to spare for these
const fraction = (root) => ((root - Math.floor(root)) * 2 ** 32) | 0;
const ROUNDS = Int32Array.from(PRIMES, (prime) => fraction(Math.cbrt(prime)));
const START = Int32Array.from(PRIMES.slice(0, 8), (prime) => fraction(Math.sqrt(prime)));
const BLOCK = 64;

/** Take the whole blocks of some bytes, from a place on, into a state; where they end. */
function compress(state, w, bytes, place) {
  for (; place + BLOCK <= bytes.length; place += BLOCK) {
    for (let i = 0; i < 16; i++) {
      const at = place + 4 * i;
      w[i] = (bytes[at] << 24) | (bytes[at + 1] << 16) | (bytes[at + 2] << 8) | bytes[at + 3];
    }
    for (let i = 16; i < 64; i++) {
      const x = w[i - 15];
      const y = w[i - 2];
      const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
      const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
      w[i] = (w[i - 16] + s0 + w[i - 7] + s1) | 0;
    }
    let a = state[0];
    let b = state[1];
    let c = state[2];
    let d = state[3];
    let e = state[4];
    let f = state[5];
    let g = state[6];
    let h = state[7];
    for (let i = 0; i < 64; i++) {
      const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
      const t1 = (h + s1 + ((e & f) ^ (~e & g)) + ROUNDS[i] + w[i]) | 0;
      const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
      const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + t1) | 0;
      d = c;
      c = b;
      b = a;
      a = (t1 + t2) | 0;
    }
    state[0] += a; // an Int32Array keeps the last 32 bits
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
    state[5] += f;
    state[6] += g;
    state[7] += h;
  }
  return place;
}

/** What follows so many bytes: a 1, zeros, and the number of bits in the last 8 of a block. */
export function padding(length) {
  const bytes = new Uint8Array(((119 - (length % BLOCK)) % BLOCK) + 9);
  bytes[0] = 0x80;
  const view = new DataView(bytes.buffer);
  view.setUint32(bytes.length - 8, Math.floor(length / 2 ** 29)); // from 512 MiB on
  view.setUint32(bytes.length - 4, (length << 3) >>> 0);
  return bytes;
}

export class Sha256 {
  #state = START.slice();
  #words = new Int32Array(64);
  #rest = new Uint8Array(BLOCK); // bytes after the last whole block
  #filled = 0;
  #length = 0;

  /** Add bytes, a Uint8Array. */
  update(bytes) {
    this.#length += bytes.length;
    let place = 0;
    if (this.#filled) {
      place = Math.min(BLOCK - this.#filled, bytes.length);
      this.#rest.set(bytes.subarray(0, place), this.#filled);
      this.#filled += place;
      if (this.#filled < BLOCK) return this;
      compress(this.#state, this.#words, this.#rest, 0);
    }
    place = compress(this.#state, this.#words, bytes, place);
    this.#rest.set(bytes.subarray(place));
    this.#filled = bytes.length - place;
    return this;
  }

  /** The digest of all bytes, in hexadecimal. Nothing can be added after it. */
  hex() {
    this.update(padding(this.#length));
    return Array.from(this.#state, (word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
  }
}

/** The digest of a File or Blob, read in slices; `said` hears how many bytes were read. */
export async function digest(file, slice, said = () => {}, signal = undefined) {
  const hash = new Sha256();
  for (let place = 0; place < file.size; place += slice) {
    signal?.throwIfAborted();
    hash.update(new Uint8Array(await file.slice(place, place + slice).arrayBuffer()));
    said(Math.min(place + slice, file.size));
  }
  return hash.hex();
}
