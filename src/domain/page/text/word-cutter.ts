import { createWordScanner, type WordScanner } from './word-scan.ts';

/** Words of a text in order, lower case; stop words left out where a set of them is given. */
export type WordCutter = (text: string, stopWords?: ReadonlySet<string>) => string[];

/** {@link createWordScanner} with strings for words, for comparing and showing them. */
export function createWordCutter(scanner: WordScanner = createWordScanner()): WordCutter {
  const decoder = new TextDecoder();
  return (text, stopWords) => {
    const { bytes, ends, count } = scanner.scan(text);
    const words: string[] = [];
    for (let i = 0, from = 0; i < count; i++) {
      const to = ends[i] as number;
      const word = decoder.decode(bytes.subarray(from, to));
      from = to;
      if (stopWords?.has(word) !== true) words.push(word);
    }
    return words;
  };
}
