/** Words in a shingle. */
const SIZE = 3;
const FIRST_SLOTS = 1 << 12;
/** A longer table is not kept for the next text. */
const MOST_KEPT = 1 << 17;

/** Of the characters below 128: the lower-case letter or digit; 0: it ends a word. */
const ASCII = Uint8Array.from({ length: 128 }, (_, unit) => {
  const char = String.fromCharCode(unit);
  return /[a-z0-9]/i.test(char) ? char.toLowerCase().charCodeAt(0) : 0;
});

/** Spaces, dashes, quotation marks and other signs beyond ASCII that end a word. */
const isSign = (unit: number): boolean =>
  unit < 0xc0
    ? unit !== 0xaa && unit !== 0xb5 && unit !== 0xba
    : unit === 0xd7 ||
      unit === 0xf7 ||
      (unit >= 0x2000 && unit < 0x2c00) ||
      (unit >= 0x3000 && unit < 0x3040) ||
      (unit >= 0xfe10 && unit < 0xfe70) ||
      (unit >= 0xff00 && unit < 0xff10) ||
      unit === 0xfeff;

/** Kana and Han, written without spaces: each character is a word. */
const isUnspaced = (unit: number): boolean =>
  (unit >= 0x3040 && unit < 0x3100) || (unit >= 0x3400 && unit < 0xa000) || (unit >= 0xf900 && unit < 0xfb00);

/**
 * The set of hashes of the runs of three words of a text, letters in lower case. Words are cut more coarsely than for
 * signatures, without a word list: they are compared only with those of other pages that were cut alike.
 */
export class ShingleHashes {
  /** Words of the text. */
  words = 0;
  /** Distinct hashes. */
  count = 0;
  /** Open addressing, a power of two; 0 is an empty slot. */
  private slots = new Uint32Array(FIRST_SLOTS);
  private mask = FIRST_SLOTS - 1;
  private first = 0;
  private second = 0;

  take(text: string): void {
    this.clear(text.length);
    let word = 0;
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      const letter = unit < 128 ? ASCII[unit]! : isSign(unit) ? 0 : unit;
      if (letter === 0) {
        if (word !== 0) this.addWord(word);
        word = 0;
      } else if (unit >= 0x3040 && isUnspaced(unit)) {
        if (word !== 0) this.addWord(word);
        this.addWord(unit);
        word = 0;
      } else {
        // Never 0, which is no word. FNV-1a (G. Fowler, L. C. Noll, K.-P. Vo).
        word = Math.imul((word === 0 ? 0x811c9dc5 : word) ^ letter, 0x01000193) || 1;
      }
    }
    if (word !== 0) this.addWord(word);
    // A text of fewer words than a shingle is one.
    if (this.count === 0 && this.words > 0) this.add(this.first, this.second, 0);
  }

  /** The smallest hashes, at most so many, in no order; valid until the next text. */
  smallest(most: number): Uint32Array {
    if (this.count <= most) return this.below(2 ** 32);
    // Where hashes are spread evenly, four standard deviations more than are needed.
    let limit = (2 ** 32 * (most + 4 * Math.sqrt(most))) / this.count;
    let found = this.below(limit);
    while (found.length < most) {
      limit *= 2;
      found = this.below(limit);
    }
    return found.sort().subarray(0, most);
  }

  private below(limit: number): Uint32Array {
    const { slots, mask } = this;
    const found = new Uint32Array(this.count);
    let count = 0;
    for (let slot = 0; slot <= mask; slot++) {
      const hash = slots[slot]!;
      if (hash !== 0 && hash < limit) found[count++] = hash;
    }
    return found.subarray(0, count);
  }

  /** Makes room for the shingles that a text of this length has as a rule. */
  private clear(chars: number): void {
    [this.words, this.count, this.first, this.second] = [0, 0, 0, 0];
    let size = FIRST_SLOTS;
    while (size < chars / 2 && size < MOST_KEPT) size *= 2;
    if (this.slots.length < size || this.slots.length > MOST_KEPT) this.slots = new Uint32Array(size);
    else this.slots.fill(0, 0, size);
    this.mask = size - 1;
  }

  private addWord(word: number): void {
    this.words++;
    if (this.words >= SIZE) this.add(this.first, this.second, word);
    this.first = this.second;
    this.second = word;
  }

  private add(first: number, second: number, third: number): void {
    const hash = mixed(Math.imul(first, 0x85ebca6b) ^ Math.imul(second + 0x6b43a9b5, 0x27d4eb2f) ^ third) || 1;
    if (this.put(hash) && 2 * this.count > this.mask) this.grow();
  }

  private put(hash: number): boolean {
    const { slots, mask } = this;
    let slot = hash & mask;
    while (slots[slot] !== 0) {
      if (slots[slot] === hash) return false;
      slot = (slot + 1) & mask;
    }
    slots[slot] = hash;
    this.count++;
    return true;
  }

  private grow(): void {
    const old = this.slots.subarray(0, this.mask + 1);
    this.slots = new Uint32Array(2 * old.length);
    this.mask = this.slots.length - 1;
    this.count = 0;
    for (const hash of old) if (hash !== 0) this.put(hash);
  }
}

/** The last step of MurmurHash3 (A. Appleby): each bit depends on all. */
function mixed(value: number): number {
  let hash = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
