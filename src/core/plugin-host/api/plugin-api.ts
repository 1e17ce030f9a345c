/**
 * The plugin API, `incrawl/plugin`: all that a plugin may import of incrawl. A plugin is a folder or package whose
 * default export comes from {@link definePlugin}. Its name is `<kind>-<name>`; the kind selects the extension point.
 */
import type { CheerioAPI } from 'cheerio';
import type { Document, Element } from 'domhandler';
import type { ZodType } from 'zod';
import type { BlockTable } from '../../../page/block-table.ts';
import type { Tape } from '../../../page/tape/tape.ts';
import type { InlinkFactors } from '../../domain/crawl/discovery/inlinks.ts';
import type { FetchSchedule } from '../../domain/crawl/revisit/schedule.ts';
import type { CrawlDatum, MetadataValue } from '../../domain/crawl/states/datum.ts';
import type { FetchProtocol } from '../../ports/fetch-protocol.ts';
import type { Log } from '../../ports/log.ts';
import type { Outlink } from '../../ports/segment-store.ts';
import type { Exporter } from './exporter-api.ts';
import type { ParseResult } from './parse-result.ts';

import type { UrlExemption, UrlFilter, UrlNormalizer } from './url-api.ts';

export type { BlockType, PageBlock } from '../../../page/page-block.ts';
export type { InlinkFactors } from '../../domain/crawl/discovery/inlinks.ts';
export type {
  FetchSchedule,
  ScheduleDecision,
  ScheduleTerm,
  ScheduleVisit,
} from '../../domain/crawl/revisit/schedule.ts';
export type { CrawlDatum, MetadataValue } from '../../domain/crawl/states/datum.ts';
export type { Exchange, ExchangeRequest, FetchProtocol, ResponseHead } from '../../ports/fetch-protocol.ts';
export type { Log } from '../../ports/log.ts';
export type { Outlink } from '../../ports/segment-store.ts';
export type * from './exporter-api.ts';
export type * from './parse-result.ts';
export * from './plugin-library.ts';
export type * from './url-api.ts';
export type * from './url-api.ts';

/** The extension that a plugin of each kind provides. */
export interface ExtensionByKind {
  /** Requests to servers. Main thread; of two for one scheme, `winners` in the list names one. */
  protocol: FetchProtocol;
  /** The spelling of URLs. Main thread; all of them run, in the order of the list. */
  urlnormalizer: UrlNormalizer;
  /** Which URLs enter the crawl, and stay in it. Main thread; in the order of the list, up to the first refusal. */
  urlfilter: UrlFilter;
  /** Which URLs enter although a filter refuses them. Main thread; up to the first that exempts. */
  urlexemption: UrlExemption;
  /** Title, text and outlinks of a body. Parse workers; of two for one type, `winners` names one. */
  parse: Parser;
  /** Changes to what the parser found. Parse workers; all of them run, in the order of the list. */
  parsefilter: ParseFilter;
  /** 64 bits that say how alike pages or their versions are. Parse workers; `parse.signature` names the one in use. */
  signature: Signature;
  /** When a page is visited again. Main thread; `schedule.name` names the one in use. */
  schedule: FetchSchedule;
  /** Which URLs go first. Main thread; one of the list. */
  scoring: Scoring;
  /** A format of `incrawl export`. Main thread, in the process that exports. */
  exporter: Exporter;
}

/** The first word of a plugin's name. */
export type PluginKind = keyof ExtensionByKind;

/** A fetched page. One parser and then all parse filters work on the same object, and so on the same DOM. */
export interface Page {
  readonly url: string;
  /** MIME type, lower case, without parameters. */
  readonly contentType: string;
  /** Response headers. Names in lower case; repeated fields joined by `, `, those of `X-Robots-Tag` by line ends. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body after decompression. */
  readonly body: Uint8Array;
  /** WHATWG name of the character encoding detected for the body. */
  readonly charset: string;
  /** The body decoded by {@link charset}, on first use. */
  readonly content: string;
  /** {@link content} in UTF-8: the body itself, as a rule. */
  readonly utf8: Uint8Array;
  /** Its nodes as numbers, made anew from {@link dom} at each use once that was asked for; `null` for plain text. */
  readonly tape: Tape | null;
  /** An empty tape for a parser to fill: it becomes {@link tape}. Its arrays belong to the host, so none is kept. */
  newTape(): Tape;
  /** Blocks of the result as a table, made anew at each use once `result.blocks` was read or set. */
  readonly blocks: BlockTable;
  /** An empty table for a filter to fill: it becomes {@link blocks}. It belongs to the host, so none is kept. */
  newBlocks(): BlockTable;
  /** Sets the text of the result to what `read` returns when it is first used. */
  readTextLater(read: () => string): void;
  /** The DOM, made from {@link tape} on first use, or set by a parser; `null` for plain text. */
  dom: Document | null;
  /** The `<a>` elements of each outlink, by its URL. */
  linkElements: ReadonlyMap<string, readonly Element[]>;
  /** cheerio over {@link dom}, loaded on first use. Throws a `TypeError` without a DOM. */
  readonly $: CheerioAPI;
  /** The result so far; parser and filters fill it in. */
  readonly result: ParseResult;
  /** Metadata of the URL in the crawl db (from seeds and earlier visits). */
  readonly metadata: Readonly<Record<string, MetadataValue>>;
}

/** Versioning of extracted text, for parsers and parse filters. */
export interface ContentSource {
  /**
   * Name and version, letters and digits, of the extraction of the signed texts (title, text, main text, keywords,
   * blocks). It is part of the name of every signature, so that signatures of differently extracted texts are never
   * compared. Change it when the same page gives another text. The host adds options other than the defaults. Empty for
   * a filter that changes none of these texts. Default: the name of the plugin.
   */
  readonly content?: string;
}

/** Parses bodies of the MIME types that it claims. */
export interface Parser extends ContentSource {
  /** MIME types, lower case; `*` at the end matches a family (`text/*`). */
  readonly types: readonly string[];
  /**
   * Set by parsers of formats that can grow to many times their size, such as archives. Bodies of its types are then
   * parsed in a process apart, one at a time, which is ended when its anonymous memory (heaps, arrays, what libraries
   * allocate; the program itself takes some 60 MiB of it) is larger than this, bytes: that page is `parse-failed`.
   * Default: they are parsed in the threads of all pages, where only the memory of JavaScript objects is bounded.
   */
  readonly maxMemory?: number;
  /**
   * Called once for each fetched body of its types, before the parse filters. Fills in `page.result`. A parser that
   * throws gives the page the outcome `parse-failed`; one that takes longer than `parse.timeout`, `parse-timeout`.
   */
  parse(page: Page): void | Promise<void>;
}

/** Reads and changes the result of a parsed page. Parse filters run in the order of the plugin list. */
export interface ParseFilter extends ContentSource {
  /**
   * Called once for each parsed page, after the parser and the filters before it. Errors as for
   * {@link Parser.parse}.
   */
  filter(page: Page): void | Promise<void>;
}

/** Two signatures of a page, each 16 hex digits, or `null` for a page without words to sign. */
export interface SignaturePair {
  /** Compared with those of other pages: near duplicates, pages that say "not found". */
  readonly likeness: string | null;
  /** Compared with that of the visit before: distances, schedules. Not `null` where `likeness` is not. */
  readonly change: string | null;
  /**
   * 8 hex digits: a digest of all that `change` is made from. Where it differs, so do the versions, even if no bit of
   * `change` moves. Absent or `null`: bits alone decide.
   */
  readonly digest?: string | null;
}

/** An answer of `sign` as a pair: a single signature serves for likeness and for change. */
export const signaturePair = (answer: ReturnType<Signature['sign']>): SignaturePair =>
  answer === null || typeof answer !== 'object' ? { likeness: answer, change: answer } : answer;

/** A locality-sensitive signature of 64 bits. */
export interface Signature {
  /** Name, version and parameters of all that `sign` returns. Only signatures of equal ids are compared. */
  readonly id: string;
  /**
   * Called once for each parsed page, after the parse filters, synchronously. Returns 16 hex digits, which then serve
   * for likeness and for change, `null` for a page without words, or a signature for each. An error, or another answer,
   * gives the page the outcome `plugin-failed`.
   */
  sign(page: Page): string | SignaturePair | null;
}

/**
 * Scores URLs. The arguments of its methods are frozen; each method returns a finite number, synchronously. An error,
 * or another answer, ends the command with `plugin-failed`.
 */
export interface Scoring {
  /** Called by inject: score of a seed that names none. */
  seedScore(url: string): number;
  /** Called by updatedb for each new URL: its score. `depth` is that of the URL, links from a seed. */
  outlinkScore(parent: CrawlDatum, outlink: Outlink, depth: number): number;
  /**
   * Called by updatedb when many links, or more than before, lead to a page: the factors on its score and on the worth
   * of its visits. `inlinks` is about their number, a power of 4 from 64 on; the pages of another host count once. Each
   * factor is above 0, and 1 says nothing. What a page got stays in its metadata (`inlinks`, `inlinkScore`,
   * `inlinkWeight`). Without this method no links are counted.
   */
  inlinkFactors?(inlinks: number): InlinkFactors;
  /** Called by generate for each due URL: higher is fetched first. `now` in ms since the epoch. */
  rank(candidate: RankCandidate, now: number): number;
  /**
   * Whether the rank of URLs that were never fetched depends on `score` and `dueAt` alone, and does not rise when the
   * score falls or the due time is later. Generate then reads only the best of them, however many are due. Default:
   * `false`.
   */
  readonly ranksNewByScoreAndTime?: boolean;
}

/** A due URL in generate, with the fields that its index holds. Times in ms since the epoch. */
export interface RankCandidate {
  readonly url: string;
  readonly score: number;
  /** Number of links from a seed. */
  readonly depth: number;
  readonly dueAt: number;
  readonly intervalMs: number;
  /** `null`: never fetched. */
  readonly lastFetchAt: number | null;
  /** Consecutive failed fetches. */
  readonly failures: number;
}

/** Services of the host for one plugin. */
export interface PluginHost {
  /** Logs under the plugin's name. */
  readonly log: Log;
  /** Text of a file named in the options, relative to the configuration's folder. Errors name the full path. */
  readTextFile(path: string): string;
  /** The transports of incrawl, guarded against private addresses. In the main thread only. */
  readonly http: {
    createGotProtocol(): FetchProtocol;
    /** `http2`: with servers that have it, over TLS. */
    createUndiciProtocol(options?: { readonly http2?: boolean }): Promise<FetchProtocol>;
  };
  /** The clock of the crawl, which may be a simulated one, ms since the epoch. */
  now(): number;
  /** Product token of the crawl (`agent.name`), to match robots directives in pages and headers. */
  readonly agent: string;
  /** Initial, shortest and longest revisit interval as configured (`schedule.*`), ms. */
  readonly intervals: { readonly intervalMs: number; readonly minIntervalMs: number; readonly maxIntervalMs: number };
}

/** Argument of {@link definePlugin}. */
export interface PluginDefinition<Kind extends PluginKind = PluginKind, Options = unknown> {
  readonly name: `${Kind}-${string}`;
  /**
   * Version of this API. Members may be added without a new number: to what plugins are given, and, as optional ones,
   * to what they provide. Any other change gets the next number, and plugins of another number are refused.
   */
  readonly api: 1;
  /** Schema of the options, which `setup` receives validated and frozen. Without a schema, options are refused. */
  readonly options?: ZodType<Options>;
  /** Makes the extension. Called once per thread; an error stops the start of the program. */
  setup(host: PluginHost, options: Options): ExtensionByKind[Kind] | Promise<ExtensionByKind[Kind]>;
}

const KINDS =
  'protocol urlnormalizer urlfilter urlexemption parse parsefilter signature schedule scoring exporter'.split(
    ' ',
  ) as readonly PluginKind[];

/** The kind at the beginning of a plugin's name. Throws a `TypeError` that lists the kinds if there is none. */
export function kindOfPlugin(name: string): PluginKind {
  const kind = KINDS.find((each) => name.startsWith(`${each}-`) && name.length > each.length + 1);
  if (kind === undefined) {
    throw new TypeError(`plugin name "${name}" must be <kind>-<name> with a kind of ${KINDS.join(', ')}`);
  }
  return kind;
}

/**
 * Declares a plugin. Checks its name, API version and `setup`, and infers the types of options and extension. Throws a
 * `TypeError` for a definition that is none.
 */
export function definePlugin<Kind extends PluginKind, Options = Record<string, never>>(
  definition: PluginDefinition<Kind, Options>,
): PluginDefinition<Kind, Options> {
  kindOfPlugin(definition.name);
  if (definition.api !== 1) {
    throw new TypeError(`plugin "${definition.name}" has api ${String(definition.api)}, expected api: 1`);
  }
  if (typeof definition.setup !== 'function') throw new TypeError(`plugin "${definition.name}" has no setup function`);
  return Object.freeze(definition);
}
