/** Scores of found texts against reference texts, as usual for main content. */

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

export const scoreFrom = (precision: number, recall: number): Score => ({
  precision,
  recall,
  f1: precision + recall === 0 ? 0 : (2 * precision * recall) / (precision + recall),
});

export const mean = (values: readonly number[]): number =>
  values.reduce((sum, each) => sum + each, 0) / Math.max(1, values.length);

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

  toString(): string {
    return [...this.rows]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, { bag, precisions, recalls }]) => {
        const of = (key: keyof Score): string => mean(bag.map((score) => score[key])).toFixed(3);
        const grams = scoreFrom(mean(precisions), mean(recalls)).f1.toFixed(3);
        return `${name.padEnd(28)} ${String(bag.length).padStart(5)}  bag ${of('f1')} (P ${of('precision')} R ${of('recall')})  4-gram ${grams}`;
      })
      .join('\n');
  }
}
