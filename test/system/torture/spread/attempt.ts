import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { shortestPause } from '../../cli/cluster/watched-hosts.ts';
import { crawlEnd, differenceOf } from './crawl-end.ts';
import { type FailingObjects, KEYS_OF_OBJECTS } from './failing-objects.ts';
import type { StoreUnderBlows } from './store-under-blows.ts';
import type { WatchedSite } from './watched-site.ts';
import { clockAhead, startWorker, type Worker } from './workers.ts';

/**
 * `kill` and `pause` meet a worker: it dies at once, and another one is started; or it stands still for longer than its
 * lease, and goes on. `store` meets the store.
 */
export type BlowKind = 'kill' | 'pause' | 'store';

export interface Blow {
  readonly kind: BlowKind;
  /** It comes when so many pages have been asked for. */
  readonly at: number;
}

export interface Plan {
  readonly blows: readonly Blow[];
  /** The clock of one worker is ahead, and it is not killed. */
  readonly isAhead: boolean;
  /** Segments lie in an object store that answers 503, or not at all, or loses answers. */
  readonly inObjects: boolean;
  readonly random: () => number;
}

/** What a crawl runs on. */
export interface Ground {
  readonly site: WatchedSite;
  readonly store: StoreUnderBlows;
  readonly objects: FailingObjects | null;
  /** A folder that does not exist yet. */
  readonly folder: string;
  /** `cluster.name`, new. */
  readonly name: string;
  /** What the embedded crawl of the same site ended as. */
  readonly expected: readonly string[];
}

const WORKERS = 3;
const PARTITIONS = 8;
const DELAY_MS = 40;
const LEASE_MS = 2_000;
const AHEAD_MINUTES = 10;
/** A crawl that takes longer has not ended. */
const LATE_MS = 240_000;
/** Pages that the end of a worker, or of its lease, lets be asked for again: what it had under way. */
const AGAIN = 60;

/** Options of every crawl of the site. A host of an interrupted round rests for the longest delay. */
export const CRAWLING: readonly string[] = [
  ...['--allow', '127.0.0.0/8', '--delay', `${DELAY_MS}ms`, '--quiet'],
  ...['-D', 'fetch.maxCrawlDelay=1s'],
];

/** The options that name a spread crawl. */
function spreadAt({ store, objects, folder, name }: Ground, { inObjects }: Plan): readonly string[] {
  const keys = { store: store.url, name, partitions: String(PARTITIONS), lease: `${LEASE_MS}ms` };
  const options = Object.entries(keys).flatMap(([key, value]) => ['-D', `cluster.${key}=${value}`]);
  return ['--dir', join(folder, 'crawl'), ...options, ...(inObjects ? (objects?.options(name) ?? []) : [])];
}

/** Crawls the site by several workers under blows. What was wrong, or nothing. */
export async function spreadUnderBlows(ground: Ground, plan: Plan): Promise<string> {
  const { site, objects, expected } = ground;
  site.forget();
  objects?.failBy(plan.random);
  const where = spreadAt(ground, plan);
  const args = [...where, ...CRAWLING, '--json'];
  const env = plan.inObjects ? KEYS_OF_OBJECTS : {};
  const start = (own: readonly string[], more = {}): Worker => startWorker(own, { ...env, ...more });
  const ahead = plan.isAhead ? start([...site.seeds, ...args], clockAhead(AHEAD_MINUTES)) : null;
  const workers = [ahead ?? start([...site.seeds, ...args])];
  while (workers.length < WORKERS) workers.push(start(args));
  const wrong: string[] = [];
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(), LATE_MS);
  try {
    const late = new Promise<'late'>((resolve) => over.signal.addEventListener('abort', () => resolve('late')));
    const blows = strikeAll(ground, plan, workers, ahead, () => start(args));
    const ended = (async () => {
      await blows;
      // Those that were started in place of others are among them.
      return Promise.all(workers.map(({ ended }) => ended));
    })();
    const ends = await Promise.race([ended, late]);
    if (ends === 'late') return `no end after ${LATE_MS / 1_000} s and ${site.asked.length} requests`;
    for (const { code, signal, stdout, stderr } of ends) {
      if (signal === 'SIGKILL') continue;
      const isDone = code === 0 && stdout.includes('"nothing-due"');
      if (!isDone) wrong.push(`a worker ended with ${code}: ${stderr}${stdout.slice(0, 300)}`);
    }
    if (site.overlaps.length > 0) wrong.push(`asked twice at once: ${site.overlaps.slice(0, 3).join(', ')}`);
    const gap = shortestPause(site.asked);
    // Clocks that count in whole milliseconds may be off by one.
    if (gap < DELAY_MS - 1) wrong.push(`a host was asked again after ${gap.toFixed(1)} ms`);
    const most = site.urls + AGAIN * (1 + plan.blows.length);
    if (site.asked.length > most) wrong.push(`${site.asked.length} requests for ${site.urls} pages`);
    const difference = differenceOf(await crawlEnd(where), expected);
    if (difference !== '') wrong.push(`it came to another end: ${difference}`);
    return wrong.join('\n');
  } finally {
    clearTimeout(timer);
    for (const { child } of workers) child.kill('SIGKILL');
    await Promise.all(workers.map(({ ended }) => ended));
    await rm(ground.folder, { recursive: true, force: true });
  }
}

/** Resolves when the last blow is over; blows for which the crawl was too short are left out. */
async function strikeAll(
  { site, store }: Ground,
  { blows, random }: Plan,
  workers: Worker[],
  ahead: Worker | null,
  another: () => Worker,
): Promise<void> {
  for (const { kind, at } of [...blows].sort((a, b) => a.at - b.at)) {
    await Promise.race([site.seen(at), Promise.all(workers.map(({ ended }) => ended))]);
    const alive = workers.filter((worker) => !worker.isOver && (kind !== 'kill' || worker !== ahead));
    const victim = alive[Math.floor(random() * alive.length)];
    if (victim === undefined) return;
    if (kind === 'store') await store.strike(random);
    if (kind === 'kill') {
      victim.child.kill('SIGKILL');
      workers.push(another());
    }
    if (kind === 'pause') {
      victim.child.kill('SIGSTOP');
      await new Promise((resolve) => setTimeout(resolve, LEASE_MS * (1.2 + random())));
      victim.child.kill('SIGCONT');
    }
  }
}
