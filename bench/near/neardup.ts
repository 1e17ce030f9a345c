/**
 * `npm run bench -- --only neardup [--seed N] [--articles N] [--against DIST,..] [--signature JSON]..`: accuracy of the
 * default signatures on labelled pairs of made pages, through the whole pipeline from HTML: the same article with other
 * surroundings, as another site prints it, an edit of known size, or another article in the same template. `--against`
 * measures other builds on the same pairs, `--signature` other options of `signature-simhash`.
 */
import { type BlockMemory, learnBlocks } from '../../src/domain/crawl/change/block-memory.ts';
import {
  areaUnderCurve,
  confusionAt,
  idealDistances,
  type Judged,
  rankCorrelation,
  SAME_BELOW,
  shareOf,
} from '../neardup/figures.ts';
import {
  FRESH_KINDS,
  isElsewhere,
  OTHER_SAME_TEMPLATE,
  type PagePair,
  pagePairs,
  SYNDICATED,
} from '../neardup/pairs.ts';
import { rotatingPages } from '../neardup/rotating.ts';
import { seeded } from '../seeded.ts';
import {
  bitsBetween,
  createSignPage,
  distanceBetween,
  isCopyOf,
  nameOf,
  type SignedPage,
  type Signing,
  type SignPage,
} from './page-signatures.ts';
import { benchRestless } from './restless.ts';

/** Distance up to which pages count as the same. */
const K = 3;

type Say = (text: string) => void;
type Verdict = (isGood: boolean, text: string) => void;
/** `distance` is that of the signatures for likeness, beyond all bits for pages that are near and no copies. */
type JudgedPair = Judged & Pick<PagePair, 'wordsEdited'> & { readonly change: number; readonly isCopy: boolean };

export async function benchNeardup(
  say: Say,
  verdict: Verdict,
  articles: number,
  seed: number,
  signings: readonly Signing[],
): Promise<void> {
  const pairs = pagePairs(articles, seed);
  for (const signing of signings) {
    say(`${nameOf(signing)}: ${pairs.length} pairs of ${articles} pages, seed ${seed}`);
    const sign = await createSignPage(signing);
    const judged = await judgedPairs(pairs, sign);
    sayKinds(say, judged);
    reportLikeness(say, verdict, judged);
    reportChange(say, verdict, judged, seed);
    await benchRotating(say, sign, Math.ceil(articles / 3), seed);
    await benchRestless(say, sign, Math.ceil(articles / 3), seed);
  }
}

async function judgedPairs(pairs: readonly PagePair[], sign: SignPage): Promise<JudgedPair[]> {
  const known = new Map<string, SignedPage>();
  const signed = async (html: string): Promise<SignedPage> => {
    const page = known.get(html) ?? (await sign(html));
    known.set(html, page);
    return page;
  };
  const judged: JudgedPair[] = [];
  for (const { kind, changed, wordsEdited, before, after } of pairs) {
    const [a, b] = [await signed(before), await signed(after)];
    const bits = bitsBetween(a.likeness, b.likeness);
    const isCopy = bits <= K && isCopyOf(a, b, !isElsewhere(kind));
    const distance = bits <= K && !isCopy ? APART : bits;
    judged.push({ kind, changed, wordsEdited, distance, change: distanceBetween(a, b), isCopy });
  }
  return judged;
}

/** Farther than any distance. */
const APART = 65;

const percent = (share: number, digits = 2): string => `${(100 * share).toFixed(digits)} %`;

function sayKinds(say: Say, judged: readonly JudgedPair[]): void {
  say('                                          likeness                change');
  say('                                  pairs   copies   mean h          h = 0   mean h');
  for (const kind of new Set(judged.map((pair) => pair.kind))) {
    const own = judged.filter((pair) => pair.kind === kind);
    const mean = (of: (pair: JudgedPair) => number): string =>
      (own.reduce((sum, pair) => sum + of(pair), 0) / own.length).toFixed(2).padStart(6);
    const within = percent(
      shareOf(own, ({ isCopy }) => isCopy),
      1,
    );
    const still = percent(
      shareOf(own, ({ change }) => change === 0),
      1,
    );
    say(
      `${kind.padEnd(32)} ${String(own.length).padStart(6)}  ${within.padStart(7)}  ${mean(({ distance }) => distance)}        ${still.padStart(7)}  ${mean(({ change }) => change)}`,
    );
  }
}

function reportLikeness(say: Say, verdict: Verdict, all: readonly JudgedPair[]): void {
  const judged = all.filter(({ kind }) => kind !== SYNDICATED);
  const { f1, recall, falseShare } = confusionAt(K, judged);
  verdict(f1 >= 0.96, `F1 at k = ${K} ${f1.toFixed(3)} >= 0.96 (found ${percent(recall)} of the same)`);
  verdict(falseShare <= 0.005, `false pairs ${percent(falseShare)} <= 0.5 %`);
  const isNear = ({ distance }: Judged): boolean => distance <= K;
  const of = (name: string): JudgedPair[] => all.filter(({ kind }) => kind === name);
  const fellowShare = shareOf(of(OTHER_SAME_TEMPLATE), isNear);
  verdict(fellowShare <= 0.004, `other articles of one template ${percent(fellowShare)} <= 0.4 %`);
  const copies = shareOf(of(SYNDICATED), isNear);
  verdict(copies >= 0.6, `syndicated copies found ${percent(copies, 1)} >= 60 %`);
  const harsh = confusionAt(K, judged, SAME_BELOW);
  say(`with nothing between same and different, F1 ${harsh.f1.toFixed(3)}, false pairs ${percent(harsh.falseShare)}`);
}

function reportChange(say: Say, verdict: Verdict, all: readonly JudgedPair[], seed: number): void {
  const judged = all.filter(({ kind }) => kind !== SYNDICATED).map((pair) => ({ ...pair, distance: pair.change }));
  const rho = rankCorrelation(judged);
  verdict(rho >= 0.92, `rank correlation of distance with the size of the change ${rho.toFixed(3)} >= 0.92`);
  const versions = judged.filter(({ wordsEdited }) => wordsEdited > 0);
  const ideal = (bits: number): string => rankCorrelation(idealDistances(versions, bits, seeded(seed))).toFixed(3);
  say(
    `among edits of one page alone ${rankCorrelation(versions).toFixed(3)}; an ideal Simhash of 64 bits ${ideal(64)}, of 128 bits ${ideal(128)}`,
  );
  const visits = judged.filter(({ kind, wordsEdited }) => wordsEdited > 0 || FRESH_KINDS.includes(kind));
  say(`among visits to one page, edited or not, ${rankCorrelation(visits).toFixed(3)}`);
  const area = areaUnderCurve(visits);
  verdict(area >= 0.955, `changes of 2 % and more stand out: area under the curve ${area.toFixed(3)} >= 0.955`);
  const moved = shareOf(
    versions.filter(({ wordsEdited }) => wordsEdited >= 0.02),
    ({ distance }) => distance > 0,
  );
  verdict(moved >= 0.98, `edits of 2 % of the words or more move the signature: ${percent(moved, 1)} >= 98 %`);
  const left = shareOf(
    judged.filter(({ kind }) => FRESH_KINDS.includes(kind)),
    ({ distance }) => distance === 0,
  );
  verdict(left >= 0.95, `adverts, dates, counters, navigation leave it: ${percent(left, 1)} >= 95 %`);
}

const VISITS = 9;

/** Whether a block that differs at each visit is ignored, and an edit beside it still found. */
async function benchRotating(say: Say, sign: SignPage, pages: number, seed: number): Promise<void> {
  let calm = 0;
  let noticed = 0;
  const all = rotatingPages(pages, VISITS, seed);
  for (const versions of all) {
    let memory: BlockMemory | null = null;
    const isQuiet: boolean[] = [];
    let before: SignedPage | null = null;
    for (const html of versions) {
      const page = await sign(html);
      const learnt = learnBlocks(memory, { blocks: page.outcome.blocks ?? [] });
      memory = learnt.memory;
      isQuiet.push(learnt.isOnlyVolatile || (before !== null && distanceBetween(before, page) === 0));
      before = page;
    }
    if (isQuiet.slice(4, -1).every(Boolean)) calm++;
    if (isQuiet.at(-1) === false) noticed++;
  }
  const of = (count: number): string => `${((100 * count) / all.length).toFixed(1)} %`;
  say(
    `a part that is another one at each visit counts for nothing from the fifth visit on: ${of(calm)} of ${all.length} pages`,
  );
  say(`an edit of 5 % beside it is noticed all the same: ${of(noticed)}`);
}
