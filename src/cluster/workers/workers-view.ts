import { isoTime } from '../../core/domain/time.ts';
import { TURN_ATTEMPTS } from '../ports/turns.ts';
import type { CrawlWorkers, PartitionRow, RestingHosts, WorkerReport } from '../ports/workers.ts';
import { holderOf } from './write-lease.ts';

/** Who works on a crawl that several workers share, and on what. Times by the clock of the server, ISO 8601. */
export interface WorkersView {
  /** `cluster.name`. */
  readonly crawl: string;
  readonly at: string;
  /** The oldest first; dead workers and those that ended by a fault are listed for an hour. */
  readonly workers: readonly WorkerView[];
  /** Those in which something was written, by number. */
  readonly partitions: readonly WatchedPartition[];
}

export interface WorkerView {
  /** `MACHINE/PROCESS`; for one that has reported nothing, its id. */
  readonly worker: string;
  readonly host: string | null;
  readonly pid: number | null;
  /** `dead`: no sign of life for a lease; `failed`: ended by a fault of its own. */
  readonly state: 'crawling' | 'idle' | 'dead' | 'failed';
  readonly since: string;
  readonly heardAt: string;
  readonly fault: string | null;
  /** Since its start. */
  readonly visits: number;
  readonly bytesReceived: number;
  readonly rounds: number;
  /** Over the last ten seconds; 0 for one that has ended. */
  readonly visitsPerSecond: number;
  readonly inFlight: number;
  readonly waiting: number;
  /** The partitions that it holds. */
  readonly partitions: readonly string[];
}

export interface WatchedPartition {
  /** Three digits. */
  readonly partition: string;
  /**
   * `held`: a worker crawls it; `due`: it waits for a worker; `resting`: it waits until its hosts may be requested, or
   * a pause is over; `retrying`: its last turn failed; `failed`: several in a row failed, and it is tried less often;
   * `done`: nothing is due.
   */
  readonly state: 'held' | 'due' | 'resting' | 'retrying' | 'failed' | 'done';
  /** The worker, or another process, that holds it; `null`: none. */
  readonly holder: string | null;
  /** End of the lease of the holder, unless it is extended. */
  readonly until: string | null;
  /** When its turn may be taken; `null`: it is held, or nobody wants it. */
  readonly wantedAt: string | null;
  /** URLs that are due now; `null`: not known. */
  readonly due: number | null;
  /** The round that its holder plays. */
  readonly round: { readonly stage: string; readonly urls: number; readonly done: number } | null;
  /** Hosts that must rest, as reported by its last turn. */
  readonly resting: RestingHosts | null;
  /** Failed turns since the last successful one, and the last reason. */
  readonly failures: number;
  readonly fault: string | null;
}

/** @param dueOf due URLs of a partition by the name of its crawl db */
export function workersView(
  crawl: string,
  { at, workers: rows, partitions: parts }: CrawlWorkers,
  dueOf: ReadonlyMap<string, number>,
): WorkersView {
  const holders = new Map(parts.map((part) => [part, part.holder === null ? null : holderOf(part.holder)]));
  const workers = rows.map((row): WorkerView => {
    const { id, report, fault, isAlive } = row;
    const held = parts.filter((part) => holders.get(part)?.worker === id);
    const { host = null, pid = null } = report ?? {};
    const counts = report ?? NOTHING;
    return {
      worker: nameOf(id, report),
      ...{ host, pid },
      state: fault !== null ? 'failed' : !isAlive ? 'dead' : held.length > 0 ? 'crawling' : 'idle',
      since: isoTime(row.since),
      heardAt: isoTime(row.heardAt),
      fault,
      visits: counts.visits,
      bytesReceived: counts.bytesReceived,
      rounds: counts.rounds,
      ...(isAlive
        ? { visitsPerSecond: counts.visitsPerSecond, inFlight: counts.inFlight, waiting: counts.waiting }
        : { visitsPerSecond: 0, inFlight: 0, waiting: 0 }),
      partitions: held.map(({ name }) => numberOf(name)),
    };
  });
  const names = new Map(rows.map(({ id, report }) => [id, nameOf(id, report)]));
  const partitions = parts.map((part): WatchedPartition => {
    const { name, until, wantedAt, failures, fault, resting } = part;
    const holder = holders.get(part) ?? null;
    const partition = numberOf(name);
    const report = rows.find(({ id, isAlive }) => isAlive && id === holder?.worker)?.report ?? null;
    const round = report?.underWay.find((each) => each.partition === Number(partition)) ?? null;
    return {
      partition,
      state: stateOf(part, at),
      holder: holder === null ? null : (names.get(holder.worker ?? '') ?? `${holder.host}/${holder.pid}`),
      until: until === null ? null : isoTime(until),
      wantedAt: wantedAt === null || part.holder !== null ? null : isoTime(wantedAt),
      due: dueOf.get(name) ?? null,
      round: round === null ? null : { stage: round.stage, urls: round.urls, done: round.done },
      resting: part.holder === null && wantedAt !== null ? resting : null,
      ...{ failures, fault },
    };
  });
  return { crawl, at: isoTime(at), workers, partitions };
}

const NOTHING = { visits: 0, bytesReceived: 0, rounds: 0, visitsPerSecond: 0, inFlight: 0, waiting: 0 } as const;

const nameOf = (id: string, report: WorkerReport | null): string =>
  report === null ? id.slice(0, 8) : `${report.host}/${report.pid}`;

/** Taken from the name of its crawl db; a crawl of one partition uses its own name. */
const numberOf = (name: string): string => /:(\d{3})$/.exec(name)?.[1] ?? '000';

function stateOf({ holder, wantedAt, failures, fault }: PartitionRow, at: number): WatchedPartition['state'] {
  if (holder !== null) return 'held';
  if (fault !== null) return failures >= TURN_ATTEMPTS ? 'failed' : 'retrying';
  if (wantedAt === null) return 'done';
  return wantedAt > at ? 'resting' : 'due';
}

/** Workers that are alive. */
export const livingOf = ({ workers }: WorkersView): readonly WorkerView[] =>
  workers.filter(({ state }) => state === 'crawling' || state === 'idle');
