import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { createFileRobotsStore } from '../adapters/files/robots-store.ts';
import { createFileSegmentStore } from '../adapters/files/segments/segment-store.ts';
import type { WarcOptions } from '../adapters/files/warc/warc-writer.ts';
import { contentCodings, decodeBody } from '../adapters/http/exchange/content-coding.ts';
import { createGotProtocol } from '../adapters/http/exchange/got-protocol.ts';
import type { HttpProtocolOptions } from '../adapters/http/exchange/protocol-options.ts';
import { isAddressBlocked } from '../adapters/http/guard/address-guard.ts';
import { createHostLanes } from '../adapters/http/lanes/host-lanes.ts';
import { createRobots } from '../adapters/http/robots/robots.ts';
import { packageVersion } from '../config/package-version.ts';
import type { Config } from '../config/schema.ts';
import type { SettlePolicy } from '../domain/crawl/revisit/next-visit.ts';
import { CrawlError } from '../domain/errors.ts';
import { findExporter } from '../operations/export/find-exporter.ts';
import type { SegmentDeps } from '../operations/loop/run-segment.ts';
import type { Exporter } from '../plugin-host/api/exporter-api.ts';
import { type LoadedPlugins, loadPlugins, MAIN_THREAD_KINDS } from '../plugin-host/loading/load-plugins.ts';
import type { PageMarkdown } from '../plugin-host/parsing/page-markdown.ts';
import { createPageParser } from '../plugin-host/parsing/page-parser.ts';
import { applyUrlChain } from '../plugin-host/url-chain.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { PageParser } from '../ports/page-parser.ts';
import type { RobotsStore } from '../ports/robots.ts';
import type { SegmentStore } from '../ports/segment-store.ts';
import type { UrlChain } from '../steps/url-chain.ts';
import { intervalsOf, parsingOptions, readPluginList, threadsOf } from './parsing-options.ts';
import { policyOf, scheduleOf } from './policy.ts';

/** Everything but the crawl db, made from the configuration. */
export interface Wiring extends SegmentDeps {
  readonly plugins: LoadedPlugins;
  readonly urls: UrlChain;
  readonly segments: SegmentStore;
  readonly robotsStore: RobotsStore;
  readonly policy: SettlePolicy;
  /** Whether a host can only be reached by somebody whom its operator let in. */
  readonly isOwnHost: (host: string) => boolean;
  /** The exporter of a format; rejects with `usage-invalid` when there is none. */
  exporter(format: string): Promise<Exporter>;
  openMarkdown(): Promise<PageMarkdown>;
  close(): Promise<void>;
}

export interface WiringOptions {
  readonly config: Config;
  readonly dir: string;
  readonly baseDir: string;
  readonly log: Log;
  readonly clock: Clock;
}

export async function wire({ config, dir, baseDir, log, clock }: WiringOptions): Promise<Wiring> {
  const list = await readPluginList(config, baseDir);
  const plugins = await loadMainPlugins(config, list, baseDir, log, clock);
  const schedule = scheduleOf(config, plugins);
  const robotsProtocol = plugins.protocols.get('https') ?? plugins.protocols.get('http');
  if (robotsProtocol === undefined) {
    throw new CrawlError('plugin-broken', 'no protocol plugin serves http or https; add protocol-http to plugins.yaml');
  }
  const robotsStore = createFileRobotsStore(join(dir, 'robots'));
  let parser: PageParser | null = null;
  return {
    config,
    clock,
    log,
    plugins,
    urls: { apply: (url, context) => applyUrlChain(plugins, url, context) },
    segments: createFileSegmentStore({
      dir: join(dir, 'segments'),
      log,
      warc: warcOptions(config),
      ...(config.cluster.redis === '' ? {} : { lockPatienceMs: config.cluster.leaseMs }),
    }),
    robotsStore,
    robots: createRobots({
      protocol: robotsProtocol,
      store: robotsStore,
      clock,
      log,
      productToken: config.agent.name,
      maxCrawlDelayMs: config.fetch.maxCrawlDelayMs,
      crawlDelayPolicy: config.fetch.crawlDelayPolicy,
      timeoutMs: config.http.timeoutMs,
    }),
    lanes: createHostLanes({
      clock,
      concurrency: config.fetch.concurrency,
      connectionsPerHost: config.fetch.connectionsPerHost,
      defaultDelayMs: config.fetch.delayMs,
    }),
    protocols: plugins.protocols,
    parser: () => {
      parser ??= createPageParser({
        parsing: parsingOptions(config, list, baseDir),
        threads: threadsOf(config),
        timeoutMs: config.parse.timeoutMs,
      });
      return parser;
    },
    sha256Of: (body) => createHash('sha256').update(body).digest('hex'),
    // Of stored bodies, which may be cut: they were taken as they came, so what they hold is given again.
    undoContentCoding: async (body, codings) =>
      (await decodeBody(body, contentCodings(codings), config.http.maxBodyBytes, true)).body,
    monotonicNow: () => performance.now(),
    policy: policyOf(config, schedule),
    isOwnHost: (host) => isOwnHost(host, config.http.allowAddresses),
    exporter: (format) =>
      findExporter(format, plugins, (entries) =>
        loadMainPlugins(config, { entries, winners: {} }, baseDir, log, clock),
      ),
    openMarkdown: async () => {
      const { createPageMarkdown } = await import('../plugin-host/parsing/page-markdown.ts');
      return createPageMarkdown(parsingOptions(config, list, baseDir), log);
    },
    close: async () => {
      await parser?.close();
      for (const protocol of new Set(plugins.protocols.values())) await protocol.close();
    },
  };
}

export function warcOptions(config: Config): WarcOptions {
  return {
    software: `incrawl/${packageVersion()}`,
    maxFileBytes: config.segments.warcMaxBytes,
    gzipLevel: config.segments.gzipLevel,
  };
}

export async function loadMainPlugins(
  config: Config,
  list: Awaited<ReturnType<typeof readPluginList>>,
  baseDir: string,
  log: Log,
  clock: Clock,
): Promise<LoadedPlugins> {
  const { agent, http, fetch } = config;
  const options: HttpProtocolOptions = {
    userAgent: `${agent.name}/${agent.version}${agent.contact === '' ? '' : ` (+${agent.contact})`}`,
    acceptLanguage: agent.acceptLanguage,
    maxHeaderBytes: http.maxHeaderBytes,
    connectTimeoutMs: http.connectTimeoutMs,
    headTimeoutMs: http.headTimeoutMs,
    stallTimeoutMs: http.stallTimeoutMs,
    allowAddresses: http.allowAddresses,
    maxSockets: Math.max(8, fetch.connectionsPerHost),
  };
  return loadPlugins({
    list,
    baseDir,
    log,
    kinds: MAIN_THREAD_KINDS,
    agent: agent.name,
    intervals: intervalsOf(config),
    now: () => clock.now(),
    http: {
      createGotProtocol: () => createGotProtocol(options),
      createUndiciProtocol: async () => {
        const { createUndiciProtocol } = await import('../adapters/http/exchange/undici-protocol.ts');
        return createUndiciProtocol(options);
      },
    },
  });
}

/** A private address, which the guard had to be told of, or a name on the allow list. */
function isOwnHost(host: string, allowed: readonly string[]): boolean {
  const name = host.replace(/:\d+$/, '');
  return allowed.includes(host) || allowed.includes(name) || isAddressBlocked(`http://${host}/`);
}
