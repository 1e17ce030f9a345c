import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_PLUGIN_LIST } from '../../src/plugin-host/loading/plugin-list.ts';
import { createInlinePageParser } from '../../src/plugin-host/parsing/page-parser.ts';
import { madeWord } from '../../test/site/made-office.ts';
import { bookPages, madePdf } from '../../test/site/made-pdf.ts';

const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
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
export async function benchDocuments(say: (text: string) => void, folder: string | undefined): Promise<void> {
  const entries = ['parse-pdf', 'parse-office'].map((use) => ({ use, options: {}, where: 'bench' }));
  const parser = await createInlinePageParser(
    {
      list: { ...DEFAULT_PLUGIN_LIST, entries: [...DEFAULT_PLUGIN_LIST.entries, ...entries] },
      baseDir: '.',
      signature: 'simhash',
      limits: { maxTextChars: 1_000_000, maxOutlinks: 5_000, storeText: true },
      agent: 'incrawl',
      intervals: { intervalMs: 1, minIntervalMs: 1, maxIntervalMs: 1 },
    },
    log,
  );
  const found = folder === undefined ? [] : readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const documents = [
    ...made,
    ...found
      .filter((file) => ENDINGS.test(file))
      .map((file) => [file, () => readFileSync(join(folder ?? '', file))] as const),
  ];
  const startBytes = process.memoryUsage.rss();
  say(`documents: ${Math.round(startBytes / 1e6)} MB before the first`);
  for (const [name, read] of documents) {
    const body = read();
    if (body.length > MAX_BYTES) continue;
    const cpuMs: number[] = [];
    let [pages, chars, fault] = [1, 0, ''];
    for (let run = 0; run < RUNS; run++) {
      const before = process.cpuUsage();
      const page = { index: 0, url: 'http://a.example/x', contentType: null, headers: {}, body, metadata: {} };
      const { record, result } = await parser.live(page);
      const { user, system } = process.cpuUsage(before);
      cpuMs.push((user + system) / 1_000);
      pages = Number(result.metadata['parse-pdf.pages'] ?? 1);
      chars = record.text.length;
      fault = record.outcome.kind === 'parsed' ? '' : `, ${record.outcome.message}`;
    }
    const least = Math.min(...cpuMs);
    const peak = Math.round(process.resourceUsage().maxRSS / 1_024);
    say(
      `${name}: ${Math.round(body.length / 1_024)} KiB, ${pages} pages, ${chars} characters, ${least.toFixed(1)} ms CPU` +
        ` (first ${cpuMs[0]!.toFixed(1)}), ${(least / pages).toFixed(2)} ms a page, ${peak} MB at most so far${fault}`,
    );
  }
}
