/** Words in a run; two texts that have one in common quote each other. */
const RUN = 3;
/** Letters and digits; of scripts without spaces, each character is a word. */
const WORDS = /[\u3040-\u30ff\u3400-\u9fff]|(?:(?![\u3040-\u30ff\u3400-\u9fff])[\p{L}\p{N}])+/gu;

const wordsOf = (text: string): string[] => text.toLowerCase().match(WORDS) ?? [];

function* runsOf(words: readonly string[]): Generator<string> {
  for (let at = 0; at + RUN <= words.length; at++) yield `${words[at]} ${words[at + 1]} ${words[at + 2]}`;
}

/** Which words of a text stand in other texts as well, in runs of three or more. */
export class WordCover {
  /** Words of the text. */
  readonly words: number;
  readonly #places = new Map<string, number[]>();
  readonly #covered: Uint8Array;

  constructor(text: string) {
    const words = wordsOf(text);
    this.words = words.length;
    this.#covered = new Uint8Array(words.length);
    let at = 0;
    for (const run of runsOf(words)) {
      const places = this.#places.get(run);
      if (places === undefined) this.#places.set(run, [at]);
      else places.push(at);
      at++;
    }
  }

  /** Marks the words that another text also has as known. */
  add(text: string): void {
    for (const run of runsOf(wordsOf(text))) {
      for (const at of this.#places.get(run) ?? []) this.#covered.fill(1, at, at + RUN);
    }
  }

  /** Share of the words that are known, 0 to 1; 0 for a text without words. */
  get share(): number {
    let covered = 0;
    for (const each of this.#covered) covered += each;
    return this.words === 0 ? 0 : covered / this.words;
  }
}

const BITS = 16;
const GRAM = 4;
/** White space that is more than single spaces. */
const UNFOLDED = /\s{2,}|[^\S ]/g;

/** A text for substring lookups, ignoring case, with all white space as single spaces. */
export const foldCase = (text: string): string => text.replace(UNFOLDED, ' ').toLowerCase();

/** Memory of a sketch. */
export const sketchTable = (): Int32Array => new Int32Array((1 << BITS) >> 5);

/**
 * A filter for substring queries, by the hashes of all runs of four characters: it rejects most texts that do not
 * contain the query. Ignores case and the kind of white space. The text itself is normalised only when all hashes of a
 * query match.
 */
export class TextSketch {
  readonly #text: string;
  #folded: string | null = null;
  /** A bit a slot. */
  readonly #seen: Int32Array;

  /** @param table memory of an earlier sketch, which is of no use from then on */
  constructor(text: string, table = sketchTable()) {
    this.#text = text;
    this.#seen = table.fill(0);
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
 * Latin-1 in lower case, all white space as a space; 0 if that cannot be determined from the character alone. The lower
 * case of an ASCII or Latin-1 character is one character in any context.
 */
const PLAIN = Uint8Array.from({ length: 256 }, (_, unit) => foldCase(String.fromCharCode(unit)).charCodeAt(0));
/** Dashes, quotation marks, bullets, ellipses: neither white space nor letters. */
const isPunctuation = (unit: number): boolean => unit >= 0x2010 && unit <= 0x2027;

const SPACE = 0x20;
/** The last four characters, eight bits of each. */
const written = (window: number, code: number): number => (window << 8) | (code & 0xff);
const slot = (window: number): number => Math.imul(window, 0x9e37_79b1) >>> (32 - BITS);
