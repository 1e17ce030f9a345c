/**
 * `npm run bench -- --only neardup [--seed N] [--articles N]`: accuracy of the default signature on labelled
 * pairs of made pages, through the whole pipeline from HTML: the same article with other surroundings, an edit of known
 * size, or another article in the same template.
 */
import { type BlockMemory, learnBlocks } from '../../src/domain/crawl/change/block-memory.ts';
import type { ParseOutcome } from '../../src/domain/crawl/states/outcome.ts';
import { hammingDistance } from '../../src/domain/page/near/hamming.ts';
import { DEFAULT_PLUGIN_LIST } from '../../src/plugin-host/loading/plugin-list.ts';
import { createInlinePageParser } from '../../src/plugin-host/parsing/page-parser.ts';
import { confusionAt, idealDistances, type Judged, rankCorrelation, SAME_BELOW, shareOf } from '../neardup/figures.ts';
import { FRESH_KINDS, OTHER_SAME_TEMPLATE, pagePairs } from '../neardup/pairs.ts';
import { rotatingPages } from '../neardup/rotating.ts';
import { seeded } from '../seeded.ts';
import { benchRestless } from './restless.ts';

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
/** Distance up to which pages count as the same. */
const K = 3;

type Say = (text: string) => void;

export async function benchNeardup(
  say: Say,
  verdict: (isGood: boolean, text: string) => void,
  articles: number,
  seed: number,
): Promise<void> {
  const pairs = pagePairs(articles, seed);
  const parse = await createParse();
  const known = new Map<string, string>();
  const signatureOf = async (html: string): Promise<string> => {
    const signature = known.get(html) ?? (await parse(html)).signature ?? '';
    known.set(html, signature);
    return signature;
  };
  const judged: (Judged & { readonly wordsEdited: number })[] = [];
  for (const { kind, changed, wordsEdited, before, after } of pairs) {
    const distance = hammingDistance(await signatureOf(before), await signatureOf(after));
    judged.push({ kind, changed, wordsEdited, distance });
  }
  const kinds = new Map<string, Judged[]>();
  for (const each of judged) kinds.set(each.kind, [...(kinds.get(each.kind) ?? []), each]);
  say(`${judged.length} pairs of ${articles} pages, seed ${seed}`);
  say('                                  pairs   h = 0   h <= 3   mean h');
  for (const [kind, own] of kinds) {
    const mean = own.reduce((sum, { distance }) => sum + distance, 0) / own.length;
    const within = (k: number): string => `${(100 * shareOf(own, ({ distance }) => distance <= k)).toFixed(1)} %`;
    say(
      `${kind.padEnd(32)} ${String(own.length).padStart(6)}  ${within(0).padStart(7)}  ${within(K).padStart(7)}  ${mean.toFixed(2).padStart(6)}`,
    );
  }
  const percent = (share: number, digits = 2): string => `${(100 * share).toFixed(digits)} %`;
  const { f1, recall, falseShare } = confusionAt(K, judged);
  verdict(f1 >= 0.945, `F1 at k = ${K} ${f1.toFixed(3)} >= 0.945 (found ${percent(recall)} of the same)`);
  verdict(falseShare <= 0.005, `false pairs ${percent(falseShare)} <= 0.5 %`);
  const fellows = kinds.get(OTHER_SAME_TEMPLATE) ?? [];
  const fellowShare = shareOf(fellows, ({ distance }) => distance <= K);
  verdict(fellowShare <= 0.004, `other articles of one template ${percent(fellowShare)} <= 0.4 %`);
  const harsh = confusionAt(K, judged, SAME_BELOW);
  say(`with nothing between same and different, F1 ${harsh.f1.toFixed(3)}, false pairs ${percent(harsh.falseShare)}`);
  const rho = rankCorrelation(judged);
  verdict(rho >= 0.92, `rank correlation of distance with the size of the change ${rho.toFixed(3)} >= 0.92`);
  const versions = judged.filter(({ wordsEdited }) => wordsEdited > 0);
  const ideal = (bits: number): string => rankCorrelation(idealDistances(versions, bits, seeded(seed))).toFixed(3);
  say(
    `among edits of one page alone ${rankCorrelation(versions).toFixed(3)}; an ideal Simhash of 64 bits ${ideal(64)}, of 128 bits ${ideal(128)}`,
  );
  const visits = judged.filter(({ kind, wordsEdited }) => wordsEdited > 0 || FRESH_KINDS.includes(kind));
  say(`among visits to one page, edited or not, ${rankCorrelation(visits).toFixed(3)}`);
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
  await benchRotating(say, parse, Math.ceil(articles / 3), seed);
  await benchRestless(say, parse, Math.ceil(articles / 3), seed);
}

const VISITS = 9;

/** Whether a block that differs at each visit is ignored, and an edit beside it still found. */
async function benchRotating(say: Say, parse: Parse, pages: number, seed: number): Promise<void> {
  let calm = 0;
  let noticed = 0;
  const all = rotatingPages(pages, VISITS, seed);
  for (const versions of all) {
    let memory: BlockMemory | null = null;
    const isQuiet: boolean[] = [];
    let before: string | null = null;
    for (const html of versions) {
      const { signature, blocks = [] } = await parse(html);
      const learnt = learnBlocks(memory, { blocks });
      memory = learnt.memory;
      isQuiet.push(learnt.isOnlyVolatile || signature === before);
      before = signature;
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

type Parse = (html: string) => Promise<Extract<ParseOutcome, { kind: 'parsed' }>>;

/** Whole pages through the shipped plugins. */
async function createParse(): Promise<Parse> {
  const parser = await createInlinePageParser(
    {
      list: DEFAULT_PLUGIN_LIST,
      baseDir: process.cwd(),
      signature: 'simhash',
      limits: { maxTextChars: 100_000, maxOutlinks: 10_000, storeText: false },
      agent: 'incrawl',
      intervals: { intervalMs: 1, minIntervalMs: 1, maxIntervalMs: 1 },
    },
    silent,
  );
  return async (html) => {
    const { record } = await parser.live({
      index: 0,
      url: 'https://a.example/page',
      metadata: {},
      headers: {},
      contentType: 'text/html; charset=utf-8',
      body: new TextEncoder().encode(html),
    });
    if (record.outcome.kind !== 'parsed' || record.outcome.signature === null)
      throw new Error(`no signature of ${html.slice(0, 200)}`);
    return record.outcome;
  };
}
