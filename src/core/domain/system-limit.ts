import { CrawlError } from './errors.ts';

/** Names of the system for "no descriptor is left": of this process, and of the whole machine. */
const OUT_OF_FILES: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE']);
const MOST_LINKS = 16;

/**
 * Whether an error, one of its causes, or one of the attempts within it has the code for "no file descriptor is left".
 * Texts are not read: those of network errors quote certificates and names of strangers.
 */
export function isOutOfFiles(error: unknown): boolean {
  const pending = [error];
  for (let seen = 0; pending.length > 0 && seen < MOST_LINKS; seen++) {
    const link = pending.shift();
    if (!(link instanceof Error)) continue;
    if (OUT_OF_FILES.has((link as { code?: unknown }).code)) return true;
    pending.push(link.cause, ...(link instanceof AggregateError ? link.errors : []));
  }
  return false;
}

/** As {@link isOutOfFiles} by text, for LevelDB and threads, whose errors have no code of the system. */
export const saysOutOfFiles = (text: string): boolean => /\b(?:EMFILE|ENFILE)\b|too many open files/i.test(text);

const HOW_TO_RAISE =
  'raise the limit ("ulimit -n", LimitNOFILE of a systemd unit, --ulimit nofile of a container), ' +
  'or lower fetch.concurrency';

/** The error for a file or a connection that could not be opened since no descriptor was left. */
export const outOfFiles = (what: string, cause?: unknown): CrawlError =>
  new CrawlError('system-limit', `${what}: too many open files; ${HOW_TO_RAISE}`, { cause });

/** Descriptors that a crawl shares out. */
export interface DescriptorShares {
  /** Concurrent requests; at most as many as configured. */
  readonly concurrency: number;
  /** Idle connections kept for the next request of their host. */
  readonly idleSockets: number;
}

/**
 * Descriptors for all but connections to hosts: Node (25), LevelDB (8), a segment (5), parser threads (6 each), modules
 * that are being read, name resolution, robots.txt files and questions of other processes.
 */
const RESERVED = 72;
const FEWEST_SOCKETS = 4;
/** Idle connections where descriptors abound. */
const MOST_IDLE = 256;

/**
 * Shares the descriptors of a process among requests and idle connections. Where there are too few for both, a third is
 * left to idle connections: a request over a new one costs its host a handshake.
 * @param limit most descriptors of the process; `null`: not known, or without limit
 * @returns `null` when even a few requests would not find one
 */
export function shareDescriptors(limit: number | null, wanted: number): DescriptorShares | null {
  if (limit === null) return { concurrency: wanted, idleSockets: MOST_IDLE };
  const sockets = limit - RESERVED;
  if (sockets < FEWEST_SOCKETS) return null;
  const concurrency = Math.min(wanted, Math.ceil((sockets * 2) / 3));
  return { concurrency, idleSockets: Math.min(MOST_IDLE, sockets - concurrency) };
}

/** The least limit under which a crawl fetches at all. */
export const FEWEST_DESCRIPTORS = RESERVED + FEWEST_SOCKETS;

const expectedFor = (wanted: number): number => Math.max(FEWEST_DESCRIPTORS, RESERVED + wanted + Math.ceil(wanted / 2));

/** What an operator is told when fewer requests run at a time than configured. */
export const fewerRequests = (limit: number, wanted: number, concurrency: number): string =>
  `${concurrency} concurrent requests in place of ${wanted} (fetch.concurrency): this process may open ${limit} ` +
  `files and connections, and ${expectedFor(wanted)} were expected; ${HOW_TO_RAISE}`;

/** The refusal to fetch with fewer descriptors than {@link FEWEST_DESCRIPTORS}. */
export const tooFewDescriptors = (limit: number): CrawlError =>
  new CrawlError(
    'system-limit',
    `this process may open ${limit} files and connections, and a crawl needs ${FEWEST_DESCRIPTORS} at least: ` +
      HOW_TO_RAISE.replace(/, or .*/, ''),
  );
