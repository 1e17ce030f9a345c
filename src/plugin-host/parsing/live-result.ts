import type { PageBlock } from '../../domain/page/page-block.ts';
import type { Outlink } from '../../ports/segment-store.ts';
import type { ParseResult } from '../api/plugin-api.ts';

/**
 * A result while parser and filters work on it. Its text may wait until it is read: most pages have a main one, and
 * need no other.
 */
export class LiveResult implements ParseResult {
  title: string | null = null;
  mainText: string | null = null;
  lang: string | null = null;
  description: string | null = null;
  keywords: string[] = [];
  blocks: PageBlock[] = [];
  canonical: string | null = null;
  base: string | null = null;
  noindex = false;
  nofollow = false;
  outlinks: Outlink[] = [];
  metadata: ParseResult['metadata'] = {};
  declare text: string;
  #text = '';
  #waiting: (() => string) | null = null;

  constructor() {
    // A property of its own, which a copy of the result has too.
    Object.defineProperty(this, 'text', {
      enumerable: true,
      get: () => this.#read(),
      set: (text: string) => {
        this.#waiting = null;
        this.#text = text;
      },
    });
  }

  #read(): string {
    if (this.#waiting !== null) this.text = this.#waiting();
    return this.#text;
  }

  /** @param read is called at the first use, if there is one */
  readTextLater(read: () => string): void {
    this.#waiting = read;
  }

  get isTextWaiting(): boolean {
    return this.#waiting !== null;
  }

  forgetText(): void {
    this.#waiting = null;
  }
}
