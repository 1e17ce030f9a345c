/**
 * `node dist/bench/content/metadata.js --pages FOLDER [--show FIELD] [--every N]`: metadata of labelled pages. Of each
 * field that the labels have: pages where it is exact, missing and wrong. A title is exact with the same characters,
 * white space apart; `title~` leaves case and the shape of quotes and dashes aside. Authors are exact as a set, a time
 * by its day in UTC. `headline` is the title against the first line of the reference text, where no title is labelled.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { HtmlReader } from '../../plugins/parse-html/parse-html.ts';
import type { ParseResult } from '../../src/plugin-host/api/plugin-api.ts';
import { LivePage } from '../../src/plugin-host/parsing/live-page.ts';
import { PAGE_LIMITS } from './labelled-pages.ts';

interface Labels {
  readonly file: string;
  readonly url: string;
  readonly contentType?: string;
  readonly title?: string;
  readonly authors?: readonly string[];
  readonly date?: string;
  readonly text?: string;
}

const { values } = parseArgs({
  options: {
    pages: { type: 'string', default: '' },
    show: { type: 'string', default: '' },
    every: { type: 'string', default: '1' },
  },
});

const folded = (text: string): string =>
  text
    .normalize('NFC')
    .replace(/[\u00ad\u200b\ufeff]/g, '')
    .replace(/\s+/g, ' ')
    .trim();
const loose = (text: string): string =>
  folded(text)
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\u2018\u2019`\u00b4]/g, "'")
    .replace(/[\u201c-\u201f\u00ab\u00bb]/g, '"')
    .replace(/[\u2010-\u2015]/g, '-');
const names = (list: readonly string[]): string => list.map(loose).sort().join('; ');
const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);
/** Labels without a zone are of UTC. */
const labelledTime = (date: string): number =>
  Date.parse(/[+-]\d\d:\d\d$|Z$/.test(date) ? date : `${date.replace(' ', 'T')}Z`);

/** What the labels say, and what the page gave, as comparable texts; `null`: nothing. */
type Comparison = readonly [field: string, wanted: string, got: string | null];

function comparisons(labels: Labels, result: ParseResult): Comparison[] {
  const { title, authors, publishedAt } = result;
  const found: Comparison[] = [];
  if (labels.title) {
    found.push(['title', folded(labels.title), title === null ? null : folded(title)]);
    found.push(['title~', loose(labels.title), title === null ? null : loose(title)]);
  } else if (labels.text) {
    const headline = labels.text.trim().split('\n', 1)[0] ?? '';
    found.push(['headline', loose(headline), title === null ? null : loose(title)]);
  }
  if (labels.authors?.length) {
    found.push(['authors', names(labels.authors), authors.length === 0 ? null : names(authors)]);
  }
  if (labels.date) {
    found.push(['published', dayOf(labelledTime(labels.date)), publishedAt === null ? null : dayOf(publishedAt)]);
  }
  return found;
}

const reader = new HtmlReader({
  ...PAGE_LIMITS,
  maxLinks: 10_000,
  maxText: 1_000_000,
  agent: 'incrawl',
  now: Date.now,
});
const counts = new Map<string, { exact: number; missing: number; wrong: number }>();
let shown = 0;
const rows = gunzipSync(readFileSync(join(values.pages, 'pages.jsonl.gz')));
for (const line of rows.toString().trim().split('\n')) {
  const labels = JSON.parse(line) as Labels;
  const page = new LivePage({
    index: 0,
    url: labels.url || 'http://localhost/',
    contentType: labels.contentType ?? 'text/html',
    headers: {},
    body: gunzipSync(readFileSync(join(values.pages, 'html', `${labels.file}.gz`))),
    metadata: {},
  });
  reader.read(page);
  for (const [field, wanted, got] of comparisons(labels, page.result)) {
    const count = counts.get(field) ?? { exact: 0, missing: 0, wrong: 0 };
    counts.set(field, count);
    if (got === wanted) count.exact++;
    else if (got === null) count.missing++;
    else count.wrong++;
    if (field !== values.show || got === wanted || shown++ % Number(values.every) !== 0) continue;
    process.stdout.write(`${labels.file} ${labels.url}\n  labelled ${wanted}\n  found    ${got ?? '-'}\n`);
    process.stdout.write(`  sources  ${JSON.stringify(page.result.sources)}\n`);
  }
  page.release();
}
for (const [field, { exact, missing, wrong }] of counts) {
  const pages = exact + missing + wrong;
  const share = (count: number): string => `${((100 * count) / pages).toFixed(1).padStart(5)} %`;
  process.stdout.write(
    `${field.padEnd(10)} ${String(pages).padStart(5)} pages  exact ${share(exact)}  missing ${share(missing)}  wrong ${share(wrong)}\n`,
  );
}
