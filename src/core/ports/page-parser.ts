/** Parses pages, on worker threads where there are any. */
export interface PageParser {
  /**
   * Decodes, parses, filters and signs one page. Resolves with a {@link ParsedRecord} in the encoding of the segment
   * codec, ready to be appended. Never rejects because of a page: one that cannot be parsed gives a `parse-failed`
   * record. `body` is transferred and must not be used afterwards.
   */
  parse(page: PageToParse): Promise<ParsedPage>;
  /** Pages that wait or are being parsed. */
  readonly pending: number;
  close(): Promise<void>;
}

export interface PageToParse {
  readonly index: number;
  readonly url: string;
  /** `Content-Type` as declared; `null` when absent. */
  readonly contentType: string | null;
  readonly headers: Readonly<Record<string, string>>;
  /** Content codings decoded, charset not. */
  readonly body: Uint8Array;
  readonly metadata: Readonly<Record<string, string | number | boolean>>;
}

export interface ParsedPage {
  readonly encoded: Uint8Array;
  readonly failed: boolean;
  /** Outlinks in the record. */
  readonly outlinks: number;
}
