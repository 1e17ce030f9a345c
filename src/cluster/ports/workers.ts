/** What a worker tells others of itself. Counts are since its start. */
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

/** Hosts with due URLs that are not to be requested yet. */
export interface RestingHosts {
  readonly hosts: number;
  /** Due URLs of them all. */
  readonly urls: number;
  /** The host whose turn comes first. */
  readonly next: string;
}

/** A worker as the server has it. Times by its clock, ms since the epoch. */
export interface WorkerRow {
  readonly id: string;
  readonly since: number;
  /** Its last sign of life. */
  readonly heardAt: number;
  /** Whether that is younger than a lease, and it has not ended. */
  readonly isAlive: boolean;
  /** `null`: it has told nothing yet. */
  readonly report: WorkerReport | null;
  /** Its own fault, by which it has ended; `null`: it has not. */
  readonly fault: string | null;
}

/** A partition as the server has it. Times by its clock, ms since the epoch. */
export interface PartitionRow {
  /** Name of its crawl db. */
  readonly name: string;
  /** As {@link StoreLeases.take} was given it, while the lease lasts; `null`: nobody holds it. */
  readonly holder: string | null;
  /** End of the lease, unless it is extended; `null`: nobody holds it. */
  readonly until: number | null;
  /** When its turn may be taken; `null`: nobody wants it. */
  readonly wantedAt: number | null;
  /** Failed attempts since the last that went well, and the last reason. */
  readonly failures: number;
  readonly fault: string | null;
  /** What the last turn has left, where it ended as its hosts rest. */
  readonly resting: RestingHosts | null;
}

/** The workers of a crawl, and its partitions in which something was written. */
export interface CrawlWorkers {
  /** Time of the server. */
  readonly at: number;
  /** Those that live, and those of the last hour that died or ended by a fault of their own; the oldest first. */
  readonly workers: readonly WorkerRow[];
  /** In the order of their names. */
  readonly partitions: readonly PartitionRow[];
}
