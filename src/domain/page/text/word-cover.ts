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

  /** Takes the words that another text has as well for known. */
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
