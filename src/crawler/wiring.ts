import { join } from 'node:path';
import type { Config } from '../core/config/schema.ts';
import { CrawlError } from '../core/domain/errors.ts';
import {
  type DescriptorShares,
  fewerRequests,
  shareDescriptors,
  tooFewDescriptors,
} from '../core/domain/system-limit.ts';
import { matchesUrl, parseHostPattern } from '../core/domain/url/canonical/host-pattern.ts';
import type { LoadedPlugins } from '../core/plugin-host/loading/load-plugins.ts';
import type { PluginList } from '../core/plugin-host/loading/plugin-list.ts';
import { createPageConversion } from '../core/plugin-host/markdown/page-conversion.ts';
import { createInlinePageParser, createPageParser } from '../core/plugin-host/parsing/page-parser.ts';
import { applyUrlChain, judgesDepth } from '../core/plugin-host/url-chain.ts';
import type { Log } from '../core/ports/log.ts';
import type { PageParser } from '../core/ports/page-parser.ts';
import { type OnWork, UNOBSERVED } from '../core/ports/work-progress.ts';
import { contentCodings, decodeBody } from '../http/exchange/content-coding.ts';
import { createHostLanes } from '../http/lanes/host-lanes.ts';
import { createRobots } from '../http/robots/robots.ts';
import type { CrawlDeps, CrawlPlugins, PageAccess, WebAccess } from '../operations/deps.ts';
import { openSegments } from '../operations/state/open-segments.ts';
import { descriptorLimit } from '../operations/system/descriptor-limit.ts';
import { createFileRobotsStore } from '../store/files/robots-store.ts';
import { laneSettings, type ProtocolsByHost, protocolsByHost } from './host-accesses.ts';
import { httpOptions, loadMainPlugins, type PluginOptions } from './load-main-plugins.ts';
import { isOwnHost } from './own-host.ts';
import { parsingOptions, readPluginList, threadsOf } from './parsing-options.ts';
import { policyOf, scheduleOf } from './policy.ts';
import { type Environment, unusedProxies } from './proxies.ts';
import type { WiredRendering } from './rendering.ts';

/**
 * Warns, once, about entries of `hosts:` that do not cover their own login page: what they send is not sent to it, and
 * cookies that it sets are not kept for their pages.
 */
function loginsApart({ hosts }: Pick<Config, 'hosts'>, log: Pick<Log, 'warn'>): () => void {
  let hasWarned = false;
  return () => {
    if (hasWarned) return;
    hasWarned = true;
    for (const [i, { match, login }] of hosts.entries()) {
      const pattern = parseHostPattern(match);
      if (login === undefined || pattern === null || matchesUrl(pattern, login)) continue;
      log.warn(
        `hosts[${i}].login: ${login} lies outside "${match}", so this entry is not for it: its credentials and cookies ` +
          'are not sent there, and cookies set there are not kept for its pages. Expected a match for both',
      );
    }
  };
}

/** Whether any host's pages are rendered: a crawl without rendering loads none of its code. */
function isRendering({ render, hosts }: Pick<Config, 'render' | 'hosts'>): boolean {
  return [render.mode, ...hosts.map((entry) => entry.render ?? 'never')].some((mode) => mode !== 'never');
}

interface SharedDescriptors extends DescriptorShares {
  /**
   * Must be called before requests: warns, once, when fewer run in parallel than configured. Throws `system-limit` when
   * there are too few descriptors for any.
   */
  requireEnough(): void;
}

/** The descriptors of this process, distributed as configured as far as they suffice. */
function descriptorShares(
  { config, log }: { readonly config: Pick<Config, 'fetch'>; readonly log: Pick<Log, 'warn'> },
  limit: number | null = descriptorLimit(),
): SharedDescriptors {
  const wanted = config.fetch.concurrency;
  const shares = shareDescriptors(limit, wanted);
  let hasWarned = false;
  return {
    ...(shares ?? { concurrency: 1, idleSockets: 0 }),
    requireEnough() {
      if (limit === null) return;
      if (shares === null) throw tooFewDescriptors(limit);
      if (hasWarned || shares.concurrency === wanted) return;
      hasWarned = true;
      log.warn(fewerRequests(limit, wanted, shares.concurrency));
    },
  };
}

/** All dependencies of operations except the crawl db. */
interface Wiring extends Omit<CrawlDeps, 'store'> {
  /** Ends worker threads and connections. */
  close(): Promise<void>;
}

interface WiringOptions extends PluginOptions {
  /** State directory, absolute. */
  readonly dir: string;
  readonly random: () => number;
  readonly onWork?: OnWork | undefined;
  readonly env?: Environment | undefined;
}

/** Creates them from the configuration. Rejects with `config-invalid` or `plugin-broken` if it cannot be used. */
export async function wire(options: WiringOptions): Promise<Wiring> {
  const { config, dir, log, clock, random, onWork = UNOBSERVED } = options;
  const list = await readPluginList(config, options.baseDir);
  const shares = descriptorShares(options);
  const loaded = await loadMainPlugins(list, { ...options, idleSockets: shares.idleSockets });
  const http = httpOptions(config, shares.idleSockets);
  const isOwn = (host: string): boolean => isOwnHost(host, config.http.allowAddresses);
  const byHost = protocolsByHost(loaded.protocols, { ...options, http, isOwnHost: isOwn });
  const rendered = isRendering(config)
    ? (await import('./rendering.ts')).renderingOf({ config, dir, log, isOwnHost: isOwn, env: options.env })
    : null;
  const { pages, closePages } = pageAccess(list, options);
  return {
    dir,
    config,
    runtime: { clock, log, random, onWork },
    plugins: pluginsOf(loaded, options),
    web: webAccess(byHost, shares, isOwn, rendered, options),
    pages,
    segments: openSegments({ config, dir, log }),
    async close() {
      await closePages();
      await rendered?.rendering.renderer.close();
      for (const protocol of new Set(byHost.protocols.values())) await protocol.close();
    },
  };
}

function pluginsOf(loaded: LoadedPlugins, options: WiringOptions): CrawlPlugins {
  const { config } = options;
  return {
    loaded,
    urls: { judgesDepth: judgesDepth(loaded), apply: (url, context) => applyUrlChain(loaded, url, context) },
    policy: policyOf(config, scheduleOf(config, loaded)),
    async exporter(format) {
      const { findExporter } = await import('../delivery/export/export-operations.ts');
      return findExporter(format, loaded, (entries) => loadMainPlugins({ entries, winners: {} }, options));
    },
  };
}

function webAccess(
  { protocols, prepare }: ProtocolsByHost,
  { concurrency, requireEnough }: SharedDescriptors,
  isOwn: (host: string) => boolean,
  rendered: WiredRendering | null,
  { config, dir, log, clock, env = {} }: WiringOptions,
): WebAccess {
  const { connectionsPerHost, delayMs, maxCrawlDelayMs, crawlDelayPolicy } = config.fetch;
  const protocol = protocols.get('https') ?? protocols.get('http');
  if (protocol === undefined) {
    throw new CrawlError('plugin-broken', 'no protocol plugin serves http or https; add protocol-http to plugins.yaml');
  }
  const robotsStore = createFileRobotsStore(join(dir, 'robots'));
  const noteProxies = config.http.proxy === 'none' ? unusedProxies(env, isOwn, log) : () => {};
  const noteLogins = loginsApart(config, log);
  return {
    protocols,
    lanes: createHostLanes({
      ...{ clock, concurrency, connectionsPerHost },
      defaultDelayMs: delayMs,
      ownSettings: laneSettings(config),
    }),
    robots: createRobots({
      protocol,
      store: robotsStore,
      clock,
      log,
      productToken: config.agent.name,
      maxCrawlDelayMs,
      crawlDelayPolicy,
      timeoutMs: config.http.timeoutMs,
    }),
    robotsStore,
    rendering: rendered?.rendering ?? null,
    isOwnHost: isOwn,
    noteHosts(hosts) {
      requireEnough();
      prepare();
      rendered?.prepare();
      noteProxies(hosts);
      noteLogins();
    },
  };
}

function pageAccess(
  list: PluginList,
  { config, baseDir, log }: WiringOptions,
): { pages: PageAccess; closePages: () => Promise<void> } {
  const parsing = parsingOptions(config, list, baseDir);
  let parser: PageParser | null = null;
  let converter: ReturnType<typeof createPageConversion> | null = null;
  let inline: ReturnType<typeof createInlinePageParser> | null = null;
  return {
    pages: {
      parser() {
        parser ??= createPageParser({ parsing, threads: threadsOf(config), timeoutMs: config.parse.timeoutMs, log });
        return parser;
      },
      undoContentCoding: async (body, codings) =>
        (await decodeBody(body, contentCodings(codings), config.http.maxBodyBytes, true)).body,
      convert(page, signal) {
        converter ??= createPageConversion({ parsing, timeoutMs: config.parse.timeoutMs, log });
        return converter.convert(page, signal);
      },
      parseLive: async (page) => {
        inline ??= createInlinePageParser(parsing, log);
        return (await inline).live(page);
      },
    },
    closePages: async () => {
      await Promise.all([parser?.close(), converter?.close()]);
    },
  };
}
