import { createHash } from 'node:crypto';
import { layersByHost } from '../../core/config/hosts/host-bounds.ts';
import type { Config } from '../../core/config/schema.ts';
import {
  decodeLinkRules,
  encodeLinkRules,
  type LinkRules,
  mayLetInMore,
  narrowed,
} from '../../core/domain/crawl/discovery/link-rules.ts';
import type { CrawlDatum } from '../../core/domain/crawl/states/datum.ts';
import { CrawlError } from '../../core/domain/errors.ts';
import { NO_SKIP_SINK, type SkipSink } from '../../core/steps/counters/outcome-counts.ts';
import type { ReadmitSummary } from '../../core/steps/summaries.ts';
import type { LinkDeps, LinkOptions } from '../../core/steps/update/found-links.ts';
import { admitWaitingDaily } from '../../core/steps/update/like-urls/waiting-links.ts';
import { FAMILIES_PRINT_KEY } from '../../core/steps/update/link-treatment.ts';
import { followShorterWays } from '../../core/steps/update/links/follow-shorter-ways.ts';
import { type LinkingPage, readmitLinks } from '../../core/steps/update/readmit-links.ts';
import { counted } from '../../core/steps/work-meter.ts';
import { murmur3 } from '../../page/near/hashes.ts';
import type { CrawlDeps } from '../deps.ts';
import { storedPages } from '../state/stored-pages.ts';

const RULES_KEY = 'linkRules';
const LINKING_STATES: ReadonlySet<CrawlDatum['state']> = new Set(['fetched', 'notmodified', 'duplicate']);

export type ReadmitDeps = Pick<CrawlDeps, 'config' | 'runtime' | 'plugins' | 'segments' | 'store'>;

/** Options by which updatedb admits links; `maxLayers` as in `CrawlOptions`. */
export function linkOptions(config: Config, maxLayers = Number.POSITIVE_INFINITY): LinkOptions {
  const { outlinks } = config;
  return {
    maxOutlinksPerPage: outlinks.maxPerPage,
    followNofollow: outlinks.followNofollow,
    followVariants: outlinks.followVariants,
    beyondVariants: outlinks.beyondVariants,
    noise: outlinks.noise,
    maxLayers,
    layersOf: layersByHost(config),
  };
}

/** Ports and plugins by which updatedb admits links. */
export function linkDeps({ plugins, store }: Pick<CrawlDeps, 'plugins' | 'store'>, skips: SkipSink): LinkDeps {
  const { urls, loaded } = plugins;
  const { seen, seedHosts, variants, admission, families } = store();
  return {
    seen,
    urls,
    seedHosts,
    variants,
    admission,
    families,
    skips,
    scores: {
      seedScore: (url) => loaded.scoring?.seedScore(url) ?? 1,
      outlinkScore: (parent, outlink, depth) => loaded.scoring?.outlinkScore(parent, outlink, depth) ?? 1,
    },
  };
}

export interface ReadmitLimits {
  readonly additions?: boolean | undefined;
  readonly maxLayers?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Re-admits the links of the stored pages if the URL rules may admit more than the last time. An unchanged page is not
 * parsed again, so without this its links would stay out. Workers of a shared crawl do not call it: if their rules
 * differ, each would undo the marks of the other.
 * @returns `null` if there was nothing to do
 */
export async function readmitWhenWider(deps: ReadmitDeps, limits: ReadmitLimits): Promise<ReadmitSummary | null> {
  if (deps.config.updatedb.readmitLinks === 'off') return null;
  const { db } = deps.store();
  const rules = await rulesOf(deps, limits);
  const known = decodeLinkRules(await db.meta(RULES_KEY));
  if (known === null) {
    await saveRules(deps, rules);
    return null;
  }
  if (!mayLetInMore(known, rules) || rules.layers === 0) {
    const held = narrowed(known, rules);
    if (held !== known) await saveRules(deps, held);
    return null;
  }
  const { byState } = await db.counters();
  if ([...LINKING_STATES].every((state) => (byState[state] ?? 0) === 0)) {
    await saveRules(deps, rules);
    return null;
  }
  deps.runtime.log.info('the URL rules may admit more than before: checking the links of the stored pages again');
  try {
    const summary = await readmitAll(deps, limits);
    const { pages, newUrls } = summary;
    deps.runtime.log.info('the links of the stored pages were checked again', { pages, newUrls });
    return summary;
  } catch (error) {
    if (!(error instanceof CrawlError) || error.code !== 'segment-corrupt') throw error;
    // Otherwise no crawl could begin until the segment is removed.
    deps.runtime.log.warn(
      'not all links of the stored pages could be checked again: run `incrawl state repair`, then ' +
        '`incrawl updatedb --readmit-links`',
      { error: error.message },
    );
    await saveRules(deps, rules);
    return null;
  }
}

/** Admits some of the links that have waited for a day for the share of their family, and those that are closer now. */
export async function admitWaitingLinks(
  deps: Pick<ReadmitDeps, 'config' | 'runtime' | 'plugins' | 'store'>,
  { maxLayers, signal }: Omit<ReadmitLimits, 'additions'>,
): Promise<void> {
  const { config, runtime, plugins } = deps;
  if (!config.updatedb.additions) return;
  const links = { ...linkDeps(deps, NO_SKIP_SINK), filteredBy: {}, demotedBy: {} };
  const { initialIntervalMs } = plugins.policy.schedule;
  const { db } = deps.store();
  const options = { ...linkOptions(config, maxLayers), initialIntervalMs, signal };
  await followShorterWays({ db, clock: runtime.clock, links }, options);
  await admitWaitingDaily({ db, clock: runtime.clock, links }, options);
}

/**
 * Re-admits links on request, to the depth that the crawl has reached. Rejects with `usage-invalid` if
 * `updatedb.additions` is false.
 */
export async function readmitByName(
  deps: ReadmitDeps,
  { signal }: Pick<ReadmitLimits, 'signal'>,
): Promise<ReadmitSummary> {
  if (!deps.config.updatedb.additions) {
    throw new CrawlError(
      'usage-invalid',
      'no new URL can enter while updatedb.additions is false: set it to true first',
    );
  }
  return readmitAll(deps, { maxLayers: await reachedLayers(deps), signal });
}

/** The depth limit at which links were admitted last, as `maxLayers`. */
export async function reachedLayers({ store }: Pick<CrawlDeps, 'store'>): Promise<number> {
  const known = decodeLinkRules(await store().db.meta(RULES_KEY));
  return known?.layers || Number.POSITIVE_INFINITY;
}

async function readmitAll(deps: ReadmitDeps, limits: ReadmitLimits): Promise<ReadmitSummary> {
  const { config } = deps;
  const { clock, onWork } = deps.runtime;
  const { initialIntervalMs } = deps.plugins.policy.schedule;
  const summary = await readmitLinks(
    { db: deps.store().db, clock, links: linkDeps(deps, NO_SKIP_SINK) },
    counted(linkingPages(deps), onWork, 'filtering links of stored pages'),
    { ...linkOptions(config, limits.maxLayers), chunk: config.updatedb.chunk, initialIntervalMs },
    limits.signal,
  );
  if (!summary.isCutShort) await saveRules(deps, await rulesOf(deps, limits));
  return summary;
}

const saveRules = ({ store }: Pick<CrawlDeps, 'store'>, rules: LinkRules): Promise<void> =>
  store().db.write({ meta: { [RULES_KEY]: encodeLinkRules(rules) } }, { durable: true });

async function* linkingPages(deps: Pick<CrawlDeps, 'config' | 'segments' | 'store'>): AsyncGenerator<LinkingPage> {
  const { config, segments } = deps;
  const isWanted = ({ state }: CrawlDatum): boolean =>
    LINKING_STATES.has(state) && (state !== 'duplicate' || config.dedup.mode !== 'skip-outlinks');
  for await (const { datum, parsed } of storedPages({ db: deps.store().db, segments }, isWanted, { texts: false })) {
    if (parsed?.outcome.kind === 'parsed') yield { datum, parsed };
  }
}

/**
 * Everything that decides which links are admitted: the options for links, the URL plugins in their order, the seed
 * hosts, which scope filters use, and the noise families whose links are dropped.
 */
async function rulesOf(
  deps: Pick<CrawlDeps, 'config' | 'plugins' | 'store'>,
  { additions, maxLayers }: ReadmitLimits,
): Promise<LinkRules> {
  const { config, plugins } = deps;
  const { maxLayers: layers, layersOf, ...options } = linkOptions(config, maxLayers);
  const depths = layersOf === undefined ? [] : config.hosts.map(({ match, depth = null }) => [match, depth]);
  const prints = plugins.loaded.entries.map(({ print }) => print).filter((print) => print !== '');
  const scopes = [...plugins.loaded.scopes].map(([scope, chain]) => [scope, chain.map(({ name }) => name)]);
  const { db, families, seedHosts } = deps.store();
  // Families that only lower the score of links let in as many as others.
  const dropped = families.treatment === 'drop' ? ((await db.meta(FAMILIES_PRINT_KEY)) ?? '') : '';
  // XOR, because a set of hosts has no order.
  let hosts = 0;
  for (const host of seedHosts) hosts ^= murmur3(host);
  const print = createHash('sha256')
    .update(JSON.stringify([options, prints, seedHosts.size, hosts, scopes, dropped, depths]))
    .digest('hex')
    .slice(0, 16);
  return { print, layers: (additions ?? config.updatedb.additions) ? layers : 0 };
}
