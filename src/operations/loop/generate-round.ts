import { domainOf } from '../../adapters/system/domain-of.ts';
import { dayBoundsByHost, layersByHost } from '../../config/hosts/host-bounds.ts';
import { hostEntriesBy } from '../../config/hosts/host-entries.ts';
import type { Config } from '../../config/schema.ts';
import type { DueEntry } from '../../ports/crawl-db.ts';
import type { Log } from '../../ports/log.ts';
import { SkipNotes } from '../../steps/counters/skip-notes.ts';
import { type GenerateOptions, generate } from '../../steps/generate/generate.ts';
import { applySettings } from '../../steps/generate/settings-in-force.ts';
import type { GenerateSummary, WaitingHosts } from '../../steps/summaries.ts';
import type { CrawlDeps } from '../deps.ts';
import { reportSkips } from '../reports/skip-report.ts';
import { scheduleSettings } from './schedule-settings.ts';

export type GenerateRoundDeps = Pick<CrawlDeps, 'dir' | 'config' | 'runtime' | 'plugins' | 'segments' | 'store'>;

/** Makes the fetch list of a round and reports the URLs it left out. Options override the configuration. */
export async function generateRound(deps: GenerateRoundDeps, options: GenerateOptions = {}): Promise<GenerateSummary> {
  const { dir, config, segments } = deps;
  const { clock, log, random, onWork } = deps.runtime;
  const { loaded, urls, policy } = deps.plugins;
  const { db, seedHosts } = deps.store();
  const skips = new SkipNotes(config.reports.skippedPerReason);
  const ranked = (entry: DueEntry, now: number): number => loaded.scoring?.rank(entry, now) ?? entry.score;
  const rank = byPriority(config, ranked);
  // Without a scoring plugin the rank is the score.
  const isByScore = loaded.scoring === null || loaded.scoring.ranksNewByScoreAndTime === true;
  const ranksNewByScoreAndTime = isByScore && rank === ranked;
  const select = { urls, seedHosts, rank, ranksNewByScoreAndTime, policy, domainOf, skips, onWork };
  const { topN, maxPerHost, maxPerDomain, minScore, minIntervalMs, budgetPerDay, newShare, where } = config.generate;
  const defaults = {
    ...{ topN, maxPerHost, maxPerDomain, minScore, minIntervalMs, budgetPerDay, newShare, where },
    maxLayers: Number.POSITIVE_INFINITY,
    addDaysMs: 0,
    dryRun: false,
    budget: 0,
    auditShare: config.fetch.auditShare,
    soft404: config.fetch.soft404,
    hostWaitMs: config.fetch.hostWaitMs,
    partitionBy: config.partition.by,
    layersOf: layersByHost(config),
    dayBoundOf: dayBoundsByHost(config),
  };
  if (!options.dryRun) {
    const moved = await applySettings(db, policy, scheduleSettings(config), clock.now());
    if (moved > 0) log.info('next visits moved, since the schedule has other settings', { pages: moved });
  }
  const summary = await generate({ db, segments, clock, random, select }, { ...defaults, ...options });
  if (!options.dryRun) {
    if (summary.waiting !== undefined && summary.segment === null) reportWaiting(log, summary.waiting);
    await reportSkips(dir, skips, { step: 'generate', segment: summary.segment, at: clock.now() }, log);
  }
  return summary;
}

type Rank = (entry: DueEntry, now: number) => number;

/** Ranks with the factors of `hosts:`; the given one where there are none. */
function byPriority({ hosts }: Config, rank: Rank): Rank {
  if (hosts.every(({ priority }) => priority === undefined)) return rank;
  const entries = hostEntriesBy(hosts);
  return (entry, now) => {
    const plain = rank(entry, now);
    const factor = entries.forUrl(entry.url)?.entry.priority ?? 1;
    // A plugin may rank below zero, where a factor above 1 has to raise the rank as well.
    return plain < 0 ? plain / factor : plain * factor;
  };
}

function reportWaiting(log: Log, { hosts, urls, next }: WaitingHosts): void {
  const first = next.map(({ host, notBefore }) => `${host} ${notBefore}`).join(', ');
  log.info('all due URLs are of hosts that must not be contacted yet', { hosts, urls, next: first });
}
