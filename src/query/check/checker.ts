// query/check/: one part of the chain, run on one input.

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Config } from '../../core/config/schema.ts';
import { changeSignatureOf } from '../../core/domain/crawl/states/duplicate.ts';
import { CrawlError } from '../../core/domain/errors.ts';
import { isoTimeOrNull } from '../../core/domain/time.ts';
import { canonicalUrl } from '../../core/domain/url/canonical/canonical-url.ts';
import { hostOf, type UrlScope } from '../../core/domain/url/canonical/url-key.ts';
import type { Page } from '../../core/plugin-host/api/plugin-api.ts';
import type { LoadedPlugins } from '../../core/plugin-host/loading/load-plugins.ts';
import type { createInlinePageParser } from '../../core/plugin-host/parsing/page-parser.ts';
import { loadSitemapParser, type ParseSitemap } from '../../core/plugin-host/parsing/sitemap-parser.ts';
import { admissionGates, explainUrlChain, type UrlTraceStep } from '../../core/plugin-host/url-chain.ts';
import type { Clock } from '../../core/ports/clock.ts';
import type { Log } from '../../core/ports/log.ts';
import type { PageToParse } from '../../core/ports/page-parser.ts';
import type { Robots, RobotsVerdict } from '../../core/ports/robots.ts';
import type { Outlink } from '../../core/ports/segment-store.ts';
import { askRobots, denialBy, verdictInTurn } from '../../core/steps/fetch/robots-turn.ts';
import { createHostLanes, type HostLanesOptions } from '../../http/lanes/host-lanes.ts';
import { checkRobots, createRobots, type RobotsCheck } from '../../http/robots/robots.ts';
import { type PluginView, pluginViews } from '../../operations/plugins/plugin-views.ts';
import { contentReasons, type Reason } from '../../page/content/trees/content-reasons.ts';
import { hammingDistance } from '../../page/near/fingerprint-tables.ts';
import type { PageBlock, PageNode } from '../../page/page-block.ts';
import { readableText } from '../../page/published/readable-text.ts';

/** The result of one signature plugin for a page and for another version of it. */
interface SignatureView {
  /** As `parse.signature` names it. */
  readonly name: string;
  /** Algorithm, version and parameters; `null` for a page that could not be parsed. */
  readonly id: string | null;
  /** 16 hex digits; `null` for a page without words. */
  readonly signature: string | null;
  /** Signature of the other version, and the distance in bits; absent without one. */
  readonly against?: string | null;
  readonly distance?: number | null;
  /** CPU time of parsing and signing the page for the second time, ms. */
  readonly cpuMs: number;
}

/** A page as it was loaded. */
type LoadedPage = Pick<PageToParse, 'url' | 'body' | 'contentType' | 'headers'>;

/**
 * One plugin after the other, so that each CPU time belongs to one plugin. @param against another version of the page
 */
async function signatureViews(
  names: readonly string[],
  parserBy: (signature: string) => Promise<InlineParser>,
  page: LoadedPage,
  against: LoadedPage | null,
): Promise<SignatureView[]> {
  const views: SignatureView[] = [];
  for (const name of names) {
    const parser = await parserBy(name);
    views.push(await signatureView(name, parser, page, against));
    await parser.close();
  }
  return views;
}

async function signatureView(
  name: string,
  parser: InlineParser,
  page: LoadedPage,
  against: LoadedPage | null,
): Promise<SignatureView> {
  const parse = async (each: LoadedPage) => (await parser.live({ index: 0, metadata: {}, ...each })).record.outcome;
  const outcome = await parse(page);
  const { user: from, system } = process.cpuUsage();
  await parse(page);
  const used = process.cpuUsage();
  const cpuMs = Math.round((used.user - from + used.system - system) / 100) / 10;
  if (outcome.kind !== 'parsed') return { name, id: null, signature: null, cpuMs };
  const view = { name, id: outcome.signatureName, signature: outcome.signature };
  if (against === null) return { ...view, cpuMs };
  const other = await parse(against);
  const signature = other.kind === 'parsed' ? other.signature : null;
  const isComparable = outcome.signature !== null && signature !== null;
  const distance = isComparable ? hammingDistance(outcome.signature, signature) : null;
  return { ...view, against: signature, distance, cpuMs };
}

/** A page with the reasons for the verdict on each block. */
export interface ExplainedParse {
  readonly check: ParseCheck;
  /** By the path of the block; empty where the page was not read as HTML. */
  readonly reasons: ReadonlyMap<string, readonly Reason[]>;
  /** What a reading mode shows of the page, for comparison. */
  readonly reading: string;
}

/** A file, a URL to fetch, or a body with its `url`. */
export interface ParseInput {
  readonly file?: string;
  readonly url?: string;
  readonly contentType?: string;
  readonly body?: Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Runs one part of the plugin chain on one input; needs no crawl db. Pages are requested as in a crawl: only if
 * robots.txt allows it, and with the pause between two requests to a host.
 */
export interface Checker {
  url(input: string | UrlInput): Promise<UrlCheck>;
  parse(input: ParseInput): Promise<ParseCheck>;
  /**
   * Signatures of a page by several plugins (default: all in the list), and their distances to those of another
   * version. Rejects with `config-invalid` for an unknown name.
   */
  signatures(
    input: ParseInput,
    options?: { readonly names?: readonly string[]; readonly against?: ParseInput },
  ): Promise<readonly SignatureView[]>;
  /** As `parse`, and why each block is content or not. */
  explainParse(input: ParseInput): Promise<ExplainedParse>;
  /**
   * Without the text of a robots.txt, the one at the URL's origin is fetched; `status` and `code` are those of that
   * fetch.
   */
  robots(input: {
    readonly robots?: string;
    readonly agent: string;
    readonly url: string;
  }): Promise<RobotsCheck & Partial<Pick<RobotsVerdict, 'status' | 'code'>>>;
  sitemap(file: string): Promise<SitemapCheck>;
  plugins(): Promise<readonly PluginView[]>;
  close(): Promise<void>;
}

interface CheckerDeps {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  readonly plugins: LoadedPlugins;
  /** As for host lanes. */
  readonly ownSettings?: HostLanesOptions['ownSettings'];
  readonly parser: InlineParser;
  /** Short names of the signature plugins, and a parser that signs with one of them. */
  readonly signatureNames: readonly string[];
  readonly parserBy: (signature: string) => Promise<InlineParser>;
}

type InlineParser = Awaited<ReturnType<typeof createInlinePageParser>>;

/** Closing it closes the parser and the protocols of the plugins. */
export function createChecker(deps: CheckerDeps): Checker {
  const { config, clock, log, plugins, parser, ownSettings } = deps;
  const context = { from: null, depth: 0, seedHosts: new Set<string>() };
  const { concurrency, connectionsPerHost, delayMs, maxCrawlDelayMs, crawlDelayPolicy } = config.fetch;
  const lanes = createHostLanes({ clock, concurrency, connectionsPerHost, defaultDelayMs: delayMs, ownSettings });
  const gates = admissionGates(plugins, log);
  /** URLs of earlier questions, which count as known: a crawl judges each URL once. */
  const known = new Set<string>();
  /** By product token and scheme. */
  const robotsOf = new Map<string, Robots>();

  async function load(input: ParseInput): Promise<{
    url: string;
    body: Uint8Array;
    contentType: string | null;
    headers: Readonly<Record<string, string>>;
  }> {
    if (input.file !== undefined) {
      const file = resolve(input.file);
      const url = input.url ?? pathToFileURL(file).href;
      const contentType = input.contentType ?? typeByName(file);
      return { url, body: await readFile(file), contentType, headers: {} };
    }
    const { url } = input;
    if (url === undefined) throw new CrawlError('usage-invalid', 'expected a file or a URL');
    if (input.body !== undefined) {
      return { url, body: input.body, contentType: input.contentType ?? null, headers: input.headers ?? {} };
    }
    const canonical = canonicalUrl(url);
    if ('error' in canonical) throw new CrawlError('url-invalid', `${url}: ${canonical.error}`);
    const asked = { url: canonical.url, host: hostOf(canonical.url) };
    const protocol = plugins.protocols.get(asked.url.slice(0, asked.url.indexOf(':')));
    if (protocol === undefined) throw new CrawlError('scheme-unsupported', `no protocol plugin for ${url}`);
    const { maxBodyBytes, timeoutMs } = config.http;
    const robots = robotsFor(config.agent.name, asked.url);
    const { head, body } = await lanes.run(asked.host, async (turn) => {
      const { verdict } = await verdictInTurn({ robots, lanes, clock }, asked, delayMs, turn);
      if (!verdict.allowed) {
        const { code, message } = denialBy(verdict);
        throw new CrawlError(code, `${url}: ${message}`);
      }
      return protocol.exchange({ url: asked.url, method: 'GET', headers: {}, maxBodyBytes, timeoutMs });
    });
    if (body === null) throw new CrawlError('http-client-error', `${url} answered ${head.status} without a body`);
    const contentType = input.contentType ?? head.headers['content-type'] ?? null;
    return { url, body, contentType, headers: head.headers };
  }

  function robotsFor(agent: string, url: string): Robots {
    const scheme = url.slice(0, url.indexOf(':'));
    const key = `${scheme} ${agent}`;
    let robots = robotsOf.get(key);
    if (robots === undefined) {
      const protocol = plugins.protocols.get(scheme);
      if (protocol === undefined) throw new CrawlError('scheme-unsupported', `no protocol plugin for ${url}`);
      const { timeoutMs } = config.http;
      robots = createRobots({
        protocol,
        clock,
        log,
        productToken: agent,
        maxCrawlDelayMs,
        crawlDelayPolicy,
        timeoutMs,
      });
      robotsOf.set(key, robots);
    }
    return robots;
  }

  async function fetchedRobots(url: string, agent: string): ReturnType<Checker['robots']> {
    const canonical = canonicalUrl(url);
    if ('error' in canonical) throw new CrawlError('url-invalid', `${url}: ${canonical.error}`);
    const host = hostOf(canonical.url);
    const robots = robotsFor(agent, canonical.url);
    const verdict = await lanes.run(host, async (turn) => {
      const asked = await askRobots({ robots, lanes, clock }, canonical.url, host, delayMs, turn);
      if (!asked.isFetched) turn.spare();
      return asked.verdict;
    });
    const { allowed, crawlDelayMs, sitemaps, rule, status, code, fault } = verdict;
    if (code === 'address-blocked') {
      const { origin } = new URL(canonical.url);
      throw new CrawlError(code, `robots.txt of ${origin} was not requested: ${fault}; --allow permits a host`);
    }
    const crawlDelay = crawlDelayMs === null ? null : crawlDelayMs / 1_000;
    return { allowed, crawlDelay, sitemaps, rule, status, code, ...(fault !== null && { fault }) };
  }

  async function parsed(input: ParseInput, look?: (page: Page) => void): Promise<ParseCheck> {
    const page = await load(input);
    const { record, result } = await parser.live({ index: 0, metadata: {}, ...page }, look);
    const { outcome } = record;
    return {
      file: input.file ?? null,
      url: record.url,
      title: outcome.kind === 'parsed' ? outcome.title : null,
      authors: result.authors,
      publishedAt: isoTimeOrNull(result.publishedAt),
      modifiedAt: isoTimeOrNull(result.modifiedAt),
      description: result.description,
      keywords: result.keywords,
      topics: record.topics ?? [],
      metadata: outcome.kind === 'parsed' ? outcome.metadata : {},
      siteName: result.siteName,
      image: result.image,
      sources: result.sources,
      text: result.text,
      mainText: result.mainText ?? result.text,
      lang: record.lang,
      charset: record.charset,
      signature: outcome.kind === 'parsed' ? outcome.signature : null,
      changeSignature: outcome.kind === 'parsed' ? changeSignatureOf(outcome) : null,
      canonical: record.canonical,
      variant: result.variant,
      nextPage: result.nextPage,
      pageNumber: result.pageNumber,
      contentType: record.contentType,
      blocks: result.blocks,
      outlinks: record.outlinks,
      error: outcome.kind === 'parsed' ? null : { code: outcome.code, message: outcome.message },
    };
  }

  return {
    async signatures(input, { names = deps.signatureNames, against } = {}) {
      const page = await load(input);
      const other = against === undefined ? null : await load({ ...against, url: against.url ?? page.url });
      return signatureViews(names, deps.parserBy, page, other);
    },
    async url(input) {
      const { url, base, scope = 'default' }: UrlInput = typeof input === 'string' ? { url: input } : input;
      const { url: result, reason, steps } = explainUrlChain(plugins, url, { ...context, scope }, base);
      if (result === null || known.has(result)) return { input: url, url: result, reason, steps };
      for (const { name, admit } of gates) {
        const verdict = admit(result);
        if (verdict.admit) continue;
        const refused = { name, before: result, after: null, note: verdict.reason };
        // Replaces the filter's verdict on the URL alone.
        const others = steps.filter((step) => step.name !== name);
        return { input: url, url: null, reason: verdict.reason ?? name, steps: [...others, refused] };
      }
      known.add(result);
      for (const { learn } of gates) learn(result);
      return { input: url, url: result, reason, steps };
    },
    parse: (input) => parsed(input),
    async explainParse(input) {
      let reasons: ExplainedParse['reasons'] = new Map();
      let reading = '';
      const check = await parsed(input, ({ tape, dom }) => {
        if (tape === null || dom === null) return;
        reasons = contentReasons(tape);
        reading = readableText(dom as unknown as PageNode);
      });
      return { check, reasons, reading };
    },
    robots: ({ robots, agent, url }) =>
      robots === undefined ? fetchedRobots(url, agent) : Promise.resolve(checkRobots({ robots, agent, url })),
    sitemap: async (file) => {
      const parseSitemap = await loadSitemapParser();
      return { file, ...parseSitemap(await readFile(file)) };
    },
    plugins: () => pluginViews(plugins),
    close: async () => {
      await parser.close();
      for (const protocol of new Set(plugins.protocols.values())) await protocol.close();
    },
  };
}

/** The Content-Type of a local file by its name; `null`: detected from the content. */
function typeByName(file: string): string | null {
  if (/\.x?html?$/i.test(file)) return 'text/html';
  if (/\.(?:xml|rss|atom)$/i.test(file)) return 'application/xml';
  return /\.(?:txt|md)$/i.test(file) ? 'text/plain' : null;
}

interface UrlCheck {
  readonly input: string;
  readonly url: string | null;
  readonly reason: string | null;
  readonly steps: readonly UrlTraceStep[];
}

interface UrlInput {
  readonly url: string;
  readonly base?: string;
  /** Where the URL is encountered; default: `default`. */
  readonly scope?: UrlScope;
}

export interface ParseCheck {
  readonly file: string | null;
  readonly url: string;
  readonly title: string | null;
  readonly authors: readonly string[];
  /** Times in ISO 8601. */
  readonly publishedAt: string | null;
  readonly modifiedAt: string | null;
  readonly description: string | null;
  readonly keywords: readonly string[];
  /** Texts of links on the theme of the page. */
  readonly topics: readonly string[];
  /** What parse filters add to the record. */
  readonly metadata: Readonly<Record<string, string | number | boolean>>;
  readonly siteName: string | null;
  readonly image: string | null;
  /** Where the parser found each of these, by field. */
  readonly sources: Readonly<Record<string, string>>;
  readonly text: string;
  readonly mainText: string;
  readonly lang: string | null;
  readonly charset: string | null;
  readonly signature: string | null;
  /** Visits are compared by this signature. */
  readonly changeSignature: string | null;
  readonly canonical: string | null;
  /** The version of the canonical page that this page is: `amp`, `print` or `mobile`. */
  readonly variant: string | null;
  readonly nextPage: string | null;
  /** Its number in a series of pages, from 1. */
  readonly pageNumber: number | null;
  readonly contentType: string;
  readonly blocks: readonly PageBlock[];
  readonly outlinks: readonly (Outlink & { readonly noiseReason?: string })[];
  readonly error: { readonly code: string; readonly message: string } | null;
}

interface SitemapCheck extends ReturnType<ParseSitemap> {
  readonly file: string;
}
