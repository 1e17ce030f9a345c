import { load } from 'cheerio';
import { labelledPages } from '../content/labelled-pages.ts';
import { percent } from '../harness/cost.ts';
import { measurement } from '../harness/measurement.ts';
import { seeded } from '../harness/seeded.ts';
import { areaUnderCurve, type Judged, shareOf } from '../neardup/figures.ts';
import { type Revision, revisionsOf } from '../neardup/revisions.ts';
import { createSignPage, distanceBetween, SIGNING, type SignPage, signingsOf, suffixOf } from './page-signatures.ts';

type Followed = Judged & Pick<Revision, 'isNoise'>;

/** A sentence of another page, by its length in characters. */
const isSentence = (text: string): boolean => text.length > 30 && text.length < 250;
/** Aims by kind of revision. */
const AIMS: Readonly<Record<string, string>> = { '0.5 to 2 %': '>= 90' };

const OPTIONS = { labelled: '', every: 1, seed: 9, ...SIGNING };

/**
 * How the signature of change follows revisions of real pages (`--labelled FOLDER,..`, every N-th): their text edited
 * by a known share, or only what stands around it.
 */
export const revisions = measurement('duplicates', OPTIONS, async ({ question }, { labelled, every, seed, ...by }) => {
  const random = seeded(seed);
  const signings = signingsOf(by);
  const signers = await Promise.all(signings.map(createSignPage));
  const found = signings.map((): Followed[] => []);
  let count = 0;
  for (const folder of labelled.split(',')) {
    const pages = labelledPages(folder === '' ? [] : [folder]);
    const foreign = pages.flatMap(({ gold }) => gold.split(/(?<=[.!?。])\s+/)).filter(isSentence);
    for (const [at, { content, gold }] of pages.entries()) {
      if (at % every !== every - 1) continue;
      const revised = revisionsOf(content, gold, foreign, random);
      if (revised.length > 0) count++;
      const before = load(content).html();
      for (const [which, sign] of signers.entries()) found[which]!.push(...(await followed(sign, before, revised)));
    }
  }
  const isStill = ({ distance }: Followed): boolean => distance === 0;
  const note = question(`Revisions of ${count} real pages`);
  for (const [which, rows] of found.entries()) {
    const suffix = suffixOf(signings[which]!);
    for (const kind of new Set(rows.filter(({ isNoise }) => !isNoise).map((row) => row.kind))) {
      const own = rows.filter((row) => row.kind === kind);
      note(`${kind} that moves it${suffix}`, percent(1 - shareOf(own, isStill)), '%', AIMS[kind]);
    }
    const noise = rows.filter(({ isNoise }) => isNoise);
    note(`surroundings that leave it${suffix}`, percent(shareOf(noise, isStill)), '%', '>= 93');
    note(`area under the curve${suffix}`, areaUnderCurve(rows), '', '>= 0.955');
  }
});

async function followed(sign: SignPage, before: string, revisions: readonly Revision[]): Promise<Followed[]> {
  if (revisions.length === 0) return [];
  const first = await sign(before);
  const rows: Followed[] = [];
  for (const { kind, after, changed, isNoise } of revisions) {
    rows.push({ kind, changed, isNoise, distance: distanceBetween(first, await sign(after)) });
  }
  return rows;
}
