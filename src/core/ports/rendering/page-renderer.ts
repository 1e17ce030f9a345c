// core/ports/rendering/: a browser, as the steps of the crawl see it.

/** Renders pages in a browser that has no network of its own: the caller answers every request of a page. */
export interface PageRenderer {
  /**
   * Resolves with the document as it stands when its scripts have come to rest, or when the time is over. Rejects with
   * `CrawlError`: `render-failed` where there is no document to take, `package-missing` or `config-invalid` where no
   * browser can be started.
   */
  render(page: PageToRender): Promise<RenderedDocument>;
  /** Ends the browser; renders that are under way reject. */
  close(): Promise<void>;
}

export interface PageToRender {
  readonly url: string;
  /** Content codings decoded. */
  readonly body: Uint8Array;
  readonly contentType: string | null;
  /** What scripts see as `navigator.userAgent`. */
  readonly userAgent: string;
  /** Answers a request of the page; `null`: it is refused. Never rejects because of a server. */
  readonly answer: (request: SubRequest) => Promise<SubAnswer | null>;
}

/** A request that a page makes of itself: scripts, style sheets, data. */
export interface SubRequest {
  readonly url: string;
  readonly method: string;
  /** As browsers name it: `script`, `stylesheet`, `xhr`, `fetch`, `image`, `media`, `font`, `document`, .. */
  readonly type: string;
  /** By lower-case name, as the browser would send them. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface SubAnswer {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** Content codings decoded. */
  readonly body: Uint8Array;
}

export interface RenderedDocument {
  /** HTML in UTF-8, at most as long as a body may be. */
  readonly html: Uint8Array;
  /** The document is longer. */
  readonly isCut: boolean;
  readonly screenshot: Uint8Array | null;
}
