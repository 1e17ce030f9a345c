/**
 * `npm run bench -- --only revisions --labelled FOLDER,.. [--every N] [--seed N] [--against DIST] [--signature JSON]`:
 * how the signature of change follows revisions of real pages: their text edited by a known share, or only what stands
 * around it. `--against` and `--signature` as for `neardup`; both may be given several times.
 */
import { load } from 'cheerio';
import { labelledPages } from '../content/labelled-pages.ts';
import { areaUnderCurve, type Judged, SAME_BELOW, shareOf } from '../neardup/figures.ts';
import { type Revision, revisionsOf } from '../neardup/revisions.ts';
import { seeded } from '../seeded.ts';
import { createSignPage, distanceBetween, nameOf, type Signing, type SignPage } from './page-signatures.ts';

type Followed = Judged & Pick<Revision, 'isNoise'>;

export interface RevisionsOptions {
  /** Folders of labelled pages, and of how many pages one is taken. */
  readonly labelled: readonly string[];
  readonly every: number;
  readonly seed: number;
  readonly signings: readonly Signing[];
}

/** A sentence of another page, by its length in characters. */
const isSentence = (text: string): boolean => text.length > 30 && text.length < 250;

export async function benchRevisions(
  say: (text: string) => void,
  { labelled, every, seed, signings }: RevisionsOptions,
): Promise<void> {
  const random = seeded(seed);
  const signers = await Promise.all(signings.map(createSignPage));
  const found = signings.map((): Followed[] => []);
  for (const folder of labelled) {
    const pages = labelledPages([folder]);
    const foreign = pages.flatMap(({ gold }) => gold.split(/(?<=[.!?。])\s+/)).filter(isSentence);
    for (const [at, { content, gold }] of pages.entries()) {
      if (at % every !== every - 1) continue;
      const revisions = revisionsOf(content, gold, foreign, random);
      const before = load(content).html();
      for (const [which, sign] of signers.entries()) found[which]!.push(...(await followed(sign, before, revisions)));
    }
  }
  for (const [which, rows] of found.entries()) report(say, nameOf(signings[which]!), rows);
}

async function followed(sign: SignPage, before: string, revisions: readonly Revision[]): Promise<Followed[]> {
  if (revisions.length === 0) return [];
  const first = await sign(before);
  const rows: Followed[] = [];
  for (const { kind, after, changed, isNoise } of revisions) {
    rows.push({ kind, changed, isNoise, distance: distanceBetween(first, await sign(after)) });
  }
  return rows;
}

function report(say: (text: string) => void, build: string, rows: readonly Followed[]): void {
  const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
  const isStill = ({ distance }: Followed): boolean => distance === 0;
  say(`${build}: ${rows.length} revisions of real pages`);
  for (const kind of new Set(rows.map((row) => row.kind))) {
    const own = rows.filter((row) => row.kind === kind);
    say(
      `  ${kind.padEnd(20)} ${String(own.length).padStart(6)}  moved ${percent(1 - shareOf(own, isStill)).padStart(7)}`,
    );
  }
  const noise = rows.filter(({ isNoise }) => isNoise);
  say(`  only the surroundings differ: at distance 0 ${percent(shareOf(noise, isStill))}`);
  say(`  area under the curve for ${SAME_BELOW * 100} % and more: ${areaUnderCurve(rows).toFixed(4)}`);
}
