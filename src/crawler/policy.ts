import { boundsOfEntry, hostEntriesBy } from '../core/config/hosts/host-entries.ts';
import { parseIntervalRule } from '../core/config/interval-rule.ts';
import type { Config } from '../core/config/schema.ts';
import type { SettlePolicy } from '../core/domain/crawl/revisit/next-visit.ts';
import type { FetchSchedule } from '../core/domain/crawl/revisit/schedule.ts';
import type { LoadedPlugins } from '../core/plugin-host/loading/load-plugins.ts';
import { unknownName } from '../core/plugin-host/parsing/load-parsing.ts';

/** The configured schedule. Throws `config-invalid` when no plugin has that name. */
export function scheduleOf(config: Config, plugins: Pick<LoadedPlugins, 'schedules'>): FetchSchedule {
  const schedule = plugins.schedules.get(config.schedule.name);
  if (schedule === undefined) throw unknownName('schedule.name', config.schedule.name, plugins.schedules.keys());
  return schedule;
}

/** The intervals of `hosts:`; an entry without intervals leaves its pages to `schedule.bounds`. */
function boundsOfHosts({ hosts }: Config): Pick<SettlePolicy, 'boundsOfUrl'> {
  if (hosts.every((entry) => boundsOfEntry(entry) === undefined)) return {};
  const entries = hostEntriesBy(hosts);
  return {
    boundsOfUrl: (url) => {
      const found = entries.forUrl(url);
      return found && boundsOfEntry(found.entry);
    },
  };
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
    missingIntervalsMs: config.schedule.missingIntervalsMs,
    maxRedirects: config.fetch.maxRedirects,
    intervalRules: config.schedule.bounds.map(parseIntervalRule),
    ...boundsOfHosts(config),
  };
}
