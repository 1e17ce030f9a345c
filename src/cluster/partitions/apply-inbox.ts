// cluster/partitions/: a crawl of several partitions, each held by one worker at a time.

import { hostOf } from '../../core/domain/url/canonical/url-key.ts';
import type { ReceivedRow } from '../../core/ports/partitions/forwarding.ts';
import { NO_SKIP_SINK } from '../../core/steps/counters/outcome-counts.ts';
import { SEED_HOSTS_KEY } from '../../core/steps/inject.ts';
import { applyForwarded } from '../../core/steps/update/links/apply-forwarded.ts';
import type { CrawlDeps } from '../../operations/deps.ts';
import { linkDeps, linkOptions } from '../../operations/loop/readmitting.ts';
import { injectSeeds } from '../../operations/loop/step-operations.ts';
import { carryOut } from './orders.ts';
import { type PassOnDeps, passOn } from './pass-on.ts';
import { seedUrl } from './put-seeds.ts';

/** Rows applied in one batch, each of up to `PARCEL_SIZE` links or seeds. */
const PAGE = 32;

/**
 * Applies all rows of the inbox: links as if they had been found here, commands, seeds, and hosts of seeds, which come
 * first because links are judged by them. Seeds and commands are written before their rows are removed; applying them
 * again changes nothing. Rows that arrive meanwhile may be left. Resolves with the number of rows.
 * @param onMail called before the first row is applied
 */
export async function applyInbox(
  deps: CrawlDeps,
  passing: PassOnDeps,
  signal: AbortSignal,
  onMail: () => Promise<void>,
): Promise<number> {
  const { config, runtime, plugins } = deps;
  const { db } = deps.store();
  const options = {
    ...linkOptions(config),
    additions: config.updatedb.additions,
    initialIntervalMs: plugins.policy.schedule.initialIntervalMs,
  };
  let applied = 0;
  while (!signal.aborted) {
    const rows: ReceivedRow[] = [];
    for await (const row of db.forwarding.inbox(PAGE)) rows.push(row);
    if (rows.length === 0) break;
    if (applied === 0) await onMail();
    await passOn(passing, rows);
    await addSeeds(deps, passing, rows);
    for (const { item } of rows) if ('order' in item) await carryOut(deps, item.order);
    const links = { ...linkDeps(deps, NO_SKIP_SINK), filteredBy: {}, demotedBy: {} };
    await applyForwarded({ db, clock: runtime.clock, links }, rows, options);
    applied += rows.length;
    if (rows.length < PAGE) break;
  }
  return applied;
}

async function addSeeds(deps: CrawlDeps, { partition, stores }: PassOnDeps, rows: readonly ReceivedRow[]) {
  const { db, seedHosts } = deps.store();
  const before = seedHosts.size;
  for (const { item } of rows) if ('seedHosts' in item) for (const host of item.seedHosts) seedHosts.add(host);
  if (seedHosts.size > before) await db.write({ meta: { [SEED_HOSTS_KEY]: JSON.stringify([...seedHosts]) } });
  const isOwn = (line: string): boolean => {
    const url = stores.splits.length === 0 ? null : seedUrl(deps.plugins, line, () => {});
    return url === null || stores.placeOf(hostOf(url)) === partition;
  };
  const lines = rows.flatMap(({ item }) => ('seeds' in item ? item.seeds.filter(isOwn) : []));
  if (lines.length > 0) await injectSeeds(deps, [{ name: 'inbox', lines }], 'retry');
}
