/**
 * `node dist/bench/main-content.js --pages FOLDER [--half tune|held]`: word-bag F1 of the main content on labelled pages, by type. The folder has
 * `pages.jsonl.gz` (file, type, text) and `html/<file>.gz`.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { parseDocument } from 'htmlparser2';
import { mainContent } from '../src/domain/page/main-content.ts';
import type { PageNode } from '../src/domain/page/page-node.ts';

const { values } = parseArgs({
  options: { pages: { type: 'string', default: '' }, half: { type: 'string' }, worst: { type: 'string' } },
});
const rows = gunzipSync(readFileSync(join(values.pages, 'pages.jsonl.gz')))
  .toString()
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as { file: string; type: string; text?: string });
const TOKEN = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]|[\p{L}\p{N}_]+/gu;
const bag = (text: string): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const token of text.toLowerCase().match(TOKEN) ?? []) counts.set(token, (counts.get(token) ?? 0) + 1);
  return counts;
};
const size = (counts: ReadonlyMap<string, number>): number => [...counts.values()].reduce((sum, each) => sum + each, 0);

const scores = new Map<string, number[]>();
const all: { file: string; type: string; precision: number; recall: number; f1: number }[] = [];
let cpuUs = 0;
for (const [i, row] of rows.entries()) {
  if (row.text === undefined) continue;
  if (values.half !== undefined && (i % 2 === 0) !== (values.half === 'tune')) continue;
  const html = gunzipSync(readFileSync(join(values.pages, 'html', `${row.file}.gz`))).toString();
  const dom = parseDocument(html) as unknown as PageNode;
  const before = process.cpuUsage();
  const { text } = mainContent(dom);
  const used = process.cpuUsage(before);
  cpuUs += used.user + used.system;
  const [gold, found] = [bag(row.text ?? ''), bag(text)];
  let shared = 0;
  for (const [token, count] of found) shared += Math.min(count, gold.get(token) ?? 0);
  const precision = size(found) === 0 ? 0 : shared / size(found);
  const recall = size(gold) === 0 ? 0 : shared / size(gold);
  const f1 = precision + recall === 0 ? 0 : (2 * precision * recall) / (precision + recall);
  scores.set(row.type, [...(scores.get(row.type) ?? []), f1]);
  all.push({ file: row.file, type: row.type, precision, recall, f1 });
}
const mean = (list: readonly number[]): number => list.reduce((sum, each) => sum + each, 0) / list.length;
for (const [type, list] of [...scores].sort())
  process.stdout.write(`${type.padEnd(16)} ${String(list.length).padStart(4)}  ${mean(list).toFixed(3)}\n`);
process.stdout.write(
  `${'all'.padEnd(16)} ${String(all.length).padStart(4)}  ${mean(all.map(({ f1 }) => f1)).toFixed(3)}  P ${mean(all.map(({ precision }) => precision)).toFixed(3)}  R ${mean(all.map(({ recall }) => recall)).toFixed(3)}  ${(cpuUs / all.length / 1_000).toFixed(2)} ms a page\n`,
);
if (values.worst !== undefined) {
  for (const each of all.sort((a, b) => a.f1 - b.f1).slice(0, Number(values.worst))) {
    process.stdout.write(
      `${each.file} ${each.type.padEnd(14)} P ${each.precision.toFixed(2)} R ${each.recall.toFixed(2)} F ${each.f1.toFixed(2)}\n`,
    );
  }
}
