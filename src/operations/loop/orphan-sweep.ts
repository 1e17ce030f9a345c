import { isWithinLast } from '../../domain/time.ts';
import { sweepOrphans } from '../../steps/update/orphans.ts';
import { repeatDeps, repeatOptions } from '../dedup/dedup-settings.ts';
import type { CrawlDeps } from '../deps.ts';
import type { UpdateStepOptions } from './update-round.ts';

const SWEPT_KEY = 'orphanSweptAt';

/** Orphans are looked for by the calendar; asked for by name, at once. */
export async function sweepWhenDue(
  deps: Pick<CrawlDeps, 'config' | 'runtime' | 'plugins' | 'store'>,
  asked: UpdateStepOptions['orphans'],
): Promise<{ readonly orphans: number }> {
  const { config, runtime, plugins } = deps;
  const mode = asked ?? config.updatedb.orphans;
  if (mode === 'off') return { orphans: 0 };
  const { db, seen } = deps.store();
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
  const { orphaned, purged } = await sweepOrphans({ db, seen, policy: plugins.policy, near }, options);
  await db.write({ meta: { [SWEPT_KEY]: String(now) } });
  return { orphans: orphaned + purged };
}
