/** The contract of exporters, a part of `incrawl/plugin`. */
import type { MetadataValue } from '../../domain/crawl/states/datum.ts';

/** One page for an exporter. Times are ISO 8601. */
export interface ExportDocument {
  readonly url: string;
  readonly state: string;
  readonly fetchedAt: string | null;
  readonly changedAt: string | null;
  readonly status: number | null;
  readonly contentType: string | null;
  readonly title: string | null;
  readonly lang: string | null;
  /** Text of the main content where it was found, else of the page; `null`: none is stored. */
  readonly text: string | null;
  /** 16 hex digits. */
  readonly signature: string | null;
  readonly digest: string | null;
  readonly outlinks: readonly string[];
  readonly metadata: Readonly<Record<string, MetadataValue>>;
  /** Links from a seed. */
  readonly depth: number;
}

/** What is stored of a page beside its fields; read when it is asked for, during the call of `document` only. */
export interface PageContent {
  /** The response as it came; `null`: it is not stored any more. */
  response(): Promise<StoredResponse | null>;
  /**
   * The main content with its headings, lists, tables and links; of what is no HTML the text. `null`: there is none.
   */
  markdown(): Promise<string | null>;
}

export interface StoredResponse {
  readonly status: number;
  /** When it came, ms since the epoch. */
  readonly at: number;
  /** As received: names in their case, repeated ones repeated. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The body with its content codings undone. */
  body(): Promise<Uint8Array>;
  /** The response as a WARC 1.1 `response` record in a gzip member of its own. */
  warcRecord(): Promise<Uint8Array>;
}

/** A page that was there and is not to be shown any more. */
export interface RemovedPage {
  readonly url: string;
  /** What it is now: `gone`, `duplicate`, `redir_perm`, .., or `dropped` when its record was deleted. */
  readonly state: string;
  /** Where it redirects to, or the page that it repeats. */
  readonly target: string | null;
  /** Type of what it was. */
  readonly contentType: string | null;
}

/** Turns pages into text. For other things than one stream of text there is {@link SinkExporter}. */
export interface TextExporter {
  /** What `--format` calls it. */
  readonly format: string;
  readonly fileExtension: string;
  /** Text of one page, and what stands before the first and after the last. */
  begin?(): string;
  document(document: ExportDocument): string;
  /** Asked in incremental exports only; without it removed pages are passed over. */
  removed?(page: RemovedPage): string;
  end?(): string;
}

/** Takes pages one by one and brings them where they belong: files, a search engine, a service. */
export interface SinkExporter {
  readonly format: string;
  readonly fileExtension: string;
  /**
   * What `--output` must name, such as `a file`: without it the export is refused as wrong usage. Left out: standard
   * output will do.
   */
  readonly needsPlace?: string;
  /** Begins an export. Rejecting ends it before anything was read. */
  open(target: ExportTarget): ExportSink | Promise<ExportSink>;
}

export type Exporter = TextExporter | SinkExporter;

/** Calls come one after the other; the next one waits for what the last one returned. */
export interface ExportSink {
  document(document: ExportDocument, content: PageContent): void | Promise<void>;
  removed(page: RemovedPage): void | Promise<void>;
  /** Everything has been given: resolves when it is safe. */
  close(): void | Promise<void>;
  /** Instead of `close` when the export has failed: takes back what is half done, as far as that is possible. */
  abandon?(): void | Promise<void>;
}

/** Where an export goes. */
export interface ExportTarget {
  /** What `--output` names: a file, a folder or a URL; `null`: standard output. */
  readonly place: string | null;
  /** Only pages that changed since some time are given, and those that went away, not all pages. */
  readonly isIncremental: boolean;
  /** Name and version of the program, as files say who wrote them. */
  readonly software: string;
  /** Appends to the file that `place` names, which appears when the export has ended well, or to standard output. */
  write(chunk: string | Uint8Array): Promise<void>;
  /**
   * The name, in the same folder, under which this export writes a file of its own until it is whole: no other process
   * writes there. What exports that were killed have left under such names in the folder is removed.
   */
  partial(file: string): string;
  /** Lines in byte order (of ASCII), with bounded memory. */
  sorted(lines: AsyncIterable<string>): AsyncIterable<string>;
}
