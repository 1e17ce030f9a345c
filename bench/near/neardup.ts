import { mean, percent } from '../harness/cost.ts';
import { type Bench, measurement, type Note } from '../harness/measurement.ts';
import { areaUnderCurve, confusionAt, type Judged, rankCorrelation, shareOf } from './figures.ts';
import {
  bitsBetween,
  createSignPage,
  distanceBetween,
  isCopyOf,
  SIGNING,
  type SignedPage,
  type SignPage,
  signingsOf,
  suffixOf,
} from './page-signatures.ts';
import { FRESH_KINDS, isElsewhere, OTHER_SAME_TEMPLATE, type PagePair, pagePairs, SYNDICATED } from './pairs.ts';
import { restless } from './restless.ts';

/** Distance up to which pages count as the same. */
const K = 3;
/** Farther than any distance. */
const APART = 65;

/** `distance` is that of the signatures for likeness, beyond all bits for pages that are near and no copies. */
type JudgedPair = Judged & Pick<PagePair, 'wordsEdited'> & { readonly change: number; readonly isCopy: boolean };

/**
 * Accuracy of the default signatures on labelled pairs of made pages, through the whole pipeline from HTML: the same
 * article with other surroundings, as another site prints it, an edit of known size, or another article in the same
 * template.
 */
export const neardup = measurement('duplicates', { articles: 300, seed: 9, ...SIGNING }, async (bench, options) => {
  const { articles, seed, signature } = options;
  const pairs = pagePairs(articles, seed);
  const note = bench.question(`Signatures of ${articles} made pages and their versions`);
  for (const signing of signingsOf(signature)) {
    const sign = await createSignPage(signing);
    const own: Note = (metric, value, unit, aim) => note(metric + suffixOf(signing), value, unit, aim);
    const judged = await judgedPairs(pairs, sign);
    sayKinds(bench, judged);
    takeLikeness(own, judged);
    takeChange(own, judged);
    await restless(own, sign, Math.ceil(articles / 3), seed);
  }
});

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

function sayKinds({ table }: Bench, judged: readonly JudgedPair[]): void {
  const rows = [...new Set(judged.map(({ kind }) => kind))].map((kind) => {
    const own = judged.filter((pair) => pair.kind === kind);
    const share = (is: (pair: JudgedPair) => boolean): string => `${percent(shareOf(own, is)).toFixed(1)} %`;
    const meanOf = (of: (pair: JudgedPair) => number): string => mean(own.map(of)).toFixed(2);
    return [
      ...[kind, String(own.length), share(({ isCopy }) => isCopy), meanOf(({ distance }) => distance)],
      ...[share(({ change }) => change === 0), meanOf(({ change }) => change)],
    ];
  });
  table(['kind', 'pairs', 'copies', 'mean likeness', 'change 0', 'mean change'], rows);
}

function takeLikeness(note: Note, all: readonly JudgedPair[]): void {
  const judged = all.filter(({ kind }) => kind !== SYNDICATED);
  const { f1, recall, falseShare } = confusionAt(K, judged);
  const isNear = ({ distance }: Judged): boolean => distance <= K;
  const nearOf = (name: string): number =>
    percent(
      shareOf(
        all.filter(({ kind }) => kind === name),
        isNear,
      ),
    );
  note('F1 at three bits', f1, '', '>= 0.96');
  note('found of the same', percent(recall), '%');
  note('different pages called the same', percent(falseShare), '%', '<= 0.5');
  note('other articles of one template called the same', nearOf(OTHER_SAME_TEMPLATE), '%', '<= 0.4');
  note('syndicated copies found', nearOf(SYNDICATED), '%', '>= 60');
}

function takeChange(note: Note, all: readonly JudgedPair[]): void {
  const judged = all.filter(({ kind }) => kind !== SYNDICATED).map((pair) => ({ ...pair, distance: pair.change }));
  const versions = judged.filter(({ wordsEdited }) => wordsEdited > 0);
  const visits = judged.filter(({ kind, wordsEdited }) => wordsEdited > 0 || FRESH_KINDS.includes(kind));
  const moved = (pairs: readonly JudgedPair[]): number => percent(shareOf(pairs, ({ distance }) => distance > 0));
  const large = versions.filter(({ wordsEdited }) => wordsEdited >= 0.02);
  const fresh = judged.filter(({ kind }) => FRESH_KINDS.includes(kind));
  note('rank correlation of distance with the size of the change', rankCorrelation(judged), '', '>= 0.92');
  note('area under the curve for changes of 2 % and more', areaUnderCurve(visits), '', '>= 0.955');
  note('edits of 2 % of the words or more that move the signature of change', moved(large), '%', '>= 98');
  note('one word that moves the signature of change', moved(versions.filter(({ kind }) => kind === 'one word')), '%');
  note('adverts, dates, counters, navigation that leave it', 100 - moved(fresh), '%', '>= 95');
}
