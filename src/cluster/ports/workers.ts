/** What a worker tells others about itself. Counts are since its start. */
export interface WorkerReport {
  /** Name of its machine. */
  readonly host: string;
  readonly pid: number;
  /** Visits that have ended. */
  readonly visits: number;
  readonly visitsPerSecond: number;
  readonly bytesReceived: number;
  readonly rounds: number;
  /** Requests in flight, and requests that wait for their host. */
  readonly inFlight: number;
  readonly waiting: number;
  /** The rounds that it plays. */
  readonly underWay: readonly RoundUnderWay[];
}

export interface RoundUnderWay {
  readonly partition: number;
  readonly stage: string;
  /** URLs in the fetch list, and those done. */
  readonly urls: number;
  readonly done: number;
}

/** Hosts with due URLs that may not be requested yet. */
export interface RestingHosts {
  readonly hosts: number;
  /** Due URLs of all these hosts. */
  readonly urls: number;
  /** The host whose turn comes first. */
  readonly next: string;
}

/** A worker as the server knows it. Times by its clock, ms since the epoch. */
export interface WorkerRow {
  readonly id: string;
  readonly since: number;
  /** Its last sign of life. */
  readonly heardAt: number;
  /** Whether the last sign of life is younger than a lease, and the worker has not ended. */
  readonly isAlive: boolean;
  /** `null`: it has reported nothing yet. */
  readonly report: WorkerReport | null;
  /** Its own fault, because of which it ended; `null`: none. */
  readonly fault: string | null;
}

/** A partition as the server knows it. Times by its clock, ms since the epoch. */
export interface PartitionRow {
  /** Name of its crawl db. */
  readonly name: string;
  /** As passed to {@link StoreLeases.take}, while the lease lasts; `null`: nobody holds it. */
  readonly holder: string | null;
  /** End of the lease, unless it is extended; `null`: nobody holds it. */
  readonly until: number | null;
  /** When its turn may be taken; `null`: nobody wants it. */
  readonly wantedAt: number | null;
  /** Failed attempts since the last successful one, and the last reason. */
  readonly failures: number;
  readonly fault: string | null;
  /** What the last turn has left, if it ended because its hosts rest. */
  readonly resting: RestingHosts | null;
}

/** The workers of a crawl, and its partitions in which something was written. */
export interface CrawlWorkers {
  /** Time of the server. */
  readonly at: number;
  /**
   * Workers that are alive, and those that died or ended by a fault of their own in the last hour; the oldest first.
   */
  readonly workers: readonly WorkerRow[];
  /** In the order of their names. */
  readonly partitions: readonly PartitionRow[];
}
