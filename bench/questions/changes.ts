import { join } from 'node:path';
import { type PageChange, pageChange } from '../../src/core/domain/crawl/change/page-change.ts';
import { newDatum } from '../../src/core/domain/crawl/states/datum.ts';
import { DAY_MS, HOUR_MS } from '../../src/core/domain/time.ts';
import type { CrawlDbPut } from '../../src/core/ports/crawl-db.ts';
import { noted } from '../../src/core/steps/facts/change-feed.ts';
import { openLevelCrawlDb } from '../../src/store/leveldb/open-rows.ts';
import { cpuUs, inTurn } from '../harness/cost.ts';
import { type Bench, measurement } from '../harness/measurement.ts';
import { silent, withFolder } from '../harness/places.ts';
import { AIM, ask, startOfNode, stateFolder, urlOf } from './questions.ts';

const ENTRIES = 1_000_000;
const FRESH = 20_000;
const WRITTEN = 100_000;
/** As updatedb writes them. */
const CHUNK = 500;

function changeOf(n: number, at: number): PageChange {
  const facts = { state: 'fetched', status: 200, target: null, title: `Page ${n} of a site with a title` } as const;
  return { kind: 'modified', url: urlOf(n), at, distance: n % 40, ...facts };
}

/** CPU of writing a visit, with or without its change, us. */
const writingUs = (isReported: boolean): Promise<number> =>
  withFolder(async (dir) => {
    const now = Date.now();
    const db = await openLevelCrawlDb({ dir: join(dir, 'db'), log: silent });
    let spent = 0;
    for (let start = 0; start < WRITTEN; start += CHUNK) {
      const puts = Array.from({ length: CHUNK }, (_, i): CrawlDbPut => {
        const fresh = newDatum({ url: urlOf(start + i), now, intervalMs: DAY_MS });
        const facts = { lastFetchAt: now, digest: '0'.repeat(32), title: `Page ${i}` };
        return { datum: { ...fresh, ...facts, state: 'fetched' }, previous: null };
      });
      spent += await cpuUs(() => {
        const changes = isReported
          ? puts.flatMap(({ datum }) => pageChange({ ...datum, digest: null, state: 'unfetched' }, datum, now) ?? [])
          : [];
        return db.write({ puts, ...noted(changes, now) });
      });
    }
    await db.close();
    return spent / WRITTEN;
  });

/** A feed of a million entries, of which twenty thousand are fresh, beside a million records. */
async function preparedFeed(bench: Bench): Promise<string> {
  const dir = await stateFolder(bench);
  const db = await openLevelCrawlDb({ dir: join(dir, 'db'), log: silent });
  const now = Date.now();
  const add = async (count: number, notedAt: number): Promise<void> => {
    for (let start = 0; start < count; start += CHUNK) {
      const changes = Array.from({ length: CHUNK }, (_, i) => changeOf(start + i, notedAt));
      await db.write({ feed: { add: { notedAt, changes } } });
    }
  };
  if ((await db.feedEnds()).last < ENTRIES - FRESH) await add(ENTRIES - FRESH, now - 3 * DAY_MS);
  let fresh = 0;
  for await (const _ of db.changes({ notedFrom: now - DAY_MS })) fresh++;
  if (fresh < FRESH) await add(FRESH - fresh, now - HOUR_MS);
  await db.close();
  return dir;
}

/** Cost of writing the change feed, and of the commands that read it. */
export const changes = measurement('crawldb', {}, async (bench) => {
  const note = bench.question('Changes');
  const costs = await inTurn([false, true], 2, writingUs);
  note('a record written', Math.min(...(costs.get(false) ?? [])), 'us');
  note('a change written with its record', Math.min(...(costs.get(true) ?? [])), 'us');
  const dir = await preparedFeed(bench);
  const node = await startOfNode();
  for (const [what, args] of [
    ['the newest 50 changes', []],
    ['what changed since yesterday, the first 100', ['--since', 'yesterday', '--limit', '100']],
  ] as const) {
    const { cpuMs } = await ask('changes', ...args, '--dir', dir);
    note(what, cpuMs - node, 'ms', AIM);
  }
  const all = await ask('changes', '--since', 'yesterday', '--format', 'jsonl', '--dir', dir);
  const lines = all.stdout.trimEnd().split('\n').length;
  note(
    `a line of all ${lines.toLocaleString('en')} since yesterday, beyond 150 ms`,
    (1_000 * (all.cpuMs - node - 150)) / lines,
    'us',
    '<= 10',
  );
});
