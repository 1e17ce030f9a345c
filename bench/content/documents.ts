import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_PLUGIN_LIST } from '../../src/core/plugin-host/loading/plugin-list.ts';
import { madeWord } from '../../test/site/made-office.ts';
import { bookPages, madePdf } from '../../test/site/made-pdf.ts';
import { cpuUs } from '../harness/cost.ts';
import { measurement } from '../harness/measurement.ts';
import { inlineParser, pageOf } from '../harness/parser.ts';
import { dataAt } from '../harness/places.ts';

const RUNS = 5;
const MAX_BYTES = 20 << 20;
const ENDINGS = /\.(?:pdf|epub|docx|pptx|xlsx|od[tsp])$/i;

const sentence = (seed: number): string =>
  Array.from({ length: 11 }, (_, i) => `w${(Math.imul(seed * 31 + i, 0x9e37_79b1) >>> 8) % 997}`).join(' ');
const made: readonly (readonly [name: string, body: () => Buffer])[] = [
  ['made, 10 pages.pdf', () => madePdf({ pages: bookPages(10, (page, line) => sentence(40 * page + line)) })],
  ['made, 1,000 pages.pdf', () => madePdf({ pages: bookPages(1_000, (page, line) => sentence(40 * page + line)) })],
  ['made, 300 paragraphs.docx', () => madeWord(Array.from({ length: 300 }, (_, i) => sentence(i)))],
];

/** CPU of parsing, filtering and signing documents, the least of some runs, and the memory of the process. */
export const documents = measurement('content', { documents: '' }, async ({ say, question }, { documents: folder }) => {
  const entries = ['parse-pdf', 'parse-office'].map((use) => ({ use, options: {}, where: 'bench' }));
  const list = { ...DEFAULT_PLUGIN_LIST, entries: [...DEFAULT_PLUGIN_LIST.entries, ...entries] };
  const parser = await inlineParser(list);
  const place = folder === '' ? '' : dataAt(folder, '--documents', 'a folder of PDF and office files');
  const found = place === '' ? [] : readdirSync(place, { recursive: true, encoding: 'utf8' });
  const files = found
    .filter((file) => ENDINGS.test(file))
    .map((file) => [file, () => readFileSync(join(place, file))] as const);
  const note = question('Documents, CPU from bytes to signature');
  for (const [name, read] of [...made, ...files]) {
    const body = read();
    if (body.length > MAX_BYTES) continue;
    const us: number[] = [];
    let [pages, fault] = [1, ''];
    for (let run = 0; run < RUNS; run++) {
      us.push(
        await cpuUs(async () => {
          const { record, result } = await parser.live(pageOf(body, 0, 'http://a.example/x', null));
          pages = Number(result.metadata['parse-pdf.pages'] ?? 1);
          fault = record.outcome.kind === 'parsed' ? '' : `${name}: ${record.outcome.message}`;
        }),
      );
    }
    if (fault !== '') say(fault);
    note(`a page of ${name}`, Math.min(...us) / pages / 1_000, 'ms');
    note(`${name}, first time`, us[0]! / 1_000, 'ms');
    note(`memory of a process after ${name}`, process.resourceUsage().maxRSS / 1_024, 'MB');
  }
  await parser.close();
});
