/**
 * All that a plugin may import: `incrawl/plugin`. A plugin is a folder (or package) whose default export comes from
 * {@link definePlugin}; its name is `<kind>-<name>`, and the kind says which extension it makes.
 */
import type { CheerioAPI } from 'cheerio';
import type { Document, Element } from 'domhandler';
import type { ZodType } from 'zod';
import type { FetchSchedule } from '../../domain/crawl/revisit/schedule.ts';
import type { CrawlDatum, MetadataValue } from '../../domain/crawl/states/datum.ts';
import type { PageBlock } from '../../domain/page/page-block.ts';
import type { FetchProtocol } from '../../ports/fetch-protocol.ts';
import type { Log } from '../../ports/log.ts';
import type { Outlink } from '../../ports/segment-store.ts';
import type { Exporter } from './exporter-api.ts';

export type {
  FetchSchedule,
  ScheduleDecision,
  ScheduleTerm,
  ScheduleVisit,
} from '../../domain/crawl/revisit/schedule.ts';
export type { CrawlDatum, MetadataValue } from '../../domain/crawl/states/datum.ts';
export type { BlockType, PageBlock } from '../../domain/page/page-block.ts';
export type { Exchange, ExchangeRequest, FetchProtocol, ResponseHead } from '../../ports/fetch-protocol.ts';
export type { Log } from '../../ports/log.ts';
export type { Outlink } from '../../ports/segment-store.ts';
export type * from './exporter-api.ts';
export * from './plugin-library.ts';

/** Extension points by kind of plugin. */
export interface ExtensionByKind {
  protocol: FetchProtocol;
  urlnormalizer: UrlNormalizer;
  urlfilter: UrlFilter;
  parse: Parser;
  parsefilter: ParseFilter;
  signature: Signature;
  schedule: FetchSchedule;
  scoring: Scoring;
  exporter: Exporter;
}
export type PluginKind = keyof ExtensionByKind;

/** Rewrites a canonical URL; `null` refuses it. Must be idempotent. The answer is made canonical again. */
export interface UrlNormalizer {
  normalize(url: string): string | null;
  /**
   * What {@link normalize} does, rule by rule; only rules that change something. Without it the normaliser is told as
   * one step.
   */
  explain?(url: string): readonly { readonly rule: string; readonly after: string }[];
}

/** Where a URL was met. */
export interface UrlContext {
  /** The page that links to it; `null` for a seed. */
  readonly from: string | null;
  /** Links from a seed. */
  readonly depth: number;
  /** `host[:port]` values of the seeds, for scope rules. May be empty in a check. */
  readonly seedHosts: ReadonlySet<string>;
}

export type UrlVerdict =
  | { readonly accept: true; readonly reason?: string }
  /** `reason` is for people and counters: stable words first, e.g. `rule line 12: -\\.gif$`. */
  | { readonly accept: false; readonly reason: string };

/** Lets a canonical URL in or keeps it out. A filter that throws keeps the URL out, and says so. */
export interface UrlFilter {
  filter(url: string, context: UrlContext): UrlVerdict;
  /**
   * For filters that count: asked once for each URL that passed all filters and that the crawl db does not have, in the
   * order met. A filter that throws admits the URL.
   */
  admit?(url: string): UrlAdmissionVerdict;
  /** Told of every URL in the crawl db before the first {@link admit} of a run. */
  learn?(url: string): void;
}

export type UrlAdmissionVerdict =
  /** `demote`: the share of its score that the URL keeps, above 0 and below 1. */
  | { readonly admit: true; readonly demote?: number; readonly reason?: string }
  | { readonly admit: false; readonly reason: string };

/** A fetched page on its way through a parser and the parse filters; all share the one DOM. */
export interface Page {
  readonly url: string;
  /** MIME type, lower case, without parameters. */
  readonly contentType: string;
  /** Names lower case, repeated fields joined by `, `, those of `X-Robots-Tag` by line ends. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body, content codings undone. */
  readonly body: Uint8Array;
  /** Name of the encoding (WHATWG) that was found for the body, and the body decoded by it (lazily). */
  readonly charset: string;
  readonly content: string;
  /** The DOM, set by the HTML and XML parsers; `null` for plain text. */
  dom: Document | null;
  /** The `<a>` elements that each outlink came from, by its URL; set by the HTML parser. */
  linkElements: ReadonlyMap<string, readonly Element[]>;
  /** cheerio over {@link dom}, made on first use; costs nothing if not used. Throws a `TypeError` without a DOM. */
  readonly $: CheerioAPI;
  /** What has been found so far; parser and filters fill it in. */
  readonly result: ParseResult;
  /** Metadata of the URL in the crawl db (from seeds and earlier visits). */
  readonly metadata: Readonly<Record<string, MetadataValue>>;
}

export interface ParseResult {
  title: string | null;
  /** Visible text in reading order. */
  text: string;
  /** Text of the main content where something has found it; the signature prefers it to `text`. */
  mainText: string | null;
  /** Blocks in reading order, where a parse filter has found them. */
  blocks: PageBlock[];
  lang: string | null;
  description: string | null;
  keywords: string[];
  /** Canonical URL as the page declares it, absolute. */
  canonical: string | null;
  /** `<base href>`, absolute. */
  base: string | null;
  noindex: boolean;
  nofollow: boolean;
  outlinks: Outlink[];
  /** Goes into the record's metadata; keys of plugins are `<plugin>.<key>`. */
  metadata: Record<string, MetadataValue>;
}

/** What parsers and parse filters say of themselves. */
export interface ContentSource {
  /**
   * Name and version, letters and digits, of what it makes of the texts that are signed (title, text, main text,
   * keywords, blocks): part of the name of every signature, so that signatures over texts which are not alike are never
   * compared. Moved when the same page gives another text. Options that are not the default ones are told by the host.
   * Empty for a filter that touches none of these; default: the name of the plugin.
   */
  readonly content?: string;
}

/** Turns a body of the MIME types it claims into a {@link ParseResult}. */
export interface Parser extends ContentSource {
  /** MIME types, lower case; `*` at the end matches a family (`text/*`). */
  readonly types: readonly string[];
  parse(page: Page): void | Promise<void>;
}

/** Looks at a parsed page and adds to or changes the result. Runs in the order of `conf/plugins.yaml`. */
export interface ParseFilter extends ContentSource {
  filter(page: Page): void | Promise<void>;
}

/** A locality-sensitive signature of 64 bits. */
export interface Signature {
  /** Name, version and parameters: signatures compare only under equal ids. */
  readonly id: string;
  /** 16 hex digits, or `null` for a page without words. */
  sign(page: Page): string | null;
}

/** What its methods are given is frozen. */
export interface Scoring {
  /** Score of a seed without one of its own. */
  seedScore(url: string): number;
  /** Score of a newly found outlink. */
  outlinkScore(parent: CrawlDatum, outlink: Outlink, depth: number): number;
  /** Rank in generate: higher is fetched first. Only the fields given here are known there. */
  rank(candidate: RankCandidate, now: number): number;
}

export interface RankCandidate {
  readonly url: string;
  readonly score: number;
  readonly depth: number;
  readonly dueAt: number;
  readonly intervalMs: number;
  readonly lastFetchAt: number | null;
  readonly failures: number;
}

/** What the host offers to a plugin. */
export interface PluginHost {
  /** Logs under the plugin's name. */
  readonly log: Log;
  /** Reads a file named in the options, relative to the configuration's folder. Throws with the full path. */
  readTextFile(path: string): string;
  /** Builders for the transports that ship with incrawl, guarded against private addresses. Only in the main thread. */
  readonly http: { createGotProtocol(): FetchProtocol; createUndiciProtocol(): Promise<FetchProtocol> };
  /** The clock of the crawl, which may be a simulated one, ms since the epoch. */
  now(): number;
  /** Product token of the crawl (`agent.name`): the name by which robots directives in pages and headers mean us. */
  readonly agent: string;
  /** Start interval and bounds as configured (`schedule.*`), ms; what a schedule is built from. */
  readonly intervals: { readonly intervalMs: number; readonly minIntervalMs: number; readonly maxIntervalMs: number };
}

export interface PluginDefinition<Kind extends PluginKind = PluginKind, Options = unknown> {
  readonly name: `${Kind}-${string}`;
  readonly api: 1;
  /** Schema of the options; they arrive validated and frozen. Without one, options are refused. */
  readonly options?: ZodType<Options>;
  /** Called once per thread. Throwing stops the start of the program. */
  setup(host: PluginHost, options: Options): ExtensionByKind[Kind] | Promise<ExtensionByKind[Kind]>;
}

const KINDS: readonly PluginKind[] = [
  'protocol',
  'urlnormalizer',
  'urlfilter',
  'parse',
  'parsefilter',
  'signature',
  'schedule',
  'scoring',
  'exporter',
];

/** The kind that a plugin's name begins with; throws a `TypeError` that lists the kinds otherwise. */
export function kindOfPlugin(name: string): PluginKind {
  const kind = KINDS.find((each) => name.startsWith(`${each}-`) && name.length > each.length + 1);
  if (kind === undefined) {
    throw new TypeError(`plugin name "${name}" must be <kind>-<name> with a kind of ${KINDS.join(', ')}`);
  }
  return kind;
}

/** Declares a plugin; only checks and types it. */
export function definePlugin<Kind extends PluginKind, Options = Record<string, never>>(
  definition: PluginDefinition<Kind, Options>,
): PluginDefinition<Kind, Options> {
  kindOfPlugin(definition.name);
  if (definition.api !== 1) {
    throw new TypeError(`plugin "${definition.name}" wants api ${String(definition.api)}, this incrawl offers api 1`);
  }
  if (typeof definition.setup !== 'function') throw new TypeError(`plugin "${definition.name}" has no setup function`);
  return Object.freeze(definition);
}
