const BITS = 16;
const GRAM = 4;
/** White space that is more than single spaces. */
const UNFOLDED = /\s{2,}|[^\S ]/g;

/** A text for substring lookups, ignoring case, with all white space as single spaces. */
export const foldCase = (text: string): string => text.replace(UNFOLDED, ' ').toLowerCase();

/**
 * A filter for substring queries, by the hashes of all runs of four characters: most texts that are no substring are
 * refused by it. Ignores case and the kind of white space. The text itself is normalised only when all hashes of a
 * query match.
 */
export class TextSketch {
  readonly #text: string;
  #folded: string | null = null;
  /** A bit a slot. */
  readonly #seen = new Int32Array((1 << BITS) >> 5);

  constructor(text: string) {
    this.#text = text;
    if (!this.#addPlain(text)) this.#add(this.#foldedText());
  }

  /** @param part its white space folded */
  includes(part: string): boolean {
    const wanted = part.toLowerCase();
    const seen = this.#seen;
    let window = 0;
    for (let i = 0; i < wanted.length; i++) {
      window = written(window, wanted.charCodeAt(i));
      if (i < GRAM - 1) continue;
      const at = slot(window);
      if ((seen[at >>> 5]! & (1 << (at & 31))) === 0) return false;
    }
    return this.#foldedText().includes(wanted);
  }

  #foldedText(): string {
    this.#folded ??= foldCase(this.#text);
    return this.#folded;
  }

  #add(folded: string): void {
    const seen = this.#seen;
    let window = 0;
    for (let i = 0; i < folded.length; i++) {
      window = written(window, folded.charCodeAt(i));
      if (i < GRAM - 1) continue;
      const at = slot(window);
      seen[at >>> 5]! |= 1 << (at & 31);
    }
  }

  /** {@link #add} of the normalised text, without making it. `false`: it has characters beyond these. */
  #addPlain(text: string): boolean {
    const seen = this.#seen;
    let window = 0;
    let length = 0;
    let isAfterSpace = false;
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      const code = unit < PLAIN.length ? PLAIN[unit]! : isPunctuation(unit) ? unit : 0;
      if (code === 0) return false;
      if (code === SPACE && isAfterSpace) continue;
      isAfterSpace = code === SPACE;
      window = written(window, code);
      if (++length < GRAM) continue;
      const at = slot(window);
      seen[at >>> 5]! |= 1 << (at & 31);
    }
    return true;
  }
}

/**
 * Latin-1 in lower case, all white space as a space; 0 where that is not known for a character by itself. Of ASCII and
 * Latin-1, the lower case is one character wherever one stands.
 */
const PLAIN = Uint8Array.from({ length: 256 }, (_, unit) => foldCase(String.fromCharCode(unit)).charCodeAt(0));
/** Dashes, quotation marks, bullets, ellipses: neither white space nor letters. */
const isPunctuation = (unit: number): boolean => unit >= 0x2010 && unit <= 0x2027;

const SPACE = 0x20;
/** The last four characters, eight bits of each. */
const written = (window: number, code: number): number => (window << 8) | (code & 0xff);
const slot = (window: number): number => Math.imul(window, 0x9e37_79b1) >>> (32 - BITS);
