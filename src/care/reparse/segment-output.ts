import type { ParsedReplacement, Segment, SegmentStore } from '../../core/ports/segment-store.ts';

/** New parse output of one segment, which is opened to write when the first record comes. */
export class SegmentOutput {
  readonly id: string;
  readonly #segments: SegmentStore;
  #open: { readonly segment: Segment; readonly replacement: ParsedReplacement } | null = null;

  constructor(segments: SegmentStore, id: string) {
    this.#segments = segments;
    this.id = id;
  }

  async add(index: number, encoded: Uint8Array): Promise<void> {
    if (this.#open === null) {
      const segment = await this.#segments.open(this.id, 'write');
      this.#open = { segment, replacement: segment.replaceParsed() };
    }
    await this.#open.replacement.add(index, encoded);
  }

  /** Puts the records in place. The records of the crawl db must be on disk: what they lack is found by this output. */
  async commit(): Promise<void> {
    await this.#open?.replacement.commit();
  }

  async close(): Promise<void> {
    await this.#open?.segment.close();
    this.#open = null;
  }
}
