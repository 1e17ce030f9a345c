import { describe, expect, it } from 'vitest';
import type { RoundEntry } from '../../src/crawler/views.ts';
import { overviewPage } from '../../src/serve/pages/overview.ts';
import { DAY, HOSTS, LAST, NO_CRAWL, NOW, type OverviewData, pastRound, rounds, STATS, YEAR } from './live-fixtures.ts';

const MINUTE = 60_000;
const shown = (data: OverviewData): string => String(overviewPage(data));
/** What is read aloud, without what is only drawn. */
const textOf = (html: string): string =>
  html
    .replace(/<svg[^>]*aria-hidden[\s\S]*?<\/svg>/g, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ');
/** The figures that are read first, by label. */
const keyFigures = (html: string): Record<string, string> =>
  Object.fromEntries(
    [...html.matchAll(/<dt>([^<]*)<\/dt><dd>([^<]*)(?:<small>([^<]*)<\/small>)?<\/dd>/g)].map(
      ([, label = '', value = '', note = '']) => [label, note === '' ? value : `${value}; ${note}`],
    ),
  );
const ONE_ROUND = pastRound(NOW - MINUTE, {
  new: 12,
  failed: 1,
  sample: { due: 0, overdue: 0, fresh: 1, changesPerDay: 0.4 },
});
const NOTHING_DUE = { ...STATS, due: 0, waiting: null, dueByDay: new Array<number>(14).fill(0) };

describe('the overview', () => {
  it('of no crawl says how to begin one', () => {
    expect(textOf(shown(NO_CRAWL))).toContain('Nothing has been crawled yet.');
    expect(shown(NO_CRAWL)).not.toMatch(/<svg|NaN|undefined/);
  });

  it('of one round draws it: no panel waits for a second one', () => {
    const html = shown({ ...NO_CRAWL, rounds: [ONE_ROUND], last: LAST, stats: NOTHING_DUE, statsAt: NOW });
    const text = textOf(html);
    expect(text).toContain('Visits per 5 minutes last 2 hours: 13');
    expect(text).toContain('Fresh copies last 2 hours: 100.0 %');
    expect(text).toContain('No URL falls due in this time.');
    expect(text).toContain('Busiest, by visits No visits.');
    expect(text).not.toContain('no data yet');
    expect(html.match(/class="dot last"/g)).toHaveLength(1);
  });

  it('of nine rounds within an hour has their freshness', () => {
    const html = shown({
      ...NO_CRAWL,
      rounds: rounds(9, 6 * MINUTE, 20),
      last: LAST,
      stats: NOTHING_DUE,
      statsAt: NOW,
    });
    expect(html.match(/<circle class="dot/g)).toHaveLength(9);
    expect(html).not.toContain('class="nothing">No page has an estimated');
  });

  it('says why there is no estimate, and what happened in other times', () => {
    const old = [pastRound(NOW - 40 * DAY, { new: 4 })];
    const text = textOf(shown({ ...NO_CRAWL, rounds: old, last: LAST, stats: NOTHING_DUE, statsAt: NOW }));
    expect(text).toContain('No visits in this time.');
    expect(text).toContain('No page has an estimated change rate yet.');
    expect(text).toContain('No page has changed in this time.');
  });

  it('of a year has a month by days, and all of it by weeks', () => {
    expect(textOf(shown(YEAR))).toMatch(/Visits per day last 30 days: 2\d\d,\d{3}/);
    const year = shown({ ...YEAR, span: '1y' });
    expect(textOf(year)).toMatch(/Changes per week last 1 year: 3\d\d,\d{3}/);
    expect(year).toContain('aria-current="true">1 year</a>');
    // Points beyond what the chart can show are left out.
    expect((year.match(/<circle class="dot/g) ?? []).length).toBeLessThanOrEqual(181);
    expect(year.length).toBeLessThan(100_000);
  });

  it('tells due pages within the budget from those beyond', () => {
    const text = textOf(shown(YEAR));
    expect(text).toContain('Due, next 14 days 91,100');
    expect(text).toContain('within 83,800 beyond the budget 7,300 budget a day 8,000');
    expect(text).toContain('today 2.3 k of 8 k');
    const far = textOf(shown({ ...YEAR, budget: { perDay: 1e6, spentToday: null } }));
    expect(far).toContain('within 91,100 budget a day 1,000,000');
    expect(shown({ ...YEAR, budget: { perDay: 1e6, spentToday: null } })).toContain('fill-none');
    expect(textOf(shown({ ...YEAR, budget: null }))).toMatch(/due 91,100 usual visits a day \d,\d{3}/);
  });

  it('has the figures of the last day, and marks those that ask for a look', () => {
    const day = [pastRound(NOW - 2 * DAY, { new: 500 }), pastRound(NOW - MINUTE, { modified: 90, failed: 10 })];
    const html = shown({ ...YEAR, rounds: day, stats: { ...STATS, overdue: 17 } });
    expect(keyFigures(html)).toMatchObject({
      URLs: '128,402; 412 hosts',
      'due now': '1,204; 17 for over a day',
      'fresh, estimated': '-; no change rates yet',
      'visits, 24 h': '100; today 2.3 k of 8 k',
      'changed, 24 h': '90; 0 new, 0 gone',
      'failed, 24 h': '10; 10 % of the visits',
      'median interval': '9.3 d; 1 h to 90 d',
    });
    expect([...html.matchAll(/<div class="bad"><dt>([^<]*)/g)].map(([, label]) => label)).toEqual([
      'due now',
      'failed, 24 h',
    ]);
  });

  it('names failing hosts with the cause, not with what followed from it', () => {
    const text = textOf(shown({ ...YEAR, hosts: HOSTS }));
    expect(text).toContain('down.example.net connect-timeout 46');
    expect(text).toContain('docs.example.org 2,204');
  });

  it('says how old its figures are', () => {
    expect(textOf(shown(YEAR))).toContain('Crawl db as of 07:29 (4 s ago). Rounds up to 07:29 (1 min ago)');
    const locked = textOf(shown({ ...YEAR, stats: null, statsAt: null }));
    expect(locked).toContain('The crawl db has not been read yet.');
    expect(locked).toContain('Known once the crawl db can be read.');
    expect(locked).toContain('fetched 61,204');
  });

  it('shows a failed scheduled run, and while nothing runs the last round', () => {
    const lastRun = { ok: false, at: '2026-03-04T07:15:00.000Z', error: 'the disk <b>is full</b>' };
    const schedule = { lastRun } as OverviewData['activity']['schedule'];
    const html = shown({ ...YEAR, activity: { state: 'waiting', run: null, schedule, workers: null } });
    expect(html).toContain('failed at 2026-03-04 07:15: the disk &lt;b&gt;is full&lt;/b&gt;');
    expect(keyFigures(html)).toMatchObject({
      'last round': '07:29, 1 min ago',
      took: '13.7 min',
      URLs: expect.anything(),
    });
  });

  it('keeps names of hosts and states inert, and draws nothing that is no number', () => {
    const host = `"><script>pwned()</script>\u202e.test`;
    const hosts = { busiest: [{ host, visits: 1 }], failing: [{ host, code: '<i>', visits: 1 }] };
    const byStatus = { '<u>': 3 } as unknown as RoundEntry['byStatus'];
    for (const data of [
      { ...YEAR, hosts, stats: { ...STATS, byStatus } },
      { ...NO_CRAWL, hosts, last: LAST, stats: STATS },
    ]) {
      const html = shown(data);
      expect(html.match(/<script|<i>|<u>|\u202e|NaN|Infinity|undefined/)).toBeNull();
      expect(html.replace(/"[^"]*"/g, '').match(/<[^>]*\s(?:style|on\w+)=/)).toBeNull();
    }
  });

  it('has each chart as a table for those who hear it', () => {
    const [table = ''] = /<table><caption>Visits per day[\s\S]*?<\/table>/.exec(shown(YEAR)) ?? [];
    expect(table).toContain('<th scope="col">unchanged</th>');
    expect(table.match(/<tr>/g)).toHaveLength(31);
  });
});
