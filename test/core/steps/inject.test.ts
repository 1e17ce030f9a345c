import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import {
  type InjectMode,
  parseSeedLine,
  reinject,
  type Seed,
  seedMetadata,
} from '../../../src/core/domain/crawl/discovery/seed.ts';
import { type CrawlDatum, newDatum } from '../../../src/core/domain/crawl/states/datum.ts';
import { hostOf } from '../../../src/core/domain/url/canonical/url-key.ts';
import type { CrawlDb } from '../../../src/core/ports/crawl-db.ts';
import { inject, SEED_HOSTS_KEY } from '../../../src/core/steps/inject.ts';
import { createSeenUrls } from '../../../src/store/rows/seen/seen-urls.ts';
import { createMemoryCrawlDb } from '../../memory/crawl-db.ts';
import { openAt, temporaryDir } from '../../store/leveldb/temporary-db.ts';

const NOW = 1_700_000_000_000;
const DAY = 86_400_000;

async function injectInto(db: CrawlDb, lines: readonly string[], mode: InjectMode): Promise<number[]> {
  const stored = JSON.parse((await db.meta(SEED_HOSTS_KEY)) ?? '[]') as string[];
  const deps = {
    db,
    seen: createSeenUrls({ hasMany: (urls) => db.hasMany(urls) }),
    clock: { now: () => NOW, sleep: async () => {} },
    urls: { apply: (url: string) => ({ url, reason: null }) },
    seedScore: () => 1,
    seedHosts: new Set(stored),
  };
  const { injected, updated, overwritten, kept } = await inject(deps, [{ name: 'test', lines }], {
    mode,
    initialIntervalMs: DAY,
  });
  return [injected, updated, overwritten, kept];
}

/** What a run means: the last line of each URL, against the record as it was. */
function meant(known: ReadonlyMap<string, CrawlDatum>, lines: readonly string[], mode: InjectMode) {
  const after = new Map(known);
  const seeds = new Map(lines.map((line) => parseSeedLine(line) as Seed).map((seed) => [seed.url, seed]));
  for (const [url, seed] of seeds) {
    const { score, intervalMs, fixedIntervalMs } = seed;
    const fresh = newDatum({
      ...{ url, now: NOW, intervalMs: intervalMs ?? DAY, seed: true, score: score ?? 1 },
      ...{ fixedIntervalMs, metadata: seedMetadata(seed) },
    });
    const before = known.get(url);
    after.set(url, before === undefined ? fresh : reinject(before, seed, mode, fresh));
  }
  return after;
}

const line = fc
  .tuple(
    fc.constantFrom('b.example', 'a.b.example', 'b.example:8080', 'a.test', '192.0.2.7', '[2001:db8::1]'),
    fc.nat({ max: 12 }),
    fc.constantFrom('', '', '', '\tscore=3', '\tinterval=60', '\tfixedInterval=60\tkind=news'),
  )
  .map(([host, page, settings]) => `http://${host}/${page}${settings}`);
const runs = fc.array(
  fc.record({ lines: fc.array(line), mode: fc.constantFrom<InjectMode>('keep', 'update', 'overwrite', 'retry') }),
  { maxLength: 3 },
);

it('leaves what its lines mean, in whatever order and with whatever settings, on LevelDB as in memory', async () => {
  await fc.assert(
    fc.asyncProperty(runs, async (all) => {
      const dbs = [createMemoryCrawlDb(), await openAt(await temporaryDir())];
      for (const db of dbs) {
        let expected: ReadonlyMap<string, CrawlDatum> = new Map();
        for (const { lines, mode } of all) {
          const before = expected;
          expected = meant(before, lines, mode);
          const counted = await injectInto(db, lines, mode);
          const again = [...new Set(lines.map((text) => text.split('\t')[0] as string))].filter((u) => before.has(u));
          expect(counted[0]).toBe(expected.size - before.size);
          expect((counted[1] ?? 0) + (counted[2] ?? 0) + (counted[3] ?? 0)).toBe(again.length);
        }
        const found = new Map<string, CrawlDatum>();
        for await (const datum of db.scan()) found.set(datum.url, datum);
        expect(found).toEqual(expected);
        const hosts = JSON.parse((await db.meta(SEED_HOSTS_KEY)) ?? '[]') as string[];
        expect(hosts.sort()).toEqual([...new Set([...expected.keys()].map(hostOf))].sort());
        await db.close();
      }
    }),
    { numRuns: 30 },
  );
});

it('writes the hosts of its seeds no later than their records', async () => {
  const db = createMemoryCrawlDb();
  const write = db.write.bind(db);
  const hosts = new Set<string>();
  const cutShort = new Error('killed');
  let writes = 0;
  db.write = async (batch) => {
    if (++writes > 2) throw cutShort;
    for (const host of JSON.parse(batch.meta?.[SEED_HOSTS_KEY] ?? '[]') as string[]) hosts.add(host);
    await write(batch);
  };
  const lines = Array.from({ length: 5_000 }, (_, i) => `http://site${i % 70}.example/${i}`);
  await expect(injectInto(db, lines, 'keep')).rejects.toBe(cutShort);
  let records = 0;
  for await (const { url } of db.scan()) {
    records++;
    expect(hosts).toContain(hostOf(url));
  }
  expect(records).toBe(2_000);
});

it('reads no record of new seeds, whatever the crawl db has, and each of known ones once after the first batch', async () => {
  const db = createMemoryCrawlDb();
  const reads = [vi.spyOn(db, 'getMany'), vi.spyOn(db, 'hasMany')];
  /** @param isKnown what the filter says of all seeds */
  const readsOf = async (host: string, isKnown: 0 | 1): Promise<number> => {
    const filter = { probe: async (digests: Uint32Array) => new Uint8Array(digests.length / 4).fill(isKnown) };
    const deps = {
      ...{ db, seen: createSeenUrls({ hasMany: (urls) => db.hasMany(urls), filter }) },
      clock: { now: () => NOW, sleep: async () => {} },
      urls: { apply: (url: string) => ({ url, reason: null }) },
      ...{ seedScore: () => 1, seedHosts: new Set<string>() },
    };
    const lines = Array.from({ length: 3_000 }, (_, i) => `http://${host}/${i}`);
    for (const spy of reads) spy.mockClear();
    await inject(deps, [{ name: 'test', lines }], { mode: 'keep', initialIntervalMs: DAY });
    const asked = reads.flatMap(({ mock }) => mock.calls.map(([urls]) => urls.length));
    return asked.reduce((total, count) => total + count, 0);
  };
  expect(await readsOf('a.test', 0)).toBe(0);
  expect(await readsOf('b.test', 0)).toBe(0);
  expect(await readsOf('a.test', 1)).toBe(1_000 + 3_000);
});
