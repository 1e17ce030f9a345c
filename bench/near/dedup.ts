import { setBits } from '../../src/page/near/fingerprint-tables.ts';
import { createFileNearGrouping } from '../../src/published/near-grouping/near-grouping.ts';
import { cpuUs } from '../harness/cost.ts';
import { measurement } from '../harness/measurement.ts';
import { withFolder } from '../harness/places.ts';
import { seeded } from '../harness/seeded.ts';

const NEAR_SHARE = 0.2;
const SAMPLE = 200;

/**
 * Batch grouping as `incrawl dedup` does it, a fifth of the fingerprints within three bits of another, all of one
 * scope; a sample of its results is checked by comparison with every page.
 */
export const dedup = measurement(
  'duplicates',
  { fingerprints: 10_000_000 },
  async ({ question }, { fingerprints: count }) => {
    const made = fingerprints(count);
    /** Page -> number of the page that it repeats, plus one; 0: none. */
    const reported = new Uint32Array(count);
    const startedAt = performance.now();
    const us = await cpuUs(() => grouped(made, reported));
    const ms = performance.now() - startedAt;
    const note = question(`dedup of ${count.toLocaleString('en')} pages`);
    note('time', ms / 1_000, 's', '<= 60');
    note('CPU', us / 1e6, 's');
    // The fingerprints of the benchmark, 8 bytes each, are among it.
    note('peak memory', process.resourceUsage().maxRSS / 1_024, 'MB', '<= 2048');
    note(
      `sampled pages that repeat what comparing with every one says, of ${SAMPLE}`,
      right(made, reported),
      '',
      `>= ${SAMPLE}`,
    );
  },
);

type Fingerprints = ReturnType<typeof fingerprints>;

const grouped = ({ high, low }: Fingerprints, reported: Uint32Array): Promise<void> =>
  withFolder(async (dir) => {
    const hex = (word: number): string => word.toString(16).padStart(8, '0');
    const grouping = await createFileNearGrouping({
      dir,
      distance: 3,
      minOverlap: 0,
      prefer: ['score', 'https', 'shortest', 'oldest'],
      isBatch: false,
    });
    for (let i = 0; i < high.length; i++) {
      const added = grouping.add({
        url: `https://host${100 + (i % 900)}.example/section/page-${String(i).padStart(8, '0')}.html`,
        signature: hex(high[i]!) + hex(low[i]!),
        scope: '',
        textChars: 1_000,
        sketch: null,
        isHub: false,
        score: 1,
        discoveredAt: i,
        isIncoming: true,
      });
      if (added !== undefined) await added;
    }
    const { repeats } = await grouping.group();
    for await (const repeat of repeats) reported[repeat.number] = Number(/page-(\d+)/.exec(repeat.of)?.[1]) + 1;
    await grouping.close();
  });

/** How many sampled pages repeat the nearest representative before them. */
function right({ high, low }: Fingerprints, reported: Uint32Array): number {
  let count = 0;
  for (let i = 0; i < SAMPLE; i++) {
    const page = Math.floor(((i + 0.9) * high.length) / SAMPLE);
    let [nearest, leader] = [4, -1];
    for (let other = 0; other < page; other++) {
      if (reported[other] !== 0) continue;
      const distance = setBits(high[other]! ^ high[page]!) + setBits(low[other]! ^ low[page]!);
      if (distance < nearest) [nearest, leader] = [distance, other];
    }
    if (reported[page] === leader + 1) count++;
  }
  return count;
}

function fingerprints(count: number): { readonly high: Uint32Array; readonly low: Uint32Array } {
  const next = seeded(11);
  const any = (): number => Math.floor(next() * 2 ** 32);
  const high = new Uint32Array(count);
  const low = new Uint32Array(count);
  for (let i = 0; i < count; i++) {
    const isNear = i > 1_000 && next() < NEAR_SHARE;
    const of = Math.floor(next() * i);
    high[i] = isNear ? high[of]! : any();
    low[i] = isNear ? low[of]! : any();
    for (let flips = isNear ? Math.floor(next() * 4) : 0; flips > 0; flips--) {
      const bit = Math.floor(next() * 64);
      if (bit < 32) low[i]! ^= 1 << bit;
      else high[i]! ^= 1 << (bit - 32);
    }
  }
  return { high, low };
}
