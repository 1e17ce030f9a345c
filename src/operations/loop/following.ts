import { dayBoundsByHost, layersByHost } from '../../core/config/hosts/host-bounds.ts';
import { partitionOf } from '../../core/domain/url/hash/partition.ts';
import type { Segment } from '../../core/ports/segment-store.ts';
import { NO_SKIP_SINK } from '../../core/steps/counters/outcome-counts.ts';
import { restsOf } from '../../core/steps/facts/host-rest.ts';
import type { FetchOptions } from '../../core/steps/fetch/fetch.ts';
import { type FollowRedirects, followRedirects } from '../../core/steps/fetch/follow-redirects.ts';
import type { CrawlDeps } from '../deps.ts';
import { domainOf } from '../system/domain-of.ts';
import { linkDeps } from './readmitting.ts';

type FollowDeps = Pick<CrawlDeps, 'config' | 'runtime' | 'plugins' | 'web' | 'store'>;

/** What a fetch has of the crawl db, where the process holds it: redirects, and what hosts have asked for since. */
export async function withCrawlDb(deps: FollowDeps, segment: Segment): Promise<Pick<FetchOptions, 'follow' | 'rests'>> {
  const { db } = deps.store();
  const rests = await restsOf(db, Object.keys(segment.info.hosts), deps.runtime.clock.now());
  return { rests, follow: (await redirectFollower(deps, segment)) ?? undefined };
}

/**
 * Follows the redirects of a segment within its round, as configured. It writes the crawl db: steps that do not have it
 * leave targets to the next round. What is refused is noted by updatedb, which judges the same redirects.
 */
async function redirectFollower(deps: FollowDeps, segment: Segment): Promise<FollowRedirects | null> {
  const { config, runtime, plugins, web } = deps;
  if (!config.fetch.followRedirects) return null;
  const { clock, random } = runtime;
  const follow = {
    db: deps.store().db,
    clock,
    random,
    links: linkDeps(deps, NO_SKIP_SINK),
    domainOf,
    partition: (host: string) => partitionOf(config.partition.by === 'domain' ? domainOf(host) : host),
    mayRequest: (host: string) => config.agent.contact !== '' || web.isOwnHost(host),
  };
  return followRedirects(follow, segment, {
    maxRedirects: config.fetch.maxRedirects,
    additions: config.updatedb.additions,
    beyondVariants: config.outlinks.beyondVariants,
    layersOf: layersByHost(config),
    dayBoundOf: dayBoundsByHost(config),
    initialIntervalMs: plugins.policy.schedule.initialIntervalMs,
    auditShare: config.fetch.auditShare,
  });
}
