/**
 * `npm run bench -- --only near-tables`: fingerprint tables in LevelDB compared with those in memory: look-ups, and
 * updates with each record.
 */
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLevelRows } from '../../src/adapters/leveldb/open-rows.ts';
import { RowsFingerprintTables } from '../../src/adapters/rows/near/fingerprint-tables.ts';
import { type CrawlDatum, newDatum } from '../../src/domain/crawl/states/datum.ts';
import { FingerprintTables, parseFingerprint } from '../../src/domain/page/near/fingerprint-tables.ts';
import { hostOf } from '../../src/domain/url/canonical/url-key.ts';
import { seeded } from '../seeded.ts';

const PAGES = 1_000_000;
const HOSTS = 1_000;
const CHUNK = 500;
const QUERIES = 100_000;
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

type Say = (text: string) => void;

export async function benchNearTables(say: Say, verdict: (isGood: boolean, text: string) => void): Promise<void> {
  for (const scope of ['host', 'all'] as const) await benchScope(scope, say, verdict);
}

async function benchScope(
  scope: 'host' | 'all',
  say: Say,
  verdict: (isGood: boolean, text: string) => void,
): Promise<void> {
  const next = seeded(5);
  const dir = await mkdtemp(join(tmpdir(), 'incrawl-near-'));
  const rows = await openLevelRows({ dir: join(dir, 'db'), log: silent });
  const tables = new RowsFingerprintTables(rows, {
    scope,
    minChars: 200,
    scopeOf: scope === 'host' ? hostOf : () => '',
  });
  const memory = new FingerprintTables();
  const hex = (): string =>
    Math.floor(next() * 2 ** 32)
      .toString(16)
      .padStart(8, '0');
  const signatures = Array.from({ length: PAGES }, () => hex() + hex());
  const pageOf = (i: number): CrawlDatum => ({
    ...newDatum({ url: `https://host${i % HOSTS}.example/articles/${i}.html`, now: 0, intervalMs: 1 }),
    state: 'fetched',
    signature: signatures[i]!,
    signatureName: 'simhash64/bench',
    textChars: 5_000,
  });
  const written = await cpuMs(async () => {
    for (let from = 0; from < PAGES; from += CHUNK) {
      const batch = rows.batch();
      const changes = Array.from({ length: CHUNK }, (_, i) => ({ before: null, after: pageOf(from + i) }));
      await tables.stage(batch, changes);
      await batch.write();
    }
  });
  for (const [i, signature] of signatures.entries()) memory.add(parseFingerprint(signature), i);
  const asked = Array.from({ length: QUERIES }, (_, i) => {
    const page = (i * 37) % PAGES;
    const signature = signatures[page]!;
    // One bit away, so that each finds what it was made of.
    const last = (Number.parseInt(signature.slice(15), 16) ^ (1 << (i % 4))).toString(16);
    return {
      url: `https://host${page % HOSTS}.example/new/${i}`,
      signature: signature.slice(0, 15) + last,
      signatureName: 'simhash64/bench',
      textChars: 5_000,
      distance: 3,
    };
  });
  let found = 0;
  const read = await cpuMs(async () => {
    for (let from = 0; from < QUERIES; from += CHUNK) {
      for (const { pages } of await tables.near(asked.slice(from, from + CHUNK))) found += pages.length;
    }
  });
  let expected = 0;
  const inMemory = await cpuMs(async () => {
    for (const { signature } of asked) expected += memory.near(parseFingerprint(signature), 3).length;
  });
  await rows.close();
  let bytes = 0;
  for (const name of await readdir(join(dir, 'db'))) bytes += (await stat(join(dir, 'db', name))).size;
  await rm(dir, { recursive: true, force: true });
  say(
    `scope ${scope}: ${perPage(written, PAGES)} us a page to keep in step, ${perPage(read, QUERIES)} us a look-up (${(read / inMemory).toFixed(1)} x memory, ${perPage(inMemory, QUERIES)} us), ${Math.round(bytes / PAGES)} bytes a page on disk`,
  );
  verdict(found >= QUERIES, `scope ${scope}: ${found} found for ${QUERIES} questions (${expected} among all hosts)`);
}

const perPage = (ms: number, count: number): string => ((1_000 * ms) / count).toFixed(1);

async function cpuMs(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
