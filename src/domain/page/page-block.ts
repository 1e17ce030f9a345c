/**
 * What a block is to its page. `title`: title or heading, where these are blocks of their own; `main`: the content;
 * `topic`: links on the page's theme; `noise`: everything around.
 */
export type BlockType = 'title' | 'main' | 'topic' | 'noise';

/** A stretch of a page that belongs together, found by the block segmenter; blocks stand in reading order. */
export interface PageBlock {
  readonly type: BlockType;
  /**
   * Where it hangs in the DOM, stable between visits while the structure is (e.g. `body>div*3>article>p:1`): names the
   * block in change reports.
   */
  readonly path: string;
  /** Visible text; paragraphs end in a line feed. */
  readonly text: string;
  /** Number of links, and characters of `text` that stand inside links. */
  readonly links: number;
  readonly anchorChars: number;
  /**
   * How surely it is content, 0 to 1, where what found it can tell. Signatures leave out what is less certain than the
   * rest of the main content.
   */
  readonly certainty?: number;
  /** What stands inside links. */
  readonly anchorText?: string;
  /**
   * Where its HTML begins and ends in the decoded page, UTF-16 units, end exclusive; absent where the parser does not
   * tell.
   */
  readonly span?: readonly [start: number, end: number];
}
