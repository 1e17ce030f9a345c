import { join } from 'node:path';
import { Level } from 'level';
import { planGrowingBloom } from '../../src/core/domain/url/bloom/bloom-leaf.ts';
import { digestUrls } from '../../src/core/domain/url/hash/url-digest.ts';
import { RowsSeenFilter } from '../../src/store/rows/seen/seen-filter.ts';
import { cpuUs, percent, sum } from '../harness/cost.ts';
import { measurement } from '../harness/measurement.ts';
import { silent, withFolder } from '../harness/places.ts';

const RATE = 0.001;
const STEP = 50_000;
const ABSENT = 200_000;

const urlsOf = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, i) => `https://www.site${(from + i) % 997}.example/article-${from + i}.html`);

/** URLs in the seen filter: false-positive rate while it grows, bits a URL, speed, time to open. */
export const seenFp = measurement('urls', { urls: 10_000_000 }, ({ question }, { urls }) =>
  withFolder(async (dir) => {
    const plan = planGrowingBloom({ urls: 100_000, bitsPerLeaf: 2 ** 20, falsePositiveRate: RATE });
    const rows = new Level<string, Buffer>(join(dir, 'db'), { valueEncoding: 'buffer' });
    const opened = (count: number): RowsSeenFilter =>
      new RowsSeenFilter({ rows, log: silent, plan, exclusive: (task) => task(), urls: () => count });
    let filter = opened(0);
    const absent = digestUrls(urlsOf(2e9, 2e9 + ABSENT));
    let [worst, worstBits, addUs, queryUs, lost] = [0, 0, 0, 0, 0];
    for (let at = 0; at < urls; at += STEP) {
      const digests = digestUrls(urlsOf(at, at + STEP));
      addUs += await cpuUs(() => filter.add(digests));
      lost += (await filter.probe(digests)).filter((each) => each === 0).length;
      worst = Math.max(worst, sum([...(await filter.probe(absent))]) / ABSENT);
      const stats = await filter.stats();
      // Before, the leaves laid out at the start are not in use yet.
      if (at >= 100_000) worstBits = Math.max(worstBits, stats.bits / stats.urls);
    }
    await rows.close();
    const restartedAt = performance.now();
    await rows.open();
    filter = opened(urls);
    await filter.probe(new Uint32Array(4));
    const restartMs = performance.now() - restartedAt;
    for (let at = 0; at < urls; at += STEP) {
      const digests = digestUrls(urlsOf(at, at + STEP));
      queryUs += await cpuUs(async () => {
        lost += (await filter.probe(digests)).filter((each) => each === 0).length;
      });
    }
    await rows.close();
    const note = question(`The filter of seen URLs, up to ${urls.toLocaleString('en')}`);
    // Four deviations of the measurement.
    const bound = RATE + 4 * Math.sqrt(RATE / ABSENT);
    note('highest false-positive rate', percent(worst), '%', `<= ${percent(bound).toFixed(3)}`);
    note('most bits a URL', worstBits, 'bits', '<= 20');
    note('known URLs taken for new', lost, 'URLs', '= 0');
    note('adding, splits and rows included, CPU a URL', addUs / urls, 'us');
    note('opening', restartMs / 1_000, 's', '<= 5');
    note('queries of known URLs', urls / queryUs, 'M/s', '>= 1');
  }),
);
