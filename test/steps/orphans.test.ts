import { describe, expect, it } from 'vitest';
import { createMemoryCrawlDb } from '../../src/adapters/memory/crawl-db.ts';
import { createMemoryFingerprintTables } from '../../src/adapters/memory/fingerprint-tables.ts';
import type { SettlePolicy } from '../../src/domain/crawl/states/settle.ts';
import { hostOf } from '../../src/domain/url/canonical/url-key.ts';
import type { SeenUrls } from '../../src/ports/seen-urls.ts';
import { sweepOrphans } from '../../src/steps/update/orphans.ts';
import { A, HOST_PLAN, signed } from '../contracts/fingerprint-tables.contract.ts';

const HOME = 'https://a.org/';
const FIRST = 'https://a.org/first';
const REPEAT = 'https://a.org/repeat';
const OTHER = '027ae506f43db69d';

/** A home page, and a page that repeats another, to which nothing links yet. */
async function swept() {
  const db = createMemoryCrawlDb();
  const tables = createMemoryFingerprintTables({ db, ...HOST_PLAN });
  const repeat = signed(REPEAT, A, { seed: false, state: 'duplicate', target: FIRST });
  const puts = [signed(HOME, OTHER, { seed: true }), signed(FIRST, A, { seed: true }), repeat];
  await db.write({ puts: puts.map((datum) => ({ datum, previous: null })) });
  // "orphaned" and "linked" ask the policy nothing.
  const seen = { remove: () => {} } as unknown as SeenUrls;
  const deps = { db, seen, policy: {} as SettlePolicy };
  const options = { mode: 'mark', repeats: { distance: 3 }, now: 50 } as const;
  const sweep = async (links: readonly string[], near: Parameters<typeof sweepOrphans>[0]['near']) => {
    await db.write({ links: [{ url: HOME, targets: links }] });
    return sweepOrphans({ ...deps, near }, options);
  };
  const reported = async () => {
    const kinds: string[] = [];
    for await (const { kind, url } of db.changes({})) kinds.push(`${kind} ${url}`);
    return kinds;
  };
  return { db, tables: { tables, scopeOf: hostOf }, sweep, reported };
}

describe('the sweep for orphans', () => {
  it('a revived orphan that still repeats its page is a duplicate again, and no change', async () => {
    const { db, tables, sweep, reported } = await swept();
    expect(await sweep([], tables)).toEqual({ orphaned: 1, revived: 0, purged: 0 });
    expect(await db.get(REPEAT)).toMatchObject({ state: 'orphan', nextFetchAt: null });
    expect(await sweep([REPEAT], tables)).toEqual({ orphaned: 0, revived: 1, purged: 0 });
    expect(await db.get(REPEAT)).toMatchObject({ state: 'duplicate', target: FIRST, nextFetchAt: 50 });
    expect(await reported()).toEqual([]);
  });

  it('a revived orphan that repeats no page any more is a change', async () => {
    const { db, sweep, reported } = await swept();
    await sweep([], null);
    await sweep([REPEAT], null);
    expect(await db.get(REPEAT)).toMatchObject({ state: 'fetched', target: null, nextFetchAt: 50 });
    expect(await reported()).toEqual([`back ${REPEAT}`]);
  });
});
