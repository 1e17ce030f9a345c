/**
 * `npm run bench -- --only dedup [--fingerprints N]`: batch grouping as `incrawl dedup` does it, a sample of its
 * results checked by comparison with every page.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFileNearGrouping } from '../../src/adapters/files/near-grouping/near-grouping.ts';
import { setBits } from '../../src/domain/page/near/hamming.ts';
import { seeded } from '../seeded.ts';

const NEAR_SHARE = 0.2;
const SAMPLE = 200;
const LIMIT_MS = 60_000;
const LIMIT_MB = 2_048;

type Say = (text: string) => void;
type Verdict = (isGood: boolean, text: string) => void;

/** @param count fingerprints, a fifth of them within three bits of another, all of one scope */
export async function benchDedup(say: Say, verdict: Verdict, count: number): Promise<void> {
  const { high, low } = fingerprints(count);
  const hex = (word: number): string => word.toString(16).padStart(8, '0');
  const dir = mkdtempSync(join(tmpdir(), 'incrawl-bench-'));
  const grouping = await createFileNearGrouping({
    dir,
    distance: 3,
    minOverlap: 0,
    prefer: ['score', 'https', 'shortest', 'oldest'],
    isBatch: false,
  });
  /** Page -> number of the page that it repeats, plus one; 0: none. */
  const reported = new Uint32Array(count);
  try {
    const before = process.cpuUsage();
    const start = performance.now();
    for (let i = 0; i < count; i++) {
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
    const read = performance.now();
    const { groups, repeats } = await grouping.group();
    const grouped = performance.now();
    let repeated = 0;
    for await (const repeat of repeats) {
      repeated++;
      reported[repeat.number] = Number(/page-(\d+)/.exec(repeat.of)?.[1]) + 1;
    }
    const end = performance.now();
    const { user, system } = process.cpuUsage(before);
    const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
    say(
      `${count.toLocaleString('en')} pages: ${repeated.toLocaleString('en')} repeat one of ${groups.toLocaleString('en')}`,
    );
    say(
      `added and sorted ${seconds(read - start)}, grouped ${seconds(grouped - read)}, ` +
        `reported ${seconds(end - grouped)}; ${seconds((user + system) / 1_000)} of CPU`,
    );
    verdict(end - start <= LIMIT_MS, `${seconds(end - start)} by the clock <= ${seconds(LIMIT_MS)}`);
    const memory = Math.round(process.resourceUsage().maxRSS / 1_024);
    verdict(
      memory <= LIMIT_MB,
      `${memory} MB at most (${Math.round((8 * count) / 2 ** 20)} MB of them the fingerprints of the benchmark) <= ${LIMIT_MB} MB`,
    );
  } finally {
    await grouping.close();
    rmSync(dir, { recursive: true, force: true });
  }
  let right = 0;
  for (let i = 0; i < SAMPLE; i++) {
    const page = Math.floor(((i + 0.9) * count) / SAMPLE);
    let [nearest, leader] = [4, -1];
    for (let other = 0; other < page; other++) {
      if (reported[other] !== 0) continue;
      const distance = setBits(high[other]! ^ high[page]!) + setBits(low[other]! ^ low[page]!);
      if (distance < nearest) [nearest, leader] = [distance, other];
    }
    if (reported[page] === leader + 1) right++;
  }
  verdict(
    right === SAMPLE,
    `${right} of ${SAMPLE} sampled pages repeat what comparing with every representative before them says`,
  );
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
