import { parseIntervalRule } from '../config/interval-rule.ts';
import type { Config } from '../config/schema.ts';
import { isOfType } from '../domain/crawl/revisit/interval-bounds.ts';
import { boundsFor, type SettlePolicy } from '../domain/crawl/revisit/next-visit.ts';
import type { FetchSchedule } from '../domain/crawl/revisit/schedule.ts';
import { unknownName } from '../plugin-host/loading/load-parsing.ts';
import type { LoadedPlugins } from '../plugin-host/loading/load-plugins.ts';
import type { CrawlDb } from '../ports/crawl-db.ts';

/** The schedule that the configuration names. Throws `config-invalid` when no plugin is called so. */
export function scheduleOf(config: Config, plugins: Pick<LoadedPlugins, 'schedules'>): FetchSchedule {
  const schedule = plugins.schedules.get(config.schedule.name);
  if (schedule === undefined) throw unknownName('schedule.name', config.schedule.name, plugins.schedules.keys());
  return schedule;
}

/** When pages are visited again, as configured. */
export function policyOf(config: Config, schedule: FetchSchedule): SettlePolicy {
  return {
    schedule,
    minIntervalMs: config.schedule.minIntervalMs,
    maxIntervalMs: config.schedule.maxIntervalMs,
    retryIntervalMs: config.schedule.retryIntervalMs,
    maxRetryIntervalMs: config.schedule.maxRetryIntervalMs,
    goneIntervalsMs: config.schedule.goneIntervalsMs,
    intervalRules: config.schedule.bounds.map(parseIntervalRule),
  };
}

/**
 * The least time between two visits of a page where hosts or types have bounds of their own. Its type is told by its
 * record alone, which is asked for only then.
 */
export function leastIntervals(
  policy: SettlePolicy,
  db: Pick<CrawlDb, 'get'>,
): { minIntervalOf?: (url: string) => Promise<number> } {
  const rules = policy.intervalRules ?? [];
  if (rules.length === 0) return {};
  const isByType = rules.some(isOfType);
  return {
    minIntervalOf: async (url) => {
      const record = isByType ? await db.get(url) : undefined;
      return boundsFor(record ?? { url, contentType: null }, policy).minIntervalMs;
    },
  };
}
