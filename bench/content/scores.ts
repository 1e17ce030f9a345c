/** Scores of found texts against reference texts, as usual for main content. */
import { sum } from '../harness/cost.ts';
import type { Bench } from '../harness/measurement.ts';

/** A Chinese or Japanese character is a token; else a run of letters, digits and underscores is. */
const BROAD = '[\\p{sc=Han}\\p{sc=Hira}\\p{sc=Kana}]';
const TOKEN = new RegExp(`${BROAD}|[[\\p{L}\\p{N}_]--${BROAD}]+`, 'gv');
export const tokensOf = (text: string): string[] => text.match(TOKEN) ?? [];

/** Runs of `n` tokens; a shorter text is one run. */
export const gramsOf = (tokens: readonly string[], n: number): string[] =>
  tokens.length === 0
    ? []
    : Array.from({ length: Math.max(1, tokens.length - n + 1) }, (_, i) => tokens.slice(i, i + n).join(' '));

export interface Score {
  readonly precision: number;
  readonly recall: number;
  readonly f1: number;
}

/** Of two multisets; a page without gold asks for nothing. */
export function scoreOf(found: readonly string[], gold: readonly string[]): Score {
  if (gold.length === 0) return found.length === 0 ? scoreFrom(1, 1) : scoreFrom(0, 0);
  const left = new Map<string, number>();
  for (const each of gold) left.set(each, (left.get(each) ?? 0) + 1);
  let shared = 0;
  for (const each of found) {
    const count = left.get(each) ?? 0;
    if (count === 0) continue;
    left.set(each, count - 1);
    shared++;
  }
  return scoreFrom(found.length === 0 ? 0 : shared / found.length, shared / gold.length);
}

const scoreFrom = (precision: number, recall: number): Score => ({
  precision,
  recall,
  f1: precision + recall === 0 ? 0 : (2 * precision * recall) / (precision + recall),
});

/** 0 of none. */
const mean = (values: readonly number[]): number => sum(values) / Math.max(1, values.length);

interface Row {
  readonly bag: Score[];
  readonly precisions: number[];
  readonly recalls: number[];
}

/**
 * A line a group of pages: word-bag F1 (lower case, mean over pages), and word 4-gram F1 (of the mean precision of the
 * pages with a found text and the mean recall of those with a reference text).
 */
export class ScoreTable {
  private readonly rows = new Map<string, Row>();

  /** Adds a page to each of the groups. */
  add(groups: readonly string[], found: string, gold: string): Score {
    const bag = scoreOf(tokensOf(found.toLowerCase()), tokensOf(gold.toLowerCase()));
    const foundGrams = gramsOf(tokensOf(found), 4);
    const goldGrams = gramsOf(tokensOf(gold), 4);
    const { precision, recall } = scoreOf(foundGrams, goldGrams);
    for (const group of groups) {
      const row = this.rows.get(group) ?? { bag: [], precisions: [], recalls: [] };
      row.bag.push(bag);
      if (foundGrams.length > 0) row.precisions.push(precision);
      if (goldGrams.length > 0) row.recalls.push(recall);
      this.rows.set(group, row);
    }
    return bag;
  }

  /** Mean scores of the pages of each group, in the order of their names. */
  groups(): { readonly group: string; readonly pages: number; readonly bag: Score; readonly grams: number }[] {
    return [...this.rows]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([group, { bag, precisions, recalls }]) => {
        const of = (key: keyof Score): number => mean(bag.map((score) => score[key]));
        const own = { precision: of('precision'), recall: of('recall'), f1: of('f1') };
        return { group, pages: bag.length, bag: own, grams: scoreFrom(mean(precisions), mean(recalls)).f1 };
      });
  }

  /** Takes both scores of each group under a question. */
  report({ question }: Bench, title: string): void {
    const note = question(title);
    for (const { group, pages, bag, grams } of this.groups()) {
      note(`F1 of ${group}, word bag, ${pages} pages`, bag.f1);
      note(`F1 of ${group}, 4-gram, ${pages} pages`, grams);
    }
  }
}
