/**
 * Role of a block in its page. `title`: title or heading, where these are blocks of their own; `main`: the content;
 * `topic`: links on the page's theme; `noise`: everything around.
 */
export type BlockType = 'title' | 'main' | 'topic' | 'noise';

/** A block of a page, found by the block segmenter; blocks are in reading order. */
export interface PageBlock {
  readonly type: BlockType;
  /**
   * Path in the DOM, stable between visits while the structure is (e.g. `body>div*3>article>p:1`): names the block in
   * change reports.
   */
  readonly path: string;
  /** Visible text; paragraphs end in a line feed. */
  readonly text: string;
  /** Number of links, and characters of `text` that stand inside links. */
  readonly links: number;
  readonly anchorChars: number;
  /**
   * Probability that it is content, 0 to 1, where the segmenter gives one. Signatures leave out blocks that are less
   * certain than the rest of the main content.
   */
  readonly certainty?: number;
  /** Text inside links. */
  readonly anchorText?: string;
  /** Range of its HTML in the decoded page, UTF-16 units, end exclusive; absent where the parser gives no positions. */
  readonly span?: readonly [start: number, end: number];
}

/** A longer path is cut at its beginning: the end says most. */
const MAX_PATH_CHARS = 120;

/** The place of a path: the path without the count. */
export function placeOf(path: string): string {
  const colon = path.lastIndexOf(':');
  const to = colon < 0 ? path.length : colon;
  return path.slice(Math.max(0, to - MAX_PATH_CHARS), to);
}

/** The number of a block among those of its path, from 1. */
export function nthOf(path: string): number {
  const nth = Number(path.slice(path.lastIndexOf(':') + 1));
  return Number.isInteger(nth) && nth > 0 ? nth : 1;
}

/** A node of a parsed page: the part of the `domhandler` DOM that is used. */
export interface PageNode {
  readonly type: string;
  /** Name of an element, lower case. */
  readonly name?: string;
  readonly attribs?: Readonly<Record<string, string>>;
  /** Content of a text node. */
  readonly data?: string;
  readonly children?: readonly PageNode[];
  /** First and last character of an element in its document, where the parser gives positions. */
  readonly startIndex?: number | null;
  readonly endIndex?: number | null;
}

export const isElement = (node: PageNode): boolean => node.name !== undefined && node.children !== undefined;
