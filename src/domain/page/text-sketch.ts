const BITS = 16;
const GRAM = 4;

/** Says quickly, for most texts that do not stand in another, that they do not: by the hashes of all runs of four characters. */
export class TextSketch {
  readonly #text: string;
  /** A bit a slot. */
  readonly #seen = new Int32Array((1 << BITS) >> 5);

  constructor(text: string) {
    this.#text = text;
    const seen = this.#seen;
    let window = 0;
    for (let i = 0; i < text.length; i++) {
      window = pushed(window, text.charCodeAt(i));
      if (i < GRAM - 1) continue;
      const at = slot(window);
      seen[at >>> 5]! |= 1 << (at & 31);
    }
  }

  includes(part: string): boolean {
    const seen = this.#seen;
    let window = 0;
    for (let i = 0; i < part.length; i++) {
      window = pushed(window, part.charCodeAt(i));
      if (i < GRAM - 1) continue;
      const at = slot(window);
      if ((seen[at >>> 5]! & (1 << (at & 31))) === 0) return false;
    }
    return this.#text.indexOf(part) >= 0;
  }
}

/** The last four characters, eight bits of each. */
const pushed = (window: number, code: number): number => (window << 8) | (code & 0xff);
const slot = (window: number): number => Math.imul(window, 0x9e37_79b1) >>> (32 - BITS);
