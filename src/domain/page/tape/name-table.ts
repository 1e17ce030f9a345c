const SLOTS = 1024;

/** FNV-1a (Fowler, Noll, Vo), byte by byte, names in lower case; it begins with 0. */
export const hashed = (hash: number, byte: number): number => Math.imul(hash ^ byte, 0x01000193);

const LOWER = Uint8Array.from({ length: 256 }, (_, byte) => (byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte));

/** A byte of a name in lower case, ASCII only. */
export const lowered = (byte: number): number => LOWER[byte]!;

const slotOf = (hash: number): number => (hash ^ (hash >>> 10)) & (SLOTS - 1);

/** Finds ASCII names in bytes without making strings. */
export class NameTable {
  /** Open addressing: the position of a name plus one, 0 for an empty slot. */
  private readonly slots = new Int32Array(SLOTS);
  private readonly hashes: Int32Array;
  private readonly starts: Int32Array;
  private readonly bytes: Uint8Array;

  constructor(names: readonly string[]) {
    this.hashes = new Int32Array(names.length);
    this.starts = new Int32Array(names.length + 1);
    this.bytes = new TextEncoder().encode(names.join(''));
    for (const [position, name] of names.entries()) {
      const start = this.starts[position]!;
      this.starts[position + 1] = start + name.length;
      let hash = 0;
      for (let at = start; at < start + name.length; at++) hash = hashed(hash, this.bytes[at]!);
      this.hashes[position] = hash;
      let slot = slotOf(hash);
      while (this.slots[slot] !== 0) slot = (slot + 1) & (SLOTS - 1);
      this.slots[slot] = position + 1;
    }
  }

  /** Position of the name that stands, in any case, in a range of bytes; -1: none. `hash` is that of {@link hashed}. */
  find(bytes: Uint8Array, from: number, to: number, hash: number): number {
    let slot = slotOf(hash);
    while (true) {
      const position = this.slots[slot]! - 1;
      if (position < 0) return -1;
      if (this.hashes[position] === hash && this.isAt(position, bytes, from, to)) return position;
      slot = (slot + 1) & (SLOTS - 1);
    }
  }

  private isAt(position: number, bytes: Uint8Array, from: number, to: number): boolean {
    let own = this.starts[position]!;
    if (this.starts[position + 1]! - own !== to - from) return false;
    for (let at = from; at < to; at++) if (lowered(bytes[at]!) !== this.bytes[own++]) return false;
    return true;
  }
}
