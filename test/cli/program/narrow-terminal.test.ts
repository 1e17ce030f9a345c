import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reportLines } from '../../../src/demo/report.ts';
import { type Column, PLAIN_STYLE, packedLines, partsThatFit, table, wrapText } from '../../../src/render/table.ts';
import { type Finished, run } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';
import { type LocalSite, startSite } from '../support/local-site.ts';

interface Row {
  readonly url: string;
  readonly figures: readonly number[];
}

const columns: readonly Column<Row>[] = [
  { title: 'url', max: 80, cell: ({ url }) => url },
  { title: 'at', cell: ({ figures }) => new Date(figures[0] ?? 0).toISOString().slice(0, 16).replace('T', ' ') },
  { title: 'urls', rank: 2, align: 'right', cell: ({ figures }) => String(figures[1]) },
  { title: 'bytes', rank: 1, align: 'right', cell: ({ figures }) => String(figures[2]) },
  { title: 'title', rank: 3, max: 40, cell: ({ figures }) => 'x'.repeat(figures[3] ?? 0) },
];
const someRow = fc.record({
  url: fc.webUrl({ withQueryParameters: true }),
  figures: fc.tuple(fc.nat(2 ** 41), fc.nat(), fc.nat(), fc.nat(60)),
});
const inCard = (line: string): boolean => line.startsWith('  ');

describe('a table on a terminal', () => {
  it('is no wider than the terminal, and shows figures and times whole or not at all', () => {
    fc.assert(
      fc.property(
        fc.array(someRow, { minLength: 1, maxLength: 300 }),
        fc.integer({ min: 30, max: 200 }),
        (rows, width) => {
          const text = table(columns, rows, { ...PLAIN_STYLE, width });
          const urls = new Set(rows.map(({ url }) => url));
          const cells = new Set(rows.flatMap((row) => columns.slice(1, 4).map(({ cell }) => cell(row))));
          for (const line of text.trimEnd().split('\n')) {
            // A card has long words whole; the terminal continues them on the next line.
            if (!urls.has(line) && !/^ .*x{20}/.test(line)) expect(line.length).toBeLessThanOrEqual(width);
            const titles = ['url', 'at', 'urls', 'bytes', 'title'];
            const parts = line.trim().split(inCard(line) ? ' · ' : / {2,}/);
            for (const part of parts) {
              const value = inCard(line) ? part.replace(/^\S+ /, '') : part;
              const isText = /…$|^x*$/.test(value) || [...urls].some((url) => url === value);
              expect(isText || titles.includes(value) || cells.has(value), `${value} in ${line}`).toBe(true);
            }
          }
          for (const row of rows) expect(text).toContain(columns[1]?.cell(row));
        },
      ),
      { numRuns: 60 },
    );
  });

  it('leaves out columns by their ranks, then makes cards', () => {
    const row: Row = { url: `https://example.org/${'a'.repeat(60)}`, figures: [0, 1_234_567, 89, 12] };
    const shown = (width: number): string[] =>
      table(columns, [row], { ...PLAIN_STYLE, width })
        .trimEnd()
        .split('\n');
    expect(shown(200)[0]?.split(/ +/)).toEqual(['url', 'at', 'urls', 'bytes', 'title']);
    expect(shown(70)[0]?.split(/ +/)).toEqual(['url', 'at', 'urls', 'bytes']);
    expect(shown(44)[0]?.split(/ +/)).toEqual(['url', 'at', 'bytes']);
    expect(shown(40)[0]?.split(/ +/)).toEqual(['url', 'at']);
    expect(shown(30)).toEqual([row.url, '  at 1970-01-01 00:00', '  urls 1234567 · bytes 89', '  title xxxxxxxxxxxx']);
  });

  it('makes a card of a later row whose figure is wider than its column', () => {
    const rows = Array.from({ length: 250 }, (_, i): Row => ({ url: 'u', figures: [0, i < 240 ? 1 : 10 ** 12, 2, 0] }));
    const lines = table(columns, rows, { ...PLAIN_STYLE, width: 40 })
      .trimEnd()
      .split('\n');
    expect(lines.slice(0, 2)).toEqual(['url  at                urls  bytes', 'u    1970-01-01 00:00     1      2']);
    expect(lines.slice(-3)).toEqual(['u', '  at 1970-01-01 00:00', '  urls 1000000000000 · bytes 2']);
  });
});

describe('text on a terminal', () => {
  it('is broken between words, and continued under its value', () => {
    expect(wrapText('intervals    about 28.9 d to 28.9 d, median 28.9 d, 95 % up to 28.9 d', 40)).toBe(
      'intervals    about 28.9 d to 28.9 d,\n             median 28.9 d, 95 % up to\n             28.9 d',
    );
    expect(wrapText('It is due since 2026-11-22 18:24 UTC; go on', 30)).toBe(
      'It is due since\n  2026-11-22 18:24 UTC; go on',
    );
    const kept = [
      '  incrawl due touch https://example.org/a-page --at now',
      `url  https://example.org/${'a'.repeat(40)}`,
    ];
    for (const line of kept) expect(wrapText(line, 30)).toBe(line);
  });

  it('keeps all its words', () => {
    const words = fc.array(fc.stringMatching(/^[!-~]{1,12}$/), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(words, fc.integer({ min: 20, max: 100 }), (all, width) => {
        const lines = wrapText(`  ${all.join(' ')}`, width).split('\n');
        expect(lines.join(' ').trim().split(/ +/)).toEqual(all);
        for (const line of lines) expect(line.length).toBeLessThanOrEqual(Math.max(width, 2 + 12 * 3));
      }),
      // A figure whose unit is in a long word.
      { examples: [[['!!!!', '!!!', '!', '!!!!!!!', '!!!!!!0', 'B!!!!!!!!!', '!'], 20]] },
    );
  });

  it('in parts: those that fit, or all of them in as many lines as they take', () => {
    const parts = ['reading', '1,234', '56 %'];
    expect([10, 15, 16, 30].map((width) => partsThatFit(parts, width))).toEqual([
      'reading',
      'reading · 1,234',
      'reading · 1,234',
      'reading · 1,234 · 56 %',
    ]);
    expect(packedLines(parts, 15, '  ')).toEqual(['reading · 1,234', '  56 %']);
  });
});

it('the report of the demo fits 80 columns, and cuts nothing below', () => {
  const counts = { notModified: 6, skippedByHeaders: 3, unchanged: 5, new: 0, modified: 12, gone: 3, moved: 3 };
  const visit = { day: 14, pages: 42, fetched: 42, ...counts, meanDistance: 16.2, requests: 42 };
  const report = {
    visits: [{ ...visit, bodyBytes: 124_000, fullBytes: 250_000 }],
    samples: [],
    selected: { path: '/', field: 'x', selector: 'p', value: null },
  };
  const heading = (width: number) => reportLines(report, width).find((line) => /\bday\b.*due/.test(line)) ?? '';
  for (const width of [Number.POSITIVE_INFINITY, 80, 70, 40]) {
    const lines = reportLines(report, width);
    expect(lines.filter((line) => line.length > 80 && !line.startsWith('day 14'))).toEqual([]);
    const legend = lines.slice(lines.findIndex((line) => /^ {2}day /.test(line)));
    const titles = /^day 14/.test(heading(width)) ? heading(80) : heading(width);
    for (const title of titles.split(/ {2,}/)) {
      expect(
        legend.some((line) => line.startsWith(`  ${title} `)),
        `${title} at ${width}`,
      ).toBe(true);
    }
  }
  expect(heading(80)).toMatch(/^day .*changed {2}bits {2}gone {2}moved +bytes {2}of full$/);
  expect(heading(70)).toMatch(/^day .*changed {2}gone +bytes {2}of full$/);
  expect(heading(40)).toMatch(/^day 14 {2}due 42, 304 6, headers 3, /);
});

describe('every command that prints a table', () => {
  let site: LocalSite;
  const dir = workDir();
  const settings = ['--dir', dir, '-D', 'http.allowAddresses=["127.0.0.1"]', '-D', 'fetch.delay=0'];
  const ask = (args: readonly string[], columns?: number): Promise<Finished> => {
    const terminal = columns === undefined ? {} : { columns };
    return run([...args, ...settings], { env: { TERM: 'xterm', NO_COLOR: '1' }, ...terminal });
  };
  beforeAll(async () => {
    site = await startSite({ pages: 6 });
    expect((await ask(['crawl', `${site.origin}/`])).code).toBe(0);
  });
  afterAll(() => site.close());

  const commands: readonly (readonly [string, ...string[]])[] = [
    ['readdb', '--dump'],
    ['readdb', '--stats'],
    ['readdb', '--stats', '--by', 'host'],
    ['readdb', '--hosts'],
    ['readdb', '--overdue', '1s', '--limit', '3'],
    ['readdb', '--seen'],
    ['readdb', '--url', 'ORIGIN/'],
    ['readdb', '--dump', '--fields', 'url,state,interval,lastFetchAt,nextFetchAt,score'],
    ['explain', 'ORIGIN/'],
    ['forecast', 'plan', '--days', '3'],
    ['forecast', 'simulate'],
    ['changes'],
    ['skipped'],
    ['skipped', '--counts'],
    ['readseg', '--list'],
    ['readseg', '--dump'],
    ['diff', 'ORIGIN/', '--list'],
    ['duplicates', 'families'],
    ['duplicates', 'near', 'ORIGIN/page/1'],
    ['dedup', '--dry-run'],
    ['generate', '--dry-run', '--add-days', '60'],
    ['state', 'prune', '--keep-days', '0', '--dry-run'],
    ['due', 'sitemap', '--dry-run'],
    ['state', 'verify'],
    ['plugins', 'list'],
    ['packages', 'list'],
    ['reparse', '--dry-run'],
    ['config', '--origin'],
    ['top', '--once'],
  ];
  it.each(commands)('%s %s %s fits 80, 60 and 40 columns', async (...words) => {
    const args = words.filter((word) => word !== undefined).map((word) => word.replace('ORIGIN', site.origin));
    const piped = await ask(args);
    expect(piped.stderr).not.toMatch(/^incrawl: /m);
    const figures = new Set(stripVTControlCharacters(piped.stdout).match(FIGURES));
    for (const width of [80, 60, 40]) {
      const { code, stdout } = await ask(args, width);
      expect(code).toBe(piped.code);
      for (const line of stripVTControlCharacters(stdout).split('\n')) {
        if (line.length > width) expect(line, `${width} columns`).toMatch(HAS_LONG_WORD);
        // A URL, a title or an option may be cut, with an ellipsis; a figure is there as it is in the full table.
        for (const figure of line.replace(/\S*…/g, '').match(FIGURES) ?? [])
          if (!/:\d\d$/.test(figure)) expect(figures, `${figure} in ${line}`).toContain(figure);
      }
    }
  });
});

/** Numbers, dates and times, as a whole. */
const FIGURES = /(?<![\w./:-])\d[\d,.:TZ-]*\d(?![\w./:-])/g;
/** A URL, a path or a digest, which the terminal continues on the next line; or a command, which is to be copied. */
const HAS_LONG_WORD = /\S{20,}|^\s*incrawl /;
