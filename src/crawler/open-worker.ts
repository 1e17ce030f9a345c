import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { keptSegments } from '../cluster/partitions/kept-segments.ts';
import {
  partitionNames,
  requireSpread,
  type SpreadPlace,
  sharedPartitions,
} from '../cluster/partitions/shared-partitions.ts';
import { type SpreadWorkDeps, spreadWork } from '../cluster/partitions/spread-work.ts';
import { throughSplits } from '../cluster/partitions/through-splits.ts';
import { isAway } from '../cluster/ports/shared-store.ts';
import type { Turns } from '../cluster/ports/turns.ts';
import { openCrawlStore } from '../cluster/servers/crawl-store.ts';
import { openSharedDb, type SharedDbOptions, warnOfDanger } from '../cluster/workers/open-shared-db.ts';
import { serverClock } from '../cluster/workers/server-clock.ts';
import { faultText, isOwnFault, type Worker, type WorkOptions, type WorkSummary } from '../cluster/workers/work-off.ts';
import { WorkerTally } from '../cluster/workers/worker-tally.ts';
import { CrawlError } from '../core/domain/errors.ts';
import { elapsedOf } from '../core/ports/clock.ts';
import { readClusterMark } from '../operations/state/cluster-mark.ts';
import { segmentsPlace } from '../operations/state/segments-mark.ts';
import { makeStateFolder } from '../operations/state/state-folder.ts';
import { cpuMs, systemClock } from '../operations/system/clock.ts';
import type { CrawlerOptions } from './types.ts';
import { wire } from './wiring.ts';

/** Ms after which a turn of a partition begins no further round: others may wait for this worker. */
const TURN_MS = 60_000;
/** Wait before checking again on another process that is creating the same crawl, ms. */
const BEGIN_MS = 1_000;
/** Ms after which the clock is compared with that of the server again. */
const COMPARED_MS = 60_000;

/**
 * Opens a worker of a shared crawl. Rejects with `CrawlError`: `config-invalid` without a server, `package-missing`,
 * `plugin-broken`, an error of the store.
 */
export async function openWorker(options: CrawlerOptions): Promise<Worker> {
  const { config, log, clock: own = systemClock, random = Math.random, baseDir = process.cwd(), env } = options;
  const dir = resolve(options.dir);
  const { name, leaseMs, partitions, partitionBy, partitionsAtOnce } = config.cluster;
  if (config.cluster.store === '') throw noServer();
  if (config.fetch.requisites !== 'none') throw noRequisites();
  const store = await openCrawlStore(config.cluster);
  await makeStateFolder(dir);
  const clock = serverClock(own, { store, name, log });
  const wired = wire({ config, dir, baseDir, log, clock, random, env });
  // An open connection would keep the program from ending.
  wired.catch(() => store.close());
  const { close, segments: _, ...wiring } = await wired;
  const place: SpreadPlace = { store, dir, name, partitions, partitionBy, segments: segmentsPlace(config) };
  const id = randomUUID();
  let turns: Turns | null = null;
  let fault: string | undefined;
  let comparing: NodeJS.Timeout | undefined;
  const tally = new WorkerTally({ host: hostname(), pid: process.pid }, () => elapsedOf(clock));
  const workedOn = async (work: WorkOptions, onSplit: () => void): Promise<WorkSummary> => {
    const begun = { ...place, ...(await requireSpread(place)) };
    if (begun.partitions === 1) await beginAlone({ config, dir, log, access: 'write', signal: work.signal });
    await warnOfDanger(place, log);
    await turns?.close();
    await clock.compare();
    comparing ??= setInterval(() => void clock.compare(), COMPARED_MS).unref();
    turns = store.turns(partitionNames(begun), leaseMs, id);
    const deps: SpreadWorkDeps = {
      partitions: {
        wiring,
        stores: sharedPartitions(begun, leaseMs, { worker: turns.worker, onSplit }),
        segmentsIn: keptSegments(config, log),
      },
      turns,
      tally,
      cpuMs,
      atOnce: partitionsAtOnce,
      turnMs: TURN_MS,
      requireCrawlDb: async () => {
        const { splits } = await requireSpread(place);
        if (splits.length > begun.splits.length) onSplit();
      },
    };
    return spreadWork(deps, work);
  };
  return {
    async work(work = {}) {
      try {
        return await throughSplits(work, workedOn);
      } catch (error) {
        if (isOwnFault(error)) fault = faultText(error);
        throw await causeOf(error, place);
      }
    },
    async close() {
      clearInterval(comparing);
      await turns?.close(fault);
      await store.close();
      await close();
    },
  };
}

/** Any error at any moment may follow from missing tables: the cause is then that the server has lost the crawl. */
async function causeOf(error: unknown, place: SpreadPlace): Promise<unknown> {
  if (isOwnFault(error) || isAway(error)) return error;
  return requireSpread(place).then(
    () => error,
    (cause: unknown) => cause,
  );
}

/** Creates a crawl of one partition, unless another process does. */
async function beginAlone(options: SharedDbOptions): Promise<void> {
  while (readClusterMark(options.dir) === null) {
    try {
      await (await openSharedDb({ ...options, waitMs: BEGIN_MS })).close();
    } catch (error) {
      if (!(error instanceof CrawlError) || error.code !== 'db-locked') throw error;
    }
  }
}

function noServer(): CrawlError {
  const how = 'such as -D cluster.store=postgres://127.0.0.1/crawl; "incrawl crawl" needs none';
  return new CrawlError(
    'config-invalid',
    `workers share a crawl through a server: cluster.store must name the server, ${how}`,
  );
}

function noRequisites(): CrawlError {
  return new CrawlError(
    'config-invalid',
    'fetch.requisites: expected none, as workers fetch pages alone; "incrawl crawl" and "incrawl mirror" fetch requisites',
  );
}
