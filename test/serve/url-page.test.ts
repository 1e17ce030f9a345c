import { describe, expect, it } from 'vitest';
import { visitTimeline } from '../../src/serve/charts/visit-timeline.ts';
import { urlPage } from '../../src/serve/pages/url.ts';
import { DAY, explanation, NOW, record, VISITS } from './live-fixtures.ts';

const timeline = (change: Parameters<typeof record>[0] = {}): string => String(visitTimeline(record(change), NOW));
/** The stems of the wide picture, as [x, height of the mark]. */
const marks = (svg: string): [number, number][] =>
  [
    ...(svg.split('class="chart narrow"')[0] ?? '').matchAll(/<line x1="([\d.]+)" x2="[\d.]+" y1="92" y2="([\d.]+)"/g),
  ].map(([, x, y]) => [Number(x), Number(y)]);

describe('the timeline of a URL', () => {
  it('has a mark for each visit, in time, as high as the page had changed', () => {
    const drawn = marks(timeline({ visits: VISITS.slice(0, 4) })).sort(([a], [b]) => a - b);
    expect(drawn).toHaveLength(4);
    const [first, unchanged, far, near] = drawn as [number, number][];
    expect([first?.[1], unchanged?.[1]]).toEqual([92, 92]);
    // 9 bits, then 3.
    expect(far?.[1]).toBeLessThan(near?.[1] ?? 0);
    expect(near?.[1]).toBeLessThan(92);
  });

  it('says in words and by shapes what the marks mean, with their numbers', () => {
    const svg = timeline();
    const legend = [...svg.matchAll(/<\/svg>([a-z ]+) <b>(\d+)<\/b>/g)].map(([, label, times]) => `${label} ${times}`);
    expect(legend).toEqual(['first visit 1', 'changed 5', 'unchanged 7', 'moved 1', 'gone 1', 'failed 1']);
    expect(svg).toContain('<title>2026-02-25 17:06: modified, 31 bits, then every 7.5 d</title>');
    expect(svg).toMatch(/role="img" aria-label="16 visits from 1 Jan to 25 Feb; the table below lists them"/);
  });

  it('shows the next visit, however far away, and no visit as none', () => {
    expect(timeline()).toContain('next 5 Mar<');
    expect(timeline({ nextFetchAt: new Date(NOW + 4_000 * DAY).toISOString() })).toContain('→');
    expect(timeline({ nextFetchAt: null })).not.toContain('class="next"');
    expect(visitTimeline(record({ visits: [] }), NOW)).toBeNull();
    for (const visits of [VISITS.slice(0, 1), [VISITS[0]!, VISITS[0]!], VISITS]) {
      expect(timeline({ visits })).not.toMatch(/NaN|Infinity|undefined/);
    }
  });
});

describe('the page of a URL', () => {
  it('says at the top when it was visited, and when it will be', () => {
    const html = String(urlPage(explanation(), null, NOW));
    expect(html).toContain('<dt>last visit</dt><dd>6.6 d ago<small>2026-02-25 17:06</small>');
    expect(html).toContain('<dt>next visit</dt><dd>in 21.6 h<small>');
    expect(html).toContain('in 5 of the last 16 visits');
    const due = String(urlPage(explanation({ nextFetchAt: new Date(NOW - DAY).toISOString() }), null, NOW));
    expect(due).toContain('<dt>next visit</dt><dd>due now<small>');
    const never = String(urlPage(explanation({ visits: [], lastFetchAt: null, nextFetchAt: null }), null, NOW));
    expect(never).toContain('<dt>next visit</dt><dd>never');
    expect(never).toContain('Visits, newest first: none.');
  });

  it('marks failures, and keeps hostile texts inert', () => {
    const lastError = { code: 'tls-failed', message: '<script>pwned()</script>', at: new Date(NOW).toISOString() };
    const url = 'https://a.test/?q=%22%3E#"><img src=x onerror=pwned()>';
    const hostile = { url, title: '</bdi><b>x</b>\u202e', failures: 3, lastError, referrer: 'javascript:pwned()' };
    const html = String(urlPage(explanation(hostile), null, NOW));
    expect(html).toContain('<div class="bad"><dt>failures in a row</dt><dd>3<small>tls-failed</small>');
    expect(html.match(/<script|<img|<b>x|\u202e|href="javascript/)).toBeNull();
    expect(html.replace(/"[^"]*"/g, '').match(/<[^>]*\s(?:style|on\w+)=/)).toBeNull();
  });
});
