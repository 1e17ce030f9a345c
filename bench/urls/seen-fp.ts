/** Ten million URLs in the seen filter: false-positive rate while it grows, bits a URL, speed, time to open. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Level } from 'level';
import { RowsSeenFilter } from '../../src/adapters/rows/seen/seen-filter.ts';
import { planGrowingBloom } from '../../src/domain/url/bloom/bloom-leaf.ts';
import { digestUrls } from '../../src/domain/url/hash/url-digest.ts';

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const RATE = 0.001;
const STEP = 50_000;
const ABSENT = 200_000;

const urls = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, i) => `https://www.site${(from + i) % 997}.example/article-${from + i}.html`);

export async function benchSeenFp(
  say: (text: string) => void,
  verdict: (isGood: boolean, text: string) => void,
  many: number,
): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'incrawl-bench-seen-'));
  const plan = planGrowingBloom({ urls: 100_000, bitsPerLeaf: 2 ** 20, falsePositiveRate: RATE });
  const rows = new Level<string, Buffer>(join(dir, 'db'), { valueEncoding: 'buffer' });
  const opened = (urls: number): RowsSeenFilter =>
    new RowsSeenFilter({ rows, log: silent, plan, exclusive: (task) => task(), urls: () => urls });
  try {
    let filter = opened(0);
    const absent = digestUrls(urls(2e9, 2e9 + ABSENT));
    let worst = 0;
    let worstBits = 0;
    let addMs = 0;
    let lost = 0;
    for (let at = 0; at < many; at += STEP) {
      const digests = digestUrls(urls(at, at + STEP));
      const startedAt = process.cpuUsage();
      await filter.add(digests);
      const { user, system } = process.cpuUsage(startedAt);
      addMs += (user + system) / 1_000;
      lost += (await filter.probe(digests)).filter((each) => each === 0).length;
      const taken = (await filter.probe(absent)).reduce((sum, each) => sum + each, 0) / ABSENT;
      worst = Math.max(worst, taken);
      const stats = await filter.stats();
      // Before, the leaves laid out at the start are not in use yet.
      if (at >= 100_000) worstBits = Math.max(worstBits, stats.bits / stats.urls);
      if (((at + STEP) / STEP) % 40 === 0) {
        say(
          `seen-fp         ${at + STEP} URLs: ${(100 * taken).toFixed(4)} % taken for seen, ${(100 * stats.estimatedFalsePositiveRate).toFixed(4)} % by the bits, ${stats.leaves.length} leaves, ${stats.splits} splits, ${(stats.bits / stats.urls).toFixed(1)} bits a URL`,
        );
      }
    }
    // Four deviations of the measurement.
    const bound = RATE + 4 * Math.sqrt(RATE / ABSENT);
    verdict(
      worst <= bound,
      `highest rate of ${many / STEP} looks ${(100 * worst).toFixed(4)} % <= 0.1 % (${ABSENT} trials each: up to ${(100 * bound).toFixed(4)} % by chance)`,
    );
    verdict(worstBits <= 20, `most bits a URL ${worstBits.toFixed(1)} <= 20`);
    say(`seen-fp         adding, splits and rows included: ${((1_000 * addMs) / many).toFixed(2)} us CPU a URL`);
    await rows.close();
    const restartedAt = performance.now();
    await rows.open();
    filter = opened(many);
    await filter.probe(new Uint32Array(4));
    const restartMs = performance.now() - restartedAt;
    verdict(restartMs <= 5_000, `open and load: ${(restartMs / 1_000).toFixed(2)} s <= 5 s`);
    let queryMs = 0;
    for (let at = 0; at < many; at += 10 * STEP) {
      const digests = digestUrls(urls(at, at + 10 * STEP));
      const startedAt = process.cpuUsage();
      const answers = await filter.probe(digests);
      const { user, system } = process.cpuUsage(startedAt);
      queryMs += (user + system) / 1_000;
      lost += answers.filter((each) => each === 0).length;
    }
    verdict(lost === 0, `false negatives: ${lost}`);
    const rate = many / queryMs / 1_000;
    verdict(rate >= 1, `queries of known URLs: ${rate.toFixed(1)} M/s on one core >= 1 M/s`);
    const texts = urls(0, 500_000);
    const startedAt = process.cpuUsage();
    await filter.probe(digestUrls(texts));
    const { user, system } = process.cpuUsage(startedAt);
    const withDigests = (texts.length * 1_000) / (user + system) / 1_000;
    verdict(withDigests >= 1, `with their digests made: ${withDigests.toFixed(1)} M/s >= 1 M/s`);
    await rows.close();
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
