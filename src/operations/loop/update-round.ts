import { join } from 'node:path';
import { hostEntriesBy } from '../../core/config/hosts/host-entries.ts';
import type { Config } from '../../core/config/schema.ts';
import { isWithinLast } from '../../core/domain/time.ts';
import { SkipNotes } from '../../core/steps/counters/outcome-counts.ts';
import { applySegment, type UpdateSteps } from '../../core/steps/crawl.ts';
import { trimFeed } from '../../core/steps/facts/change-feed.ts';
import type { UpdateSummary } from '../../core/steps/summaries.ts';
import type { LoginOf } from '../../core/steps/update/known-visits.ts';
import { sweepOrphans } from '../../core/steps/update/orphans.ts';
import { type UpdateRunOptions, updateFromSegment } from '../../core/steps/update/updatedb.ts';
import { openFileLinkedUrls } from '../../store/files/sorting/linked-urls.ts';
import type { CrawlDeps } from '../deps.ts';
import { reportSkips } from '../reports/skip-report.ts';
import { linkDeps, linkOptions } from './readmitting.ts';
import { runParse, segmentFor, withSegment } from './segment-steps.ts';
import { repeatDeps, repeatOptions } from './step-settings.ts';

export interface UpdateStepOptions {
  /** Default: the newest segment that is fetched but not applied. */
  readonly segment?: string | undefined;
  /** Whether new URLs are added. Default: `updatedb.additions`. */
  readonly additions?: boolean;
  readonly purgeGone?: boolean;
  readonly orphans?: 'off' | 'mark' | 'purge';
  /** As in `CrawlOptions`. */
  readonly maxLayers?: number;
  /** Ends the update after the batch under way. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Applies one segment: parses those of its pages that have no parse output, updates the crawl db, trims the change feed
 * and sweeps orphans.
 */
export async function updateRound(deps: CrawlDeps, options: UpdateStepOptions): Promise<UpdateSummary> {
  const { id } = await segmentFor(deps.segments, 'updatedb', options.segment);
  return applySegment(updateSteps(deps, options), id);
}

/** The steps that apply a segment, in the form that `core/steps/crawl.ts` calls. */
export function updateSteps(deps: CrawlDeps, options: Omit<UpdateStepOptions, 'segment'>): UpdateSteps {
  return {
    async parse(segment) {
      const { state } = await segmentFor(deps.segments, 'updatedb', segment);
      if (state === 'fetched' || state === 'generated') await runParse(deps, segment, {});
    },
    updatedb: (segment, isGrowing = false) => updatedb(deps, segment, { ...options, isGrowing }),
    trimFeed: () => trimFeed(deps.store().db, deps.config.changes, deps.runtime.clock.now()),
    sweepOrphans: () => sweepWhenDue(deps, options.orphans),
    applyFamilies: () => applyFamilies(deps),
  };
}

async function applyFamilies(deps: CrawlDeps): Promise<void> {
  if (deps.config.linkclusters.everyMs === 0) return;
  const { applyFamiliesWhenDue } = await import('../../published/map-reduce/link-operations.ts');
  await applyFamiliesWhenDue(deps);
}

async function updatedb(
  deps: Omit<CrawlDeps, 'pages'>,
  id: string,
  options: Omit<UpdateStepOptions, 'segment'> & Pick<UpdateRunOptions, 'isGrowing'>,
): Promise<Omit<UpdateSummary, 'orphans'>> {
  const { config, plugins } = deps;
  const { clock, log, onWork } = deps.runtime;
  const { db, inlinks, saveSeenStats } = deps.store();
  const skips = new SkipNotes(config.reports.skippedPerReason);
  const updateDeps = {
    db,
    clock,
    policy: plugins.policy,
    links: linkDeps(deps, skips),
    near: repeatDeps(config, db),
    inlinks,
  };
  const settings = {
    additions: options.additions ?? config.updatedb.additions,
    purgeGone: options.purgeGone ?? config.updatedb.purgeGone,
    chunk: config.updatedb.chunk,
    ...linkOptions(config, options.maxLayers),
    distrustMs: config.fetch.distrustMs,
    soft404: config.fetch.soft404,
    loginOf: loginsOf(config),
    repeats: { ...repeatOptions(config), skipOutlinks: config.dedup.mode === 'skip-outlinks' },
  };
  const summary = await withSegment(deps, id, (segment) =>
    updateFromSegment(updateDeps, segment, settings, { onWork, ...options }),
  );
  await reportSkips(deps.dir, skips, { step: 'updatedb', segment: id, at: clock.now() }, log);
  await saveSeenStats();
  return summary;
}

/** The login pages of `hosts:`; `undefined` if no entry names one. */
function loginsOf({ hosts }: Config): LoginOf | undefined {
  if (hosts.every(({ login }) => login === undefined)) return undefined;
  const entries = hostEntriesBy(hosts);
  return (url) => entries.forUrl(url)?.entry.login;
}

const SWEPT_KEY = 'orphanSweptAt';

/** Sweeps orphans every `updatedb.orphanSweepEvery`, or at once if the caller names a mode. */
export async function sweepWhenDue(
  deps: Pick<CrawlDeps, 'dir' | 'config' | 'runtime' | 'plugins' | 'store'>,
  asked: UpdateStepOptions['orphans'],
): Promise<{ readonly orphans: number }> {
  const { config, runtime, plugins } = deps;
  const mode = asked ?? config.updatedb.orphans;
  if (mode === 'off') return { orphans: 0 };
  const { db, seen, admission } = deps.store();
  const now = runtime.clock.now();
  const last = Number((await db.meta(SWEPT_KEY)) ?? Number.NaN);
  if (Number.isNaN(last)) {
    await db.write({ meta: { [SWEPT_KEY]: String(now) } });
    if (asked === undefined) return { orphans: 0 };
  } else if (asked === undefined && isWithinLast(config.updatedb.orphanSweepEveryMs, last, now)) {
    return { orphans: 0 };
  }
  const near = repeatDeps(config, db);
  const repeats = repeatOptions(config);
  const options = { mode, repeats, now };
  const openLinkedUrls = (bounds: readonly string[]) => openFileLinkedUrls({ dir: join(deps.dir, 'tmp'), bounds });
  const { forwarding } = admission;
  const sweepDeps = { db, seen, policy: plugins.policy, near, openLinkedUrls, forwarding };
  const { orphaned, purged } = await sweepOrphans(sweepDeps, options);
  await db.write({ meta: { [SWEPT_KEY]: String(now) } });
  return { orphans: orphaned + purged };
}
