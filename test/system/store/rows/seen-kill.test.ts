import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { planGrowingBloom } from '../../../../src/core/domain/url/bloom/bloom-leaf.ts';
import { digestUrls } from '../../../../src/core/domain/url/hash/url-digest.ts';
import { openLevelCrawlDb } from '../../../../src/store/leveldb/open-rows.ts';
import { SILENT, temporaryDir } from '../../../store/leveldb/temporary-db.ts';

const PLAN = planGrowingBloom({ urls: 400, bitsPerLeaf: 8_192, falsePositiveRate: 0.01 });
const built = (file: string): string => new URL(`../../../../dist/src/${file}`, import.meta.url).href;

/** Writes new URLs until it is killed; prints how many are there. */
const WRITER = `
import { openLevelCrawlDb } from ${JSON.stringify(built('store/leveldb/open-rows.js'))};
import { newDatum } from ${JSON.stringify(built('core/domain/crawl/states/datum.js'))};
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const [dir, from] = process.argv.slice(1);
const db = await openLevelCrawlDb({ dir, log: silent, seenFilter: ${JSON.stringify(PLAN)} });
for (let at = Number(from); ; at += 50) {
  await db.write({
    puts: Array.from({ length: 50 }, (_, i) => ({
      datum: newDatum({ url: 'https://a.example/' + (at + i), now: 0, intervalMs: 1000 }),
      previous: null,
    })),
  });
  process.stdout.write(at + 50 + '\\n');
}`;

/** Kills the writer when so many URLs are there; it may be anywhere in its work. */
async function killAt(dir: string, from: number, count: number): Promise<void> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', WRITER, dir, String(from)], {
    cwd: fileURLToPath(new URL('../../../..', import.meta.url)),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise<void>((resolve) => {
    child.stdout.on('data', (chunk) => {
      if (Number(String(chunk).trim().split('\n').at(-1)) >= from + count) child.kill('SIGKILL');
    });
    child.once('close', () => resolve());
  });
}

describe('the filter of a crawl db, killed while it is written', () => {
  it('never denies a URL that is in the crawl db', async () => {
    const dir = await temporaryDir();
    let from = 0;
    let kills = 0;
    for (const count of [300, 1_000, 650, 2_000, 1_400]) {
      await killAt(dir, from, count);
      const messages: string[] = [];
      const db = await openLevelCrawlDb({
        dir,
        seenFilter: PLAN,
        log: { ...SILENT, info: (text) => messages.push(text), warn: (text) => messages.push(text) },
      });
      const { urls } = await db.counters();
      expect(urls).toBeGreaterThanOrEqual(from + count);
      const known: string[] = [];
      for await (const { url } of db.scan()) known.push(url);
      expect(known).toHaveLength(urls);
      expect((await db.seenFilter?.probe(digestUrls(known)))?.every((each) => each === 1)).toBe(true);
      expect(messages).toEqual([]);
      // Digests may be there before their records, when the kill came between a split and the batch that needed it.
      const held = (await db.seenFilter?.stats())?.urls ?? 0;
      kills++;
      expect(held).toBeGreaterThanOrEqual(urls);
      expect(held).toBeLessThanOrEqual(urls + 50 * kills);
      await db.close();
      from = urls;
    }
  });
});
