/** The exporter API, a part of `incrawl/plugin`. */
import type { MetadataValue } from '../../domain/crawl/states/datum.ts';

/** One exported page. Times are ISO 8601. */
export interface ExportDocument {
  readonly url: string;
  /** State in the crawl db, such as `fetched` or `notmodified`. */
  readonly state: string;
  readonly fetchedAt: string | null;
  readonly changedAt: string | null;
  /** HTTP status of the last visit. */
  readonly status: number | null;
  readonly contentType: string | null;
  readonly title: string | null;
  readonly lang: string | null;
  /**
   * Text of the main content, where it was found, else of the page; in an export of whole pages, of the page without
   * navigation. `null`: no text is stored.
   */
  readonly text: string | null;
  /** 16 hex digits. */
  readonly signature: string | null;
  /** Digest of the body, hexadecimal. */
  readonly digest: string | null;
  readonly outlinks: readonly string[];
  readonly metadata: Readonly<Record<string, MetadataValue>>;
  /** What the page says about itself; absent parts are `null` or empty. */
  readonly authors: readonly string[];
  readonly publishedAt: string | null;
  readonly modifiedAt: string | null;
  readonly description: string | null;
  readonly keywords: readonly string[];
  /** Texts of links on the theme of the page: those of content that consists of links. */
  readonly topics: readonly string[];
  readonly siteName: string | null;
  /** Absolute http(s) URL of the image that stands for the page. */
  readonly image: string | null;
  /** Where the text was found, if not in the visible HTML: `noscript`, `json-ld articleBody`. */
  readonly textSource: string | null;
  /** The next page of a text or list of several pages, and the number of this one, from 1. */
  readonly nextPage: string | null;
  readonly pageNumber: number | null;
  /** Number of links from a seed. */
  readonly depth: number;
}

/** Stored content of a page. Each method reads it when called, and only during the call of `document`. */
export interface PageContent {
  /** The response as received; `null`: no longer stored. */
  response(): Promise<StoredResponse | null>;
  /**
   * Main content of HTML with headings, lists, tables and links; in an export of whole pages, the page without
   * navigation. The text of other types. `null`: there is none.
   */
  markdown(): Promise<string | null>;
}

/** A response as stored in a segment. */
export interface StoredResponse {
  readonly status: number;
  /** Time of the response, ms since the epoch. */
  readonly at: number;
  /** Headers as received: names in their case, repeated fields one by one. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The body after decompression. */
  body(): Promise<Uint8Array>;
  /** The response as a WARC 1.1 `response` record in a gzip member of its own. */
  warcRecord(): Promise<Uint8Array>;
}

/** A style sheet, script, picture, font or other file that exported pages need to be shown, or a redirect to one. */
export interface ExportedRequisite {
  readonly url: string;
  /** HTTP status of the stored response. */
  readonly status: number;
  readonly contentType: string | null;
  /** Digest of the body, hexadecimal; `null` for a redirect. */
  readonly digest: string | null;
}

/** A page that an earlier export contained and that no longer belongs in it. */
export interface RemovedPage {
  readonly url: string;
  /** Its state now: `gone`, `duplicate`, `redir_perm`, .., or `dropped` when its record was deleted. */
  readonly state: string;
  /** Target of its redirect, or the page that it duplicates. */
  readonly target: string | null;
  /** MIME type of the removed page. */
  readonly contentType: string | null;
}

/**
 * Writes pages as one stream of text; its methods are synchronous. An error ends the export with `plugin-failed`, and
 * leaves no file. For any other output see {@link SinkExporter}.
 */
export interface TextExporter {
  /** Value of `--format`, lower case. */
  readonly format: string;
  /** Of its files, without the dot: `jsonl`. */
  readonly fileExtension: string;
  /** Text before the first page. */
  begin?(): string;
  /** Called once for each page. Text of the page. */
  document(document: ExportDocument): string;
  /** Text of a removed page, in incremental exports. Without it removed pages are left out. */
  removed?(page: RemovedPage): string;
  /** Text after the last page. */
  end?(): string;
}

/** Delivers pages one by one: to files, a search engine, a service. An error ends the export with `plugin-failed`. */
export interface SinkExporter {
  /** Value of `--format`, lower case. */
  readonly format: string;
  /** Of its files, without the dot: `warc.gz`. */
  readonly fileExtension: string;
  /**
   * Required kind of `--output`, such as `a file`; without `--output` the export is then refused as wrong usage.
   * Absent: standard output is possible.
   */
  readonly needsPlace?: string;
  /** Begins an export. A rejection ends the export before any page is read. */
  open(target: ExportTarget): ExportSink | Promise<ExportSink>;
}

/** Either of the two. */
export type Exporter = TextExporter | SinkExporter;

/** An export in progress. Calls are sequential: each waits for the promise of the one before. */
export interface ExportSink {
  /** Called once for each page, newest segment first. `content` can be read until the promise settles. */
  document(document: ExportDocument, content: PageContent): void | Promise<void>;
  /**
   * Called after all pages, once for each requisite of theirs that the crawl has stored (`fetch.requisites`). Absent:
   * requisites are no part of this format.
   */
  requisite?(requisite: ExportedRequisite, content: Pick<PageContent, 'response'>): void | Promise<void>;
  /** Called in incremental exports, after all pages, once for each page that no longer belongs in the export. */
  removed(page: RemovedPage): void | Promise<void>;
  /** Called after the last page. Resolves when everything is durable. */
  close(): void | Promise<void>;
  /** Called instead of `close` when the export failed: undoes partial output as far as possible. */
  abandon?(): void | Promise<void>;
}

/** Who crawled, and by which rules, for files that record their origin. */
export interface CrawlIdentity {
  /** The User-Agent header of its requests. */
  readonly userAgent: string;
  /** Mail address or URL of its operator (`agent.contact`); empty where none is configured. */
  readonly operator: string;
  /** Its robots policy, in the words of WARC 1.1: robots.txt is obeyed. */
  readonly robots: 'classic';
}

/** Destination of an export. */
export interface ExportTarget {
  /** Value of `--output`: a file, a folder or a URL; `null`: standard output. */
  readonly place: string | null;
  /** Only pages changed or removed since a point in time are exported, not all pages. */
  readonly isIncremental: boolean;
  /** Name and version of the program, for files that record their creator. */
  readonly software: string;
  /** Who crawled, for the same. */
  readonly crawl: CrawlIdentity;
  /** Appends to the file `place`, which appears when the export has succeeded, or to standard output. */
  write(chunk: string | Uint8Array): Promise<void>;
  /**
   * Temporary name, in the same folder, for a file until it is complete. No other process writes to it. Files that
   * killed exports left under such names are removed.
   */
  partial(file: string): string;
  /** Sorts lines in byte order (ASCII), in bounded memory. */
  sorted(lines: AsyncIterable<string>): AsyncIterable<string>;
}
