import type { PageBlock } from '../../../page/page-block.ts';
import type { Outlink } from '../../ports/segment-store.ts';
import type { ParseResult } from '../api/plugin-api.ts';

/**
 * A result while parser and filters work on it. Its text and its blocks may wait until they are read: most pages have a
 * main text and need no other, and bundled stages read the blocks as a table.
 */
export class LiveResult implements ParseResult {
  title: string | null = null;
  documentTitle?: string | null;
  mainText: string | null = null;
  lang: string | null = null;
  description: string | null = null;
  keywords: string[] = [];
  authors: string[] = [];
  publishedAt: number | null = null;
  modifiedAt: number | null = null;
  siteName: string | null = null;
  image: string | null = null;
  sources: Record<string, string> = {};
  canonical: string | null = null;
  variant: ParseResult['variant'] = null;
  nextPage: string | null = null;
  pageNumber: number | null = null;
  articleBody: string | null = null;
  base: string | null = null;
  noindex = false;
  nofollow = false;
  outlinks: Outlink[] = [];
  metadata: ParseResult['metadata'] = {};
  declare text: string;
  declare blocks: PageBlock[];
  readonly #text: Waiting<string>;
  readonly #blocks: Waiting<PageBlock[]>;

  constructor() {
    this.#text = waiting(this, 'text', '');
    this.#blocks = waiting<PageBlock[]>(this, 'blocks', []);
  }

  /** @param read is called at the first use, if there is one */
  readTextLater(read: () => string): void {
    this.#text.read = read;
  }

  /** @param read is called at the first use, if there is one */
  readBlocksLater(read: () => PageBlock[]): void {
    this.#blocks.read = read;
  }

  /** Whether a field waits to be read. */
  isWaiting(field: string): boolean {
    return (field === 'text' && this.#text.read !== null) || (field === 'blocks' && this.#blocks.read !== null);
  }

  /** Reads what waits. */
  settle(): void {
    void this.text;
    void this.blocks;
  }

  /** Gives up what waits. */
  forget(): void {
    this.#text.read = null;
    this.#blocks.read = null;
  }
}

interface Waiting<Value> {
  value: Value;
  /** `null`: the value is known. */
  read: (() => Value) | null;
}

/** Makes a member a property of its own, which a copy of the result has too. */
function waiting<Value>(result: LiveResult, name: 'text' | 'blocks', value: Value): Waiting<Value> {
  const state: Waiting<Value> = { value, read: null };
  const set = (known: Value): void => {
    state.read = null;
    state.value = known;
  };
  const get = (): Value => {
    if (state.read !== null) set(state.read());
    return state.value;
  };
  Object.defineProperty(result, name, { enumerable: true, get, set });
  return state;
}
