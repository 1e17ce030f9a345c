/**
 * Labelled pages for main content: a folder with `pages.jsonl.gz` (file, type, contentType, text) and `html/<file>.gz`.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { MarkupScanner } from '../../plugins/parse-html/markup/markup-scanner.ts';
import type { PageNode } from '../../src/domain/page/page-node.ts';
import { Tape } from '../../src/domain/page/tape/tape.ts';
import { decodeBody } from '../../src/plugin-host/parsing/decode.ts';
import { domOfTape } from '../../src/plugin-host/parsing/tape-dom.ts';

export interface LabelledPage {
  readonly file: string;
  readonly type: string;
  readonly content: string;
  /** Reference text of the main content, labelled by a person. */
  readonly gold: string;
}

export function labelledPages(folder: string): LabelledPage[] {
  return gunzipSync(readFileSync(join(folder, 'pages.jsonl.gz')))
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { file: string; type: string; contentType?: string; text?: string })
    .flatMap(({ file, type, contentType, text }) => {
      if (text === undefined) return [];
      const body = gunzipSync(readFileSync(join(folder, 'html', `${file}.gz`)));
      const content = decodeBody(body, { contentType: contentType ?? null, kind: 'html' }).text;
      return [{ file, type, content, gold: text }];
    });
}

export const PAGE_LIMITS = { maxDepth: 512, maxAttributes: 256, maxNodes: 500_000 };
const scanner = new MarkupScanner();
const tape = new Tape();

/** What parse-html reads of a page; valid until the next call. */
export function tapeOf({ content }: Pick<LabelledPage, 'content'>): Tape {
  scanner.scan(Buffer.from(content), tape, PAGE_LIMITS, false);
  return tape;
}

export const domOf = (page: Pick<LabelledPage, 'content'>): PageNode =>
  domOfTape(tapeOf(page)).document as unknown as PageNode;

const TOKEN = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]|[\p{L}\p{N}_]+/gu;
export const tokensOf = (text: string): string[] => text.match(TOKEN) ?? [];

/** Runs of `n` tokens. */
export const gramsOf = (tokens: readonly string[], n: number): string[] =>
  Array.from({ length: Math.max(0, tokens.length - n + 1) }, (_, i) => tokens.slice(i, i + n).join(' '));

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

/** A line a type: pages, word-bag F1 (mean over pages), word 4-gram F1 (of the mean precision and recall). */
export class ScoreTable {
  private readonly rows = new Map<string, { bag: Score[]; grams: Score[] }>();

  add(type: string, found: string, gold: string): Score {
    const bag = scoreOf(tokensOf(found.toLowerCase()), tokensOf(gold.toLowerCase()));
    const grams = scoreOf(gramsOf(tokensOf(found), 4), gramsOf(tokensOf(gold), 4));
    for (const key of [type, 'all']) {
      const row = this.rows.get(key) ?? { bag: [], grams: [] };
      row.bag.push(bag);
      row.grams.push(grams);
      this.rows.set(key, row);
    }
    return bag;
  }

  toString(): string {
    const names = [...this.rows.keys()].sort((a, b) => Number(a === 'all') - Number(b === 'all') || (a < b ? -1 : 1));
    return names
      .map((name) => {
        const { bag = [], grams = [] } = this.rows.get(name) ?? {};
        const of = (scores: readonly Score[], key: keyof Score): number => mean(scores.map((score) => score[key]));
        const four = scoreFrom(of(grams, 'precision'), of(grams, 'recall')).f1;
        return `${name.padEnd(16)} ${String(bag.length).padStart(4)}  bag ${of(bag, 'f1').toFixed(3)} (P ${of(bag, 'precision').toFixed(3)} R ${of(bag, 'recall').toFixed(3)})  4-gram ${four.toFixed(3)}`;
      })
      .join('\n');
  }
}
