import type { BlockTable } from '../block-table.ts';
import { SignedLines } from '../content/signed-text.ts';
import { Utf8Text } from '../text/utf8.ts';
import { createWordFinder, type TextCutter, type WordSink } from '../text/word-scan.ts';
import { type DimensionWeights, ownTitle } from './page-dimensions.ts';
import { createShingler, type ShinglerOptions, type WeightedShingles } from './shingler.ts';
import { Votes } from './simhash.ts';

/** Version of the choice of texts and of their weights; part of the name of every signature made with it. */
export const PAGE_SIGNER_VERSION = 3;

/**
 * In the signature of likeness a shingle counts by the number of words in its line, up to this many. What a site puts
 * around syndicated text is short: teasers, credits, notes.
 */
const MOST_LINE_WORDS = 60;

export interface PageSignerOptions {
  /** Weights of the shingles of each kind of text; 0 leaves a kind out. */
  readonly weights: DimensionWeights;
  /**
   * Each shingle's weight grows by the frequencies of its words, each counted up to this cap. Default 0: all weigh the
   * same.
   */
  readonly tfCap?: number;
  /** Cuts texts of unspaced scripts into words. Default: the runtime's `Intl.Segmenter`. */
  readonly cut?: TextCutter;
  /** Length of the shingles, and words left out of them. */
  readonly shingles?: ShinglerOptions;
}

interface SignablePage {
  readonly title: string | null;
  readonly documentTitle?: string | null;
  readonly keywords: readonly string[];
  readonly mainText: string | null;
  readonly text: string;
  readonly lang?: string | null;
}

/** 16 hex digits each, or `null` where there is no word to sign. */
interface PageSignatures {
  readonly likeness: string | null;
  readonly change: string | null;
  /** 8 hex digits: the digest of all that `change` is made from. */
  readonly digest: string | null;
}

/**
 * Signs a page for likeness and for change: two 64-bit Simhashes (M. Charikar 2002) from one scan of the words. The
 * change signature covers the title, the keywords and the signed lines ({@link SignedLines}), one vote per shingle, so
 * that every edit counts the same. The likeness signature covers the sentences of these lines, which other sites print
 * unchanged, and not the title, which they change. Shingles do not cross the end of a line, so an insertion between two
 * lines changes no other shingle.
 *
 * The signer keeps buffers between calls and must not be shared between threads.
 */
export function createPageSigner({ weights, tfCap = 0, cut, shingles }: PageSignerOptions) {
  const findWords = createWordFinder(cut);
  const shingler = createShingler(shingles);
  const source = new Utf8Text();
  const lines = new SignedLines();
  const likeness = new Votes();
  const change = new Votes();

  const takeText = (text: string, words: WordSink): void => {
    source.clear();
    source.addString(text);
    findWords(source.bytes, 0, source.end, words);
  };
  const voteText = (text: string, weight: number, lang: string | null): void => {
    if (text === '' || weight === 0) return;
    takeText(text, shingler.begin(lang));
    change.addAll(shingler.weigh(weight, tfCap));
  };
  const voteLines = (lang: string | null): void => {
    const words = shingler.begin(lang);
    for (let line = 0; line < lines.count; line++) {
      findWords(lines.bytes, lines.starts[line]!, lines.ends[line]!, words);
      shingler.endLine(lines.isLiked(line));
    }
    voteBoth(shingler.weigh(weights.text, tfCap));
  };
  const voteAnchors = (texts: readonly string[], lang: string | null): void => {
    if (texts.length === 0 || weights.topic === 0) return;
    const words = shingler.begin(lang);
    for (const text of texts) {
      takeText(text, words);
      shingler.endLine(true);
    }
    voteBoth(shingler.weigh(weights.topic, tfCap));
  };
  const voteBoth = (shingles: WeightedShingles): void => {
    change.addAll(shingles);
    const { high, low, weight, lineWords, count } = shingles;
    for (let at = 0; at < count; at++) {
      const itsWords = lineWords[at]!;
      if (itsWords > 0) likeness.add(high[at]!, low[at]!, weight[at]! * Math.min(itsWords, MOST_LINE_WORDS));
    }
  };

  return (page: SignablePage, blocks: BlockTable): PageSignatures => {
    likeness.clear();
    change.clear();
    const { lang = null } = page;
    if (weights.text > 0) {
      lines.fill(page, blocks);
      voteLines(lang);
    }
    voteAnchors(blocks.anchorTexts, lang);
    voteText(ownTitle((page.documentTitle === undefined ? page.title : page.documentTitle) ?? ''), weights.title, lang);
    voteText(page.keywords.join(' '), weights.keywords, lang);
    const digest = change.digest();
    const changed = change.counted();
    // If the text has no weight, pages are compared by their title.
    return { likeness: weights.text > 0 ? likeness.counted() : changed, change: changed, digest };
  };
}
