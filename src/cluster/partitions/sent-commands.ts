import { CrawlError } from '../../core/domain/errors.ts';
import { hostOf } from '../../core/domain/url/canonical/url-key.ts';
import { normalizedUrl } from '../../core/plugin-host/url-chain.ts';
import type { CrawlDb } from '../../core/ports/crawl-db.ts';
import type { CrawlDeps, QueryDb } from '../../operations/deps.ts';
import { type RevisitOperations, revisitOperations } from '../../operations/loop/revisit-operations.ts';
import type { StepOperations } from '../../operations/loop/step-operations.ts';
import { openSegments } from '../../operations/state/open-segments.ts';
import type { Turns } from '../ports/turns.ts';
import type { OrderArgs, OrderName } from './orders.ts';
import type { PartitionStores } from './partition-stores.ts';
import { senderKnowing } from './pass-on.ts';
import { putSeeds } from './put-seeds.ts';

export interface SentCommandsDeps extends Pick<CrawlDeps, 'config' | 'runtime' | 'plugins' | 'web' | 'segments'> {
  /** The whole crawl, on which a command counts what it will do; its writes there are dropped. */
  readonly trial: CrawlDb;
  /** Its partitions. */
  readonly whole: Pick<QueryDb, 'parts'>;
  partitionOf(host: string): number;
  readonly stores: Pick<PartitionStores, 'partitions' | 'splits' | 'placeOf' | 'inboxOf'>;
  readonly turns: Pick<Turns, 'want'>;
  /** Nothing is sent. */
  readonly isDry: boolean;
}

/** URLs of one row of an inbox. */
const PAGE = 1_000;

/**
 * Commands on a spread crawl. Each counts what it will do as of now, and is sent to the inboxes of the partitions that
 * it concerns; their holders carry it out. Needs no lease. `partitions` of a summary is the number of partitions it was
 * sent to.
 */
export function sentCommands(deps: SentCommandsDeps): RevisitOperations & Pick<StepOperations, 'inject'> {
  const { runtime, plugins, stores, turns, isDry } = deps;
  const { log } = runtime;
  const parts = () => deps.whole.parts.map(({ db, dir }) => ({ db, segments: openSegments({ ...deps, dir, log }) }));
  const trial = revisitOperations({ ...deps, parts, store: () => ({ db: deps.trial }) });

  /** Resolves with the number of partitions. */
  async function send<Name extends OrderName>(
    command: Name,
    argsOf: ReadonlyMap<number, readonly OrderArgs<Name>[]>,
  ): Promise<{ readonly partitions?: number }> {
    if (isDry) return {};
    const sender = senderKnowing('orders', stores.splits);
    for (const [partition, orders] of argsOf) {
      const rows = orders.map((args, number) => ({ number, item: { order: { command, args } } }));
      await stores.inboxOf(partition).append(sender, rows);
    }
    await turns.want(argsOf.keys());
    return { partitions: argsOf.size };
  }

  /** The same arguments for all partitions, or for that of a host. */
  const toEach = <Args>(host: string | undefined, args: Args): ReadonlyMap<number, readonly Args[]> => {
    const own = host === undefined ? Array.from({ length: stores.partitions }, (_, i) => i) : [deps.partitionOf(host)];
    return new Map(own.map((partition) => [partition, [args]]));
  };

  return {
    async touch(urls, { at = runtime.clock.now() } = {}) {
      const summary = await trial.touch(urls, { at });
      const unknown = new Set(summary.unknown);
      const known = new Set<string>();
      for (const input of urls) {
        const { url } = normalizedUrl(plugins.loaded, input);
        if (url !== null && !unknown.has(url)) known.add(url);
      }
      const pages = new Map<number, [string[], number][]>();
      for (const url of known) {
        const partition = deps.partitionOf(hostOf(url));
        const own = pages.get(partition) ?? [];
        pages.set(partition, own);
        const last = own.at(-1);
        if (last === undefined || last[0].length >= PAGE) own.push([[url], at]);
        else last[0].push(url);
      }
      return { ...summary, ...(await send('touch', pages)) };
    },
    async touchMatching(query, { at = runtime.clock.now() } = {}) {
      const summary = await trial.touchMatching(query, { at });
      if (summary.touched === 0) return summary;
      return { ...summary, ...(await send('touchMatching', toEach<[typeof query, number]>(query.host, [query, at]))) };
    },
    async retry(query, onUrl) {
      const matched = new Map<number, number>();
      const summary = await trial.retry(query, (url, reason) => {
        const partition = deps.partitionOf(hostOf(url));
        matched.set(partition, (matched.get(partition) ?? 0) + 1);
        onUrl?.(url, reason);
      });
      if (summary.matched === 0 || query.dryRun) return summary;
      // The first `limit` of all pages are the first few of each partition.
      const each = [...matched].map(([partition, count]): [number, [typeof query][]] => {
        return [partition, [[query.limit === undefined ? query : { ...query, limit: count }]]];
      });
      return { ...summary, ...(await send('retry', new Map(each))) };
    },
    async inject(sources, { mode = 'keep' } = {}) {
      if (mode !== 'keep' || isDry) throw new CrawlError('usage-invalid', ONLY_KEPT);
      const { urls, refused, partitions } = await putSeeds(deps, sources);
      await turns.want(partitions);
      const none = { updated: 0, overwritten: 0, kept: 0, filteredBy: {}, errors: [] };
      return { urls, injected: urls, filtered: refused, ...none, partitions: partitions.size };
    },
  };
}

const ONLY_KEPT =
  'seeds of a crawl in partitions are sent to the partitions, whose workers inject them: known URLs are kept ' +
  '(--mode keep), and there is no dry run';
