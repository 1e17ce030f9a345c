import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { NO_POSTGRES } from '../../cluster/postgres/postgres-server.ts';
import type { Piece } from '../pieces/piece.ts';
import { asked } from '../program.ts';
import { randomOf } from '../random.ts';
import { type Blow, type BlowKind, CRAWLING, type Plan, spreadUnderBlows } from './attempt.ts';
import { crawlEnd } from './crawl-end.ts';
import { type FailingObjects, failingObjects, NO_OBJECTS } from './failing-objects.ts';
import { postgresUnderBlows, type StoreUnderBlows } from './store-under-blows.ts';
import { startWatchedSite, type WatchedSite } from './watched-site.ts';
import { HAS_FAKETIME } from './workers.ts';

/** Why spread crawls cannot be tried here, or null. */
export const NO_SPREAD: string | null = NO_POSTGRES;

export interface SpreadResult {
  readonly crawls: number;
  readonly blows: Readonly<Record<BlowKind | 'ahead' | 'objects', number>>;
  readonly failures: number;
}

/** A site, what its embedded crawl ends as, and the store. */
export interface SpreadBench {
  readonly site: WatchedSite;
  /** One crawl under blows. What was wrong, or nothing. */
  crawl(plan: Plan): Promise<string>;
}

const HOSTS = 16;
const KINDS: readonly BlowKind[] = ['kill', 'store', 'pause'];
const MOST_BLOWS = 3;
/** The series of the ledger: crawls by their seeds. */
const SERIES = 'crawls';

/** Makes a site, its embedded crawl and the store; all of them end with the use. */
export async function withSpread<Result>(
  parent: string,
  use: (bench: SpreadBench) => Promise<Result>,
): Promise<Result> {
  await mkdir(parent, { recursive: true });
  const folder = await mkdtemp(join(parent, 'spread-'));
  const site = await startWatchedSite(HOSTS);
  let store: StoreUnderBlows | null = null;
  let objects: FailingObjects | null = null;
  try {
    const own = ['--dir', join(folder, 'embedded')];
    await asked(['crawl', ...site.seeds, ...own, ...CRAWLING]);
    const expected = await crawlEnd(own);
    store = await postgresUnderBlows();
    objects = NO_OBJECTS === null ? await failingObjects() : null;
    const ground = { site, store, objects, expected };
    let crawls = 0;
    return await use({
      site,
      crawl(plan) {
        const name = `spread-${++crawls}`;
        return spreadUnderBlows({ ...ground, folder: join(folder, name), name }, plan);
      },
    });
  } finally {
    await store?.stop();
    await objects?.stop();
    await site.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Crawls by several workers, each of which seeds choose blows for: workers killed and paused beyond their lease, the
 * store killed, one clock ahead. Each must come to the end of the embedded crawl, politely, with every
 * change once.
 *
 * @param count crawls at most
 */
export async function spread(
  say: (line: string) => void,
  bench: SpreadBench,
  piece: Piece,
  count: number,
): Promise<SpreadResult> {
  const blows = { kill: 0, pause: 0, store: 0, ahead: 0, objects: 0 };
  let failures = 0;
  const first = piece.first(SERIES);
  let seed = first;
  for (; seed < first + count && !piece.isOver(); seed++) {
    const plan = planOf(seed, bench.site.urls);
    const wrong = await bench.crawl(plan);
    // A signal to the terminal has reached the workers, too.
    if (piece.isStopped()) break;
    const own = { kill: 0, pause: 0, store: 0, ahead: plan.isAhead ? 1 : 0, objects: plan.inObjects ? 1 : 0 };
    for (const { kind } of plan.blows) own[kind]++;
    for (const kind of Object.keys(own) as (keyof typeof own)[]) blows[kind] += own[kind];
    const added = { next: { [SERIES]: seed + 1 }, sums: { crawls: 1, ...own } };
    if (wrong === '') {
      piece.add(added);
      continue;
    }
    failures++;
    const what = plan.blows.map(({ kind, at }) => `${kind} at request ${at}`).join(', ');
    const beside = `${plan.isAhead ? ', a clock ahead' : ''}${plan.inObjects ? ', failing objects' : ''}`;
    const failure = {
      replay: `npm run torture -- --spread --count 1 --seed ${seed}`,
      reason: `${what}${beside}: ${wrong}`,
    };
    piece.add({ ...added, failures: [failure] });
    say(`FAILED --seed ${seed} (${what}${beside}): ${wrong}`);
  }
  piece.keep();
  const sums = Object.entries(blows).map(([kind, times]) => `${kind} ${times}`);
  say(`spread          ${seed - first} crawls (${sums.join(', ')}); ${failures} failures`);
  return { crawls: seed - first, blows, failures };
}

/** The blows of a crawl, by its seed alone. */
function planOf(seed: number, urls: number): Plan {
  const random = randomOf(Math.imul(seed, 0x9e37_79b1));
  const number = 1 + Math.floor(random() * MOST_BLOWS);
  const blows: Blow[] = Array.from({ length: number }, () => ({
    kind: KINDS[Math.floor(random() * KINDS.length)] as BlowKind,
    at: 1 + Math.floor(random() * 0.9 * urls),
  }));
  const isAhead = HAS_FAKETIME && random() < 0.25;
  return { blows, isAhead, inObjects: NO_OBJECTS === null && random() < 0.3, random };
}
