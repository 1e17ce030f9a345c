/**
 * An order-preserving code of keys: a text shrinks to about two thirds of its bytes, and codes sort like the UTF-8 of
 * their texts. Each byte has a code word, with fewer bits the more often the byte occurs in keys of URLs; the words
 * sort like the bytes (an alphabetic code: Hu, Tucker 1971; for search keys: Zhang et al., "Order-Preserving Key
 * Compression for In-Memory Search Trees", SIGMOD 2020, scheme Single-Char). The end of a text has the least word, so
 * that a text sorts before those that begin with it; the last byte is padded with zeros.
 */
import { isUtf8 } from 'node:buffer';

/**
 * Bits of the word of the end, of bytes below 0x20 before their last 5 bits, of 0x20 to 0x7f, and of 0x80 and above
 * before their last 7 bits, each as a digit in base 36. The tree is optimal for 30,000 URLs of 1,200 hosts, with a due
 * time and a score before every second one. The format on disk depends on it: another table is another format.
 */
const LENGTHS = '5aabbbb88bbbbaa64466667777665aa999aaaaaabbbbccbaaa9aa9abbbcccccddaa55554665577655556654577889bccbb8';
const BASE = 36;
/** Indexes into LENGTHS. */
const [END, CONTROL, FIRST] = [0, 1, 2];
const [FIRST_BYTE, HIGH_BYTE] = [0x20, 0x80];
const [CONTROL_BITS, HIGH_BITS] = [5, 7];

/** By byte value; the symbol of the end is the last one. */
const END_SYMBOL = 256;
const words = new Uint32Array(END_SYMBOL + 1);
const bits = new Uint8Array(END_SYMBOL + 1);

/** The tree for decoding: two children per inner node; a leaf is the complement of its symbol. */
const tree: number[] = [0, 0];

function add(symbol: number, word: number, length: number): void {
  words[symbol] = word;
  bits[symbol] = length;
  let node = 0;
  for (let bit = length - 1; bit > 0; bit--) {
    const at = node + ((word >>> bit) & 1);
    if (tree[at] === 0) {
      tree[at] = tree.length;
      tree.push(0, 0);
    }
    node = tree[at] as number;
  }
  tree[node + (word & 1)] = ~symbol;
}

function addAll(): void {
  let next = 0;
  let before = 0;
  const take = (length: number): number => {
    next *= 2 ** (length - before);
    before = length;
    return next++;
  };
  for (const [i, digit] of [...LENGTHS].entries()) {
    const length = Number.parseInt(digit, BASE);
    const word = take(length);
    if (i === END) add(END_SYMBOL, word, length);
    else if (i === CONTROL) addRange(0, CONTROL_BITS, word, length);
    else if (i === LENGTHS.length - 1) addRange(HIGH_BYTE, HIGH_BITS, word, length);
    else add(FIRST_BYTE + i - FIRST, word, length);
  }
}

function addRange(first: number, more: number, word: number, length: number): void {
  for (let i = 0; i < 2 ** more; i++) add(first + i, word * 2 ** more + i, length + more);
}

addAll();

/**
 * The leaf that a byte of bits leads to, and the bits that it takes; 0 bits: an inner node, since the leaf is deeper.
 */
const [leafOf, takenOf] = quickReads();

function quickReads(): readonly [Int16Array, Uint8Array] {
  const leaves = new Int16Array(256);
  const taken = new Uint8Array(256);
  for (let byte = 0; byte < 256; byte++) {
    let node = 0;
    for (let bit = 7; bit >= 0; bit--) {
      node = tree[node + ((byte >>> bit) & 1)] as number;
      if (node >= 0) continue;
      taken[byte] = 8 - bit;
      break;
    }
    leaves[byte] = node;
  }
  return [leaves, taken];
}

/** Longest word, bits. */
const LONGEST = Math.max(...bits);

export function encodeKey(key: string): Buffer {
  const bytes = Buffer.from(key);
  const code = Buffer.allocUnsafe(((bytes.length + 1) * LONGEST + 7) >>> 3);
  let at = 0;
  let kept = 0;
  let count = 0;
  for (let i = 0; i <= bytes.length; i++) {
    const symbol = bytes[i] ?? END_SYMBOL;
    kept = (kept << (bits[symbol] as number)) | (words[symbol] as number);
    count += bits[symbol] as number;
    while (count >= 8) {
      count -= 8;
      code[at++] = kept >>> count;
    }
    kept &= (1 << count) - 1;
  }
  if (count > 0) code[at++] = kept << (8 - count);
  return code.subarray(0, at);
}

/** Whether the last bits, so many of them, are what fills the last byte. */
const isPadding = (code: Buffer, count: number): boolean =>
  count >= 0 && count < 8 && ((code.at(-1) as number) & ((1 << count) - 1)) === 0;

/** Throws a `RangeError` for bytes that are not the code of a key. */
export function decodeKey(code: Buffer): string {
  // The shortest word has 4 bits.
  const bytes = Buffer.allocUnsafe(2 * code.length);
  let length = 0;
  let bit = 0;
  const end = 8 * code.length;
  while (bit < end) {
    const at = bit >>> 3;
    const next = (((((code[at] as number) << 8) | (code[at + 1] ?? 0)) << (bit & 7)) >>> 8) & 0xff;
    let leaf = leafOf[next] as number;
    bit += takenOf[next] as number;
    if (leaf >= 0) {
      for (bit += 8; leaf >= 0 && bit < end; bit++) {
        leaf = tree[leaf + (((code[bit >>> 3] as number) >>> (7 - (bit & 7))) & 1)] as number;
      }
    }
    if (leaf >= 0) break;
    if (~leaf === END_SYMBOL) {
      const text = bytes.subarray(0, length);
      if (!isPadding(code, end - bit) || !isUtf8(text)) break;
      return text.toString();
    }
    bytes[length++] = ~leaf;
  }
  throw new RangeError(`${code.toString('hex')} is no code of a key`);
}
