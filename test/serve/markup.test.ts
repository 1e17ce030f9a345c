import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { barTable } from '../../src/serve/charts/bars.ts';
import { lineChart } from '../../src/serve/charts/line-chart.ts';
import { linesOf, markup, urlLink } from '../../src/serve/markup.ts';

describe('markup', () => {
  it.each([
    ['<script>alert(1)</script>', '&lt;script&gt;alert(1)&lt;/script&gt;'],
    ['"><img src=x onerror=alert(1)>', '&quot;&gt;&lt;img src=x onerror=alert(1)&gt;'],
    ["' onmouseover='x", '&#39; onmouseover=&#39;x'],
    ['&lt;b&gt;', '&amp;lt;b&amp;gt;'],
    ['\u202egnp.exe', '\\u202egnp.exe'],
    ['a\u001b[31mb\u0007', 'a\\x1b[31mb\\x07'],
    ['a\u2066b\ufeff', 'a\\u2066b\\ufeff'],
  ])('shows %j as text', (text, shown) => {
    expect(String(markup`<p title="${text}">${text}</p>`)).toBe(`<p title="${shown}">${shown}</p>`);
    expect(String(markup`<p>${[text, [text]]}</p>`)).toBe(`<p>${shown}${shown}</p>`);
  });

  it('keeps markup within markup as it is, and nothing as nothing', () => {
    expect(String(markup`<p>${markup`<b>${'<'}</b>`}${null}${false}${0}</p>`)).toBe('<p><b>&lt;</b>0</p>');
    expect(String(markup`<p>${linesOf('a\n<b>')}</p>`)).toBe('<p>a<br>&lt;b&gt;</p>');
  });

  it('lets no text out of its place, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const shown = String(markup`<p title="${text}">${text}</p>`);
        expect(shown.match(/[<>]/g)).toEqual(['<', '>', '<', '>']);
        expect(shown.match(/"/g)).toHaveLength(2);
        expect(shown).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
      }),
    );
  });

  it('links a URL to its page of the view, whole and escaped', () => {
    const url = 'https://a.test/?q=%3Cscript%3E&b="x"#é';
    const link = String(urlLink(url));
    const href = /href="([^"]+)"/.exec(link)?.[1] ?? '';
    expect(new URL(href, 'http://x/').searchParams.get('u')).toBe(url);
    expect(link).not.toContain('"x"');
  });
});

describe('charts', () => {
  it('draw curves with gaps and single points, without NaN, for any values', () => {
    const values = fc.array(fc.option(fc.double({ min: 0, max: 1e12, noNaN: true })), { minLength: 2, maxLength: 20 });
    fc.assert(
      fc.property(values, (points) => {
        const x = points.map((_, i) => 1_700_000_000 + i);
        const picture = String(lineChart('t', { x, series: [{ label: 'a', values: points }] }));
        expect(picture).not.toMatch(/NaN|Infinity|undefined/);
      }),
    );
    const gaps = { x: [0, 1, 2, 3, 4], series: [{ label: 'a', values: [1, null, 1, 1, null] }] };
    expect(String(lineChart('t', gaps)).match(/M[^"]+/)?.[0]).toMatch(/^M\S+ \S+h\.01M\S+ \S+L\S+ \S+$/);
  });

  it('draw bars as a table that can be read aloud', () => {
    const table = String(
      barTable('States', [
        { label: 'fetched', value: 1_500 },
        { label: '<x>', value: 0 },
      ]),
    );
    expect(table).toContain('<caption>States</caption>');
    expect(table).toContain('1,500');
    expect(table).toContain('<th scope="row">&lt;x&gt;</th>');
  });
});
