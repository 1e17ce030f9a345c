/** Words in a shingle. */
const SIZE = 3;
/** UTF-16 units of a text that are processed at a time. */
const PART = 1 << 12;
const BASIS = 0x811c9dc5 | 0;
const FIRST_SLOTS = 1 << 9;
/** Longer tables are not kept for the next text. */
const MOST_KEPT = 1 << 17;
/** Groups of hashes by size, one of which contains the last of the smallest hashes. */
const GROUPS = 256;

/** For characters below 128: the lower-case letter or digit; 0: it ends a word. */
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
  unit >= 0x3040 && (unit < 0x3100 || (unit >= 0x3400 && unit < 0xa000) || (unit >= 0xf900 && unit < 0xfb00));

/**
 * The set of hashes of the runs of three words of a text, letters in lower case. Words are cut more coarsely than for
 * signatures, without a word list: they are compared only with those of other pages that were cut alike.
 */
export class ShingleHashes {
  /** Words of the text. */
  words = 0;
  /** Distinct hashes. */
  count = 0;
  /** In the order of the text. */
  private hashes = new Int32Array(FIRST_SLOTS / 2);
  /** Open addressing, a power of two, twice as many as hashes; 0 is an empty slot. */
  private slots = new Int32Array(FIRST_SLOTS);
  private mask = FIRST_SLOTS - 1;
  private first = 0;
  private second = 0;
  /** A part of the text, UTF-16. */
  private readonly bytes = Buffer.allocUnsafeSlow(2 * PART);
  private readonly cutWords = new Int32Array(PART + 2);
  /** Hash of the word that has not ended. */
  private word = BASIS;
  /** -1: within a word; else 0. */
  private isInside = 0;
  private readonly groups = new Int32Array(GROUPS);

  take(text: string): void {
    this.clear(text.length);
    this.word = BASIS;
    this.isInside = 0;
    for (let from = 0; from < text.length; from += PART) {
      const units = Math.min(PART, text.length - from);
      this.bytes.write(text.length <= PART ? text : text.slice(from, from + units), 'utf16le');
      this.addWords(this.cut(units));
    }
    if (this.isInside !== 0) this.addWords(1);
    // A text with fewer words than a shingle is one shingle.
    if (this.count === 0 && this.words > 0) this.add(this.first, this.second, 0);
  }

  /** The smallest hashes, at most `most`, in no particular order; valid until the next text. */
  smallest(most: number): Int32Array {
    const { hashes, groups, count } = this;
    if (count <= most) return hashes.subarray(0, count);
    // Only the group that contains the last of them has to be sorted.
    const shift = groupShift(count, most);
    groups.fill(0);
    for (let at = 0; at < count; at++) groups[Math.min(GROUPS - 1, hashes[at]! >>> shift)]!++;
    let last = 0;
    let inFront = 0;
    while (inFront + groups[last]! < most) inFront += groups[last++]!;
    const found = new Int32Array(most);
    const ofLast: number[] = [];
    let taken = 0;
    for (let at = 0; at < count; at++) {
      const hash = hashes[at]!;
      const group = Math.min(GROUPS - 1, hash >>> shift);
      if (group < last) found[taken++] = hash;
      else if (group === last) ofLast.push(hash >>> 0);
    }
    ofLast.sort((a, b) => a - b);
    for (let at = 0; taken < most; at++) found[taken++] = ofLast[at]!;
    return found;
  }

  /**
   * Splits a part of the text into word hashes by FNV-1a (G. Fowler, L. C. Noll, K.-P. Vo), without a branch at the
   * ends of ASCII words, which no processor predicts. Returns how many words have ended; the unfinished one follows
   * them.
   */
  private cut(units: number): number {
    const { bytes, cutWords } = this;
    let { word, isInside } = this;
    let count = 0;
    const end = 2 * units;
    for (let at = 0; at < end; at += 2) {
      const unit = bytes[at]! | (bytes[at + 1]! << 8);
      let letter: number;
      if (unit < 128) letter = ASCII[unit]!;
      else if (isUnspaced(unit)) {
        count -= isInside;
        cutWords[count++] = unit;
        isInside = 0;
        word = BASIS;
        continue;
      } else letter = isSign(unit) ? 0 : unit;
      // All bits are set for a letter, none for what ends a word.
      const isLetter = -letter >> 31;
      count -= isInside & ~isLetter;
      isInside = isLetter;
      word = ((Math.imul(word ^ letter, 0x01000193) || 1) & isLetter) | (BASIS & ~isLetter);
      cutWords[count] = word;
    }
    this.word = word;
    this.isInside = isInside;
    return count;
  }

  private addWords(count: number): void {
    const { cutWords } = this;
    let { first, second, words } = this;
    for (let at = 0; at < count; at++) {
      const third = cutWords[at]!;
      if (++words >= SIZE) this.add(first, second, third);
      first = second;
      second = third;
    }
    this.first = first;
    this.second = second;
    this.words = words;
    cutWords[0] = cutWords[count]!;
  }

  /** Makes room for the shingles that a text of this length usually has. */
  private clear(chars: number): void {
    [this.words, this.count, this.first, this.second] = [0, 0, 0, 0];
    let size = FIRST_SLOTS;
    while (size < chars / 2 && size < MOST_KEPT) size *= 2;
    if (this.slots.length < size || this.slots.length > MOST_KEPT) this.resize(size);
    else this.slots.fill(0, 0, size);
    this.mask = size - 1;
  }

  private resize(size: number): void {
    this.slots = new Int32Array(size);
    const { hashes, count } = this;
    this.hashes = new Int32Array(size / 2);
    this.hashes.set(hashes.subarray(0, count));
  }

  private add(first: number, second: number, third: number): void {
    const hash = mixed(Math.imul(first, 0x85ebca6b) ^ Math.imul(second + 0x6b43a9b5, 0x27d4eb2f) ^ third) || 1;
    const { slots, mask } = this;
    let slot = hash & mask;
    while (slots[slot] !== 0) {
      if (slots[slot] === hash) return;
      slot = (slot + 1) & mask;
    }
    slots[slot] = hash;
    this.hashes[this.count++] = hash;
    if (2 * this.count > mask) this.grow();
  }

  private grow(): void {
    const { count } = this;
    const size = 2 * (this.mask + 1);
    this.resize(size);
    this.mask = size - 1;
    const { slots, hashes, mask } = this;
    for (let at = 0; at < count; at++) {
      let slot = hashes[at]! & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = hashes[at]!;
    }
  }
}

/**
 * The number of bits to the right of those that number the groups; the smallest hashes should fill half of the groups.
 */
function groupShift(count: number, most: number): number {
  return 24 - Math.max(0, Math.floor(Math.log2(count / most)) - 1);
}

/** The last step of MurmurHash3 (A. Appleby): each bit depends on all. */
function mixed(value: number): number {
  let hash = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
