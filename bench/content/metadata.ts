import { HtmlReader } from '../../plugins/parse-html/parse-html.ts';
import type { ParseResult } from '../../src/core/plugin-host/api/plugin-api.ts';
import { LivePage } from '../../src/core/plugin-host/parsing/live-page.ts';
import { percent } from '../harness/cost.ts';
import { measurement } from '../harness/measurement.ts';
import { PAGE_LIMITS, pageOf } from '../harness/parser.ts';
import { type Labels, labelsIn } from './labelled-pages.ts';

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

/**
 * Metadata of labelled pages: of each field that the labels have, pages where it is exact, missing and wrong. A title
 * is exact with the same characters, white space apart; `title~` leaves case and the shape of quotes and dashes aside.
 * Authors are exact as a set, a time by its day in UTC. `headline` is the title against the first line of the reference
 * text, where no title is labelled.
 */
export const metadata = measurement('content', { pages: [] as string[] }, ({ question }, { pages }) => {
  const limits = { ...PAGE_LIMITS, maxLinks: 10_000, maxText: 1_000_000 };
  const reader = new HtmlReader({ ...limits, agent: 'incrawl', now: Date.now });
  const counts = new Map<string, { exact: number; missing: number; wrong: number }>();
  for (const labels of labelsIn(pages)) {
    const { url, contentType, body } = labels;
    const page = new LivePage(pageOf(body, 0, url || 'http://localhost/', contentType ?? 'text/html'));
    reader.read(page);
    for (const [field, wanted, got] of comparisons(labels, page.result)) {
      const count = counts.get(field) ?? { exact: 0, missing: 0, wrong: 0 };
      counts.set(field, count);
      count[got === wanted ? 'exact' : got === null ? 'missing' : 'wrong']++;
    }
    page.release();
  }
  const note = question('Metadata');
  for (const [field, { exact, missing, wrong }] of counts) {
    const all = exact + missing + wrong;
    note(`${field} exact, ${all} pages`, percent(exact, all), '%');
    note(`${field} missing, ${all} pages`, percent(missing, all), '%');
  }
});
