import type { PageVariant } from '../../page/links/page-series.ts';
import type { HeaderClaims } from '../domain/crawl/headers/ladder.ts';
import type { RenderedCopy, RenderTrial } from '../domain/crawl/rendering/render-trials.ts';
import type { Absence } from '../domain/crawl/revisit/missing-links.ts';
import type { CrawlState, Validators } from '../domain/crawl/states/datum.ts';
import type { FetchOutcome, ParseOutcome } from '../domain/crawl/states/outcome.ts';
import type { MissingPage } from '../domain/crawl/states/soft-404.ts';
import type { Truncation } from '../domain/crawl/states/truncation.ts';
import type { HostFacts, SegmentState } from './crawl-db.ts';

/**
 * Segments: the fetch list of a round with its fetched and parsed records. Append-only and recoverable: a record cut
 * short by a crash is dropped at the next opening, all before it stays.
 */
export interface SegmentStore {
  /**
   * Writes a segment with its fetch list; resolves when it is on disk. Before that, `list` does not return it. Items
   * are read as a stream; `index` must count up from 0.
   */
  create(info: NewSegment, items: Iterable<FetchItem> | AsyncIterable<FetchItem>): Promise<SegmentInfo>;
  /**
   * Ids sort by age. Rejects with `CrawlError('segment-missing')`. Opening for writing truncates torn ends and allows
   * one writer: `db-locked` names the other one. A reader may run beside the writer and sees what was flushed when it
   * began.
   */
  open(id: string, mode: 'read' | 'write'): Promise<Segment>;
  /**
   * Complete segments, oldest first. Folders that are no segment or lack the end mark are left out. All are read, with
   * the facts of their hosts: some 100 MB after a year of large rounds.
   */
  list(): Promise<SegmentInfo[]>;
  /** What `list` has of one segment; `null` where there is no complete one of this id. */
  info(id: string): Promise<SegmentInfo | null>;
  /** Ids of all segments, oldest first; those of incomplete ones may be among them. No segment is read. */
  ids(): Promise<string[]>;
  /** Ids of incomplete segments of a crashed `create`; `remove` deletes them. */
  listIncomplete(): Promise<string[]>;
  /** Deletes a segment, complete or not. Unknown ids are ignored. */
  remove(id: string): Promise<void>;
  /**
   * Lets go of segments that are kept ready to be opened again by this process. To be called when the lease ends under
   * which they were opened. Absent: none are kept.
   */
  letGo?(): Promise<void>;
}

export interface NewSegment {
  readonly id: string;
  readonly createdAt: number;
  /** Facts of the hosts in the list, so that fetch does not need the crawl db. */
  readonly hosts: Readonly<Record<string, HostFacts>>;
  /** Absent where no target of a redirect may join the list. */
  readonly bounds?: RoundBounds;
  /** The URLs are from a list of the operator: those without a record get one when their visits are applied. */
  readonly isListed?: true;
}

/** The limits of a round, for targets of redirects that are to be fetched in it. */
export interface RoundBounds {
  /** Targets that may join the list, by the size of the round and its budget. */
  readonly free: number;
  /** Whether each of them is charged to the budget by the day. */
  readonly isCharged: boolean;
  /** 0: no cap. They hold for the list with what has joined it. */
  readonly maxPerHost: number;
  readonly maxPerDomain: number;
  readonly minScore: number;
  readonly minIntervalMs: number;
  /** Only these states; absent: all. */
  readonly status?: readonly CrawlState[];
  /** As in `LinkOptions`; absent: no limit. */
  readonly maxLayers?: number;
  /** An expression that their records match; absent: none. */
  readonly where?: string;
}

export interface SegmentInfo extends NewSegment {
  /** URLs of the fetch list, with those that joined it. */
  readonly urls: number;
  /** How many of them joined it: targets of redirects, at the end of the list. Absent: none did. */
  readonly followed?: number;
  /** As {@link Segment.noteTurns}; absent: none. */
  readonly turns?: Readonly<Record<string, number>>;
  readonly state: SegmentState;
}

/** An entry of the fetch list: all that fetch and parse need to know of a URL. */
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
  /** Of a page whose stored copy is rendered: what it was made from, and its digest; `digest` is of the static page. */
  readonly rendered?: RenderedCopy & { readonly shown: string };
  /** The stored copy was parsed and has hardly any text. */
  readonly isBare?: true;
  /** Header claims of the stored copy; absent for a new URL. */
  readonly claims?: HeaderClaims;
  /** Fetch in full even when headers say "unchanged". */
  readonly audit: boolean;
  /** The body is taken even if the transfer cuts it off: earlier visits in a row have had no whole one. */
  readonly takesPartial?: true;
  /** It is probably not there; absent: it may be. */
  readonly absence?: Absence;
  readonly metadata: Readonly<Record<string, string | number | boolean>>;
  /** Absent for what generate selected. */
  readonly joined?: {
    /** The URL that redirects here. */
    readonly from: string;
    /** Whether the crawl db did not have it before. */
    readonly isNew: boolean;
    /** Whether redirects alone lead to it from a seed, on the site of the seed. */
    readonly isOfSeed: boolean;
  };
}

/** Place of a response in the WARC files of the segment. */
export interface WarcPointer {
  readonly file: string;
  /** Byte offset of the gzip member and its length. */
  readonly offset: number;
  readonly length: number;
  /** Place of the response that has the body, where this one repeats it; it was stored before, in the same segment. */
  readonly body?: Omit<WarcPointer, 'body'>;
}

export interface FetchedRecord {
  readonly index: number;
  readonly url: string;
  readonly host: string;
  readonly outcome: FetchOutcome;
  readonly warc: WarcPointer | null;
  /** What the fetch showed of the host, as increments. */
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
  /** Answer of the host to a URL that cannot exist; not an increment, the newest holds. Never in a segment. */
  readonly nothing?: MissingPage;
  /** As {@link HostFacts.restUntil}; not an increment, the latest time holds. */
  readonly restUntil?: number;
  /** A bare page that was rendered. */
  readonly trial?: RenderTrial;
  /** One of the dead links of the host was requested. */
  readonly deadLink?: { readonly at: number; readonly isThere: boolean };
}

/** A response as received, to be stored as a WARC `response` or, without payload, `revisit` record. */
export interface WireResponse {
  readonly url: string;
  readonly at: number;
  readonly httpVersion: string;
  readonly status: number;
  readonly statusText: string;
  /**
   * Name, value, name, value, ... in the order and case received. `Transfer-Encoding` is not stored, as chunking is
   * removed.
   */
  readonly rawHeaders: readonly string[];
  /**
   * The body as transferred (codings kept, chunking removed); `null` without one, which reads back as an empty body.
   * The body of a revisit is not stored and reads back as `null`; with `identical-payload-digest` its digest is stored.
   */
  readonly body: Uint8Array | null;
  /** SHA-256 of `body`, 64 hex digits, where known; it is not read back. */
  readonly bodySha256?: string;
  /** Why `body` is not all that the server had to send; `false`: it is. */
  readonly truncated: Truncation | false;
  readonly remoteAddress: string | null;
  /** Profile of a `revisit` record: 304 or equal headers, or an equal body. */
  readonly revisit: 'server-not-modified' | 'identical-payload-digest' | null;
  /** What a browser made of it: WARC records of their own, behind that of the response. Absent: it was not rendered. */
  readonly rendered?: RenderedBody;
  /** Time of the full response that a revisit refers to, ms since the epoch, where known. */
  readonly refersToAt?: number;
  /** Its URL, where it is another one; it is not read back. */
  readonly refersToUrl?: string;
}

export interface RenderedBody {
  /** The document as it stood, serialised as HTML in UTF-8. */
  readonly html: Uint8Array;
  /** PNG of what a screen would show; absent: none was wanted. */
  readonly screenshot?: Uint8Array;
}

export interface Outlink {
  /** Absolute, resolved against the base; not yet canonical. */
  readonly url: string;
  /** Anchor text, white space collapsed, cut at 256 characters. */
  readonly anchor: string;
  readonly rel: 'link' | 'canonical' | 'alternate' | 'refresh' | 'frame' | 'sitemap' | 'feed';
  readonly nofollow: boolean;
  /** Reason why the link counts as noise; absent for content links. */
  readonly noise?: string;
  /** Language of an `hreflang` alternate. */
  readonly lang?: string;
  /** The version of the linking page that it is, where nothing but a `link` element of that page leads to it. */
  readonly variant?: PageVariant;
  /** The next page of the linking article; absent for any other. */
  readonly isNextPage?: true;
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
  /** As the page gives them; absent where it does not. */
  readonly description?: string;
  readonly keywords?: readonly string[];
  /** Texts of links on the theme of the page: those of content that consists of links. */
  readonly topics?: readonly string[];
  readonly siteName?: string;
  /** Absolute http(s) URL. */
  readonly image?: string;
  /** Where the text was found, if not in the visible HTML: `noscript`, `json-ld articleBody`. */
  readonly textSource?: string;
  /** The next page of a text or list of several pages, absolute. */
  readonly nextPage?: string;
  readonly outlinks: readonly Outlink[];
}

/** New parse output, held beside the present one; discarded when the segment is closed. */
export interface ParsedReplacement {
  /** As {@link Segment.addParsed}, for a fetched position, once each. */
  add(index: number, encoded: Uint8Array): Promise<void>;
  /**
   * Replaces the old records by the new ones, in their order, atomically: readers, and a start after a crash, find
   * either the old or the new output. Resolves when it is on disk.
   */
  commit(): Promise<void>;
}

/**
 * An open segment. Records may be appended concurrently; each is written whole. Throws a `TypeError` for writes to a
 * segment open for reading or closed, to a position outside the list, twice to one position, and for parse output
 * before the fetch.
 */
export interface Segment {
  readonly info: SegmentInfo;
  /** The fetch list in order, from position `from` (default 0). */
  fetchList(from?: number): AsyncIterable<FetchItem>;
  /**
   * Adds to the end of the fetch list, with the facts of hosts that are new to the segment; resolves when it is on the
   * disk of this machine. `index` goes on where the list ends.
   */
  addItems(items: readonly FetchItem[], hosts: Readonly<Record<string, HostFacts>>): Promise<void>;
  /** Whether a position was fetched, parsed. A bit per position: memory is urls / 8 bytes each. */
  hasFetched(index: number): boolean;
  hasParsed(index: number): boolean;
  readonly fetchedCount: number;
  readonly parsedCount: number;
  /** Stores the response (if any) as WARC, then the record: a record never points at a missing response. */
  addFetched(record: Omit<FetchedRecord, 'warc'>, response: WireResponse | null): Promise<FetchedRecord>;
  /**
   * Appends a {@link ParsedRecord} encoded as a MessagePack map by a worker; the map is not decoded here. Long texts
   * may be binary (UTF-8), so that readers without need of them skip the decoding.
   */
  addParsed(index: number, encoded: Uint8Array): Promise<void>;
  /** In the order of appending. */
  fetched(): AsyncIterable<FetchedRecord>;
  /** `texts: false` leaves long texts empty and saves their decoding. */
  parsed(options?: { readonly texts?: boolean }): AsyncIterable<ParsedRecord>;
  /** The fetched record of a URL; `undefined` where it was not fetched. May scan. */
  findFetched(url: string): Promise<FetchedRecord | undefined>;
  findParsed(url: string): Promise<ParsedRecord | undefined>;
  /** Reads a stored response. Rejects with `CrawlError('segment-corrupt')`. */
  readResponse(pointer: WarcPointer): Promise<WireResponse>;
  /** Deletes the parse output, to parse again. */
  resetParsed(): Promise<void>;
  /** Begins to replace the parse output of some positions; the state stays. One replacement at a time. */
  replaceParsed(): ParsedReplacement;
  /**
   * Notes hosts that must not be requested before a time, ms since the epoch: those whose URLs were left because of it.
   * On disk with the next state.
   */
  noteTurns(turns: Readonly<Record<string, number>>): Promise<void>;
  /** Flushes to disk and stores the state. A state moves back only by `resetParsed` (to `fetched`). */
  setState(state: SegmentState): Promise<void>;
  close(): Promise<void>;
}
