import type { HeaderClaims } from '../domain/crawl/headers/header-claims.ts';
import type { Validators } from '../domain/crawl/states/datum.ts';
import type { FetchOutcome, ParseOutcome } from '../domain/crawl/states/outcome.ts';
import type { AnswerToNothing } from '../domain/crawl/states/soft-404.ts';
import type { HostFacts, SegmentState } from './crawl-db.ts';

/**
 * Segments: what one round fetched and parsed. Append-only and recoverable: a record that an interruption cut short is
 * dropped when the segment is opened again, everything before it stays.
 */
export interface SegmentStore {
  /**
   * Writes a whole segment with its fetch list; resolves when it is safely on disk. Before that, `list` does not show
   * it. Items are consumed as a stream; `index` must count up from 0.
   */
  create(info: NewSegment, items: Iterable<FetchItem> | AsyncIterable<FetchItem>): Promise<SegmentInfo>;
  /**
   * Ids sort by age. Rejects with `CrawlError('segment-missing')`. Opening for writing repairs torn ends, and is for
   * one at a time: `db-locked` names who else writes the segment. A reader gets along with the writer and sees what was
   * flushed when it began.
   */
  open(id: string, mode: 'read' | 'write'): Promise<Segment>;
  /** Whole segments, oldest first. Folders that are no segment, or that lack their end mark, are not shown. */
  list(): Promise<SegmentInfo[]>;
  /** Ids of what a crashed `create` left behind; `remove` takes them away. */
  listIncomplete(): Promise<string[]>;
  /** Removes a segment, or what a crashed `create` left. Unknown ids are no error. */
  remove(id: string): Promise<void>;
}

export interface NewSegment {
  readonly id: string;
  readonly createdAt: number;
  /** Facts of the hosts in the list, so that fetch needs no crawl db. */
  readonly hosts: Readonly<Record<string, HostFacts>>;
}

export interface SegmentInfo extends NewSegment {
  readonly urls: number;
  readonly state: SegmentState;
}

/** One line of the fetch list: all that fetch and parse need to know of a URL. */
export interface FetchItem {
  /** Position in the list, from 0. */
  readonly index: number;
  readonly url: string;
  /** Politeness key. */
  readonly host: string;
  readonly partition: number;
  readonly depth: number;
  readonly score: number;
  readonly validators: Validators;
  readonly digest: string | null;
  /** What the headers said of a page that is known; absent in lists of older versions. */
  readonly claims?: HeaderClaims;
  /** Fetch in full even where headers say "unchanged". */
  readonly audit: boolean;
  readonly metadata: Readonly<Record<string, string | number | boolean>>;
}

/** Where a response lies in the segment's WARC files. */
export interface WarcPointer {
  readonly file: string;
  /** Byte offset of the gzip member and its length. */
  readonly offset: number;
  readonly length: number;
}

export interface FetchedRecord {
  readonly index: number;
  readonly url: string;
  readonly host: string;
  readonly outcome: FetchOutcome;
  readonly warc: WarcPointer | null;
  /** What the fetch taught about the host, as increments. */
  readonly observation: HostObservation | null;
}

/** Increments to {@link HostFacts}; absent means 0. */
export interface HostObservation {
  readonly audits?: number;
  readonly lies?: number;
  readonly conditionalHits?: number;
  readonly conditionalMisses?: number;
  readonly headHits?: number;
  readonly headMisses?: number;
  readonly bytesSaved?: number;
  readonly hintHits?: number;
  readonly hintMisses?: number;
  /** What the host answered where there is nothing; not an increment, the newest holds. Never in a segment. */
  readonly nothing?: AnswerToNothing;
  /** As {@link HostFacts.restUntil}; not an increment, the newest holds. */
  readonly restUntil?: number;
}

/** A response as it came over the wire, to be stored as a WARC `response` or, without payload, `revisit` record. */
export interface WireResponse {
  readonly url: string;
  readonly at: number;
  readonly httpVersion: string;
  readonly status: number;
  readonly statusText: string;
  /**
   * Name, value, name, value, ... in the order and case received. `Transfer-Encoding` is not stored, since chunking is
   * undone.
   */
  readonly rawHeaders: readonly string[];
  /**
   * The body as transferred (codings kept, chunking undone). It is not stored for a revisit, so that reads back as
   * `null`; given with `identical-payload-digest` its digest is stored. `null` for a response without one reads back as
   * an empty body.
   */
  readonly body: Uint8Array | null;
  /** SHA-256 of `body`, 64 hex digits, where it is known already; it is not read back. */
  readonly bodySha256?: string;
  readonly truncated: boolean;
  readonly remoteAddress: string | null;
  /** Why a `revisit` record is written: 304 or equal headers, or an equal body. */
  readonly revisit: 'server-not-modified' | 'identical-payload-digest' | null;
  /** Time of the full response that a revisit refers to, where it is known, ms since the epoch. */
  readonly refersToAt?: number;
}

export interface Outlink {
  /** Absolute, resolved against the base; not yet canonical. */
  readonly url: string;
  /** Text of the anchor, white space folded, cut at 256 characters. */
  readonly anchor: string;
  readonly rel: 'link' | 'canonical' | 'alternate' | 'refresh' | 'frame' | 'sitemap' | 'feed';
  readonly nofollow: boolean;
  /** Reason why the link is taken for noise; absent for content links. */
  readonly noise?: string;
  /** Language of an `hreflang` alternate. */
  readonly lang?: string;
  /** `lastmod` or entry date given with the link, ms since the epoch. */
  readonly lastModifiedAt?: number;
}

export interface ParsedRecord {
  readonly index: number;
  readonly url: string;
  readonly outcome: ParseOutcome;
  readonly contentType: string;
  readonly charset: string | null;
  readonly lang: string | null;
  readonly canonical: string | null;
  readonly text: string;
  readonly outlinks: readonly Outlink[];
}

/**
 * One open segment. Records may be appended concurrently; each lands whole. Writing to a segment that is open for
 * reading or was closed, to a position that is not in the list, or twice to one position is a `TypeError`, as is parse
 * output before the fetch.
 */
export interface Segment {
  readonly info: SegmentInfo;
  /** The fetch list in order, from position `from` (default 0). */
  fetchList(from?: number): AsyncIterable<FetchItem>;
  /** Which positions have been fetched, parsed. Bit per position: memory is urls / 8 bytes each. */
  hasFetched(index: number): boolean;
  hasParsed(index: number): boolean;
  readonly fetchedCount: number;
  readonly parsedCount: number;
  /** Stores the response (if any) as WARC, then the record, in that order, so a record never points at nothing. */
  addFetched(record: Omit<FetchedRecord, 'warc'>, response: WireResponse | null): Promise<FetchedRecord>;
  /**
   * Appends a {@link ParsedRecord} encoded as a MessagePack map (made in a worker, not looked into here). Long texts
   * may be binary there (UTF-8), so that who does not want them need not decode them.
   */
  addParsed(index: number, encoded: Uint8Array): Promise<void>;
  /** In the order in which they were added. */
  fetched(): AsyncIterable<FetchedRecord>;
  /** `texts: false` leaves long texts empty, which saves decoding them. */
  parsed(options?: { readonly texts?: boolean }): AsyncIterable<ParsedRecord>;
  /** The fetched record of one position; `undefined` if not fetched. May scan. */
  findFetched(url: string): Promise<FetchedRecord | undefined>;
  findParsed(url: string): Promise<ParsedRecord | undefined>;
  /** Reads a stored response back. Rejects with `CrawlError('segment-corrupt')`. */
  readResponse(pointer: WarcPointer): Promise<WireResponse>;
  /** Throws the parse output away, to parse anew. */
  resetParsed(): Promise<void>;
  /** Flushes to disk and marks the state reached. A state never moves back but by `resetParsed` (to `fetched`). */
  setState(state: SegmentState): Promise<void>;
  close(): Promise<void>;
}
