/** Parses pages, in other threads where there are any. */
export interface PageParser {
  /**
   * Decodes, parses, filters and signs one page; resolves with a {@link ParsedRecord} encoded by the segment codec,
   * ready to be appended. Never rejects for what a page does: a page that cannot be parsed gives a `parse-failed`
   * record. `body` is handed over and must not be used afterwards.
   */
  parse(page: PageToParse): Promise<ParsedPage>;
  /** Pages waiting or being parsed. */
  readonly pending: number;
  close(): Promise<void>;
}

export interface PageToParse {
  readonly index: number;
  readonly url: string;
  /** `Content-Type` as declared; `null` when absent. */
  readonly contentType: string | null;
  readonly headers: Readonly<Record<string, string>>;
  /** Decoded of content codings, not of its charset. */
  readonly body: Uint8Array;
  readonly metadata: Readonly<Record<string, string | number | boolean>>;
}

export interface ParsedPage {
  readonly encoded: Uint8Array;
  readonly failed: boolean;
  /** Outlinks in the record. */
  readonly outlinks: number;
}
