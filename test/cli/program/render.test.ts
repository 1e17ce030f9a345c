import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { csvRow } from '../../../src/core/domain/export/written-files.ts';
import type { TransferSummary } from '../../../src/crawler/views.ts';
import type { RunStatus } from '../../../src/remote/run-status/run-status.ts';
import { topLines } from '../../../src/remote/run-status/run-text.ts';
import { writeListing } from '../../../src/render/listing.ts';
import { createOutput } from '../../../src/render/output.ts';
import { bytes, count, span } from '../../../src/render/quantities.ts';
import { printedJson, safeLines, safeText } from '../../../src/render/safe-text.ts';
import { clip, fieldLines, PLAIN_STYLE, table } from '../../../src/render/table.ts';
import { KNOWN, transferText } from '../../../src/render/text/reparse-text.ts';

describe('text from outside', () => {
  it.each([
    ['\u001b[31mred', '\\x1b[31mred'],
    ['a\rb\nc\td', 'a\\x0db\\x0ac\\x09d'],
    ['\u009b2J', '\\x9b2J'],
    ['evil\u202egnp.exe', 'evil\\u202egnp.exe'],
    ['\u2066x\u2069', '\\u2066x\\u2069'],
    ['a\u061cb', 'a\\u061cb'],
    ['café 漢字 👍🏽', 'café 漢字 👍🏽'],
  ])('%j is shown as %j', (text, shown) => expect(safeText(text)).toBe(shown));

  it('never contains control characters, but for line breaks of several-line text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(safeText(text)).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
        expect(safeLines(text).replace(/[\n\t]/g, '')).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
      }),
    );
  });
});

describe('printed JSON', () => {
  it.each([
    ['\u007f\u009b2J', '"\\u007f\\u009b2J"'],
    ['evil\u202egnp.exe', '"evil\\u202egnp.exe"'],
    ['\u2028\ufeff', '"\\u2028\\ufeff"'],
    ['a\n"é漢👍🏽', '"a\\n\\"é漢👍🏽"'],
  ])('%j is printed as %s', (text, printed) => expect(printedJson(text)).toBe(printed));

  it('keeps the value, without a raw control character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(JSON.parse(printedJson({ text }))).toEqual({ text });
        expect(printedJson({ [text]: 1 })).not.toMatch(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u);
      }),
    );
  });
});

describe('csv', () => {
  it.each([
    [['a', 1, null, true], 'a,1,,true'],
    [['a,b', 'say "x"', 'two\nlines'], '"a,b","say ""x""","two\nlines"'],
    [['=1+1', '+1', '-1', '@x', '\tx'], "'=1+1,'+1,'-1,'@x,'\tx"],
    [['  =cmd', '\r=x', '＝1'], `'  =cmd,"'\r=x",'＝1`],
    [[-5, 0.5], '-5,0.5'],
    [[{ a: 1 }, ['x']], '"{""a"":1}","[""x""]"'],
  ])('%j', (cells, row) => expect(csvRow(cells)).toBe(`${row}\r\n`));
});

describe('tables', () => {
  const columns = [
    { title: 'name', max: 6, cell: (row: { name: string; n: number }) => row.name },
    { title: 'n', align: 'right' as const, cell: (row: { name: string; n: number }) => String(row.n) },
  ];

  it('aligns by cells of the terminal, not by characters', () => {
    const text = table(columns, [
      { name: '漢字', n: 5 },
      { name: 'abcdefghij', n: 12 },
      { name: 'x\u001b[0m', n: 1 },
    ]);
    expect(text).toBe('name     n\n漢字     5\nabcde…  12\nx\\x1b…   1\n');
  });

  it('is nothing without rows', () => expect(table(columns, [])).toBe(''));

  it('cuts no character in two', () => {
    expect(clip('👨‍👩‍👧👨‍👩‍👧', 3)).toBe('👨‍👩‍👧…');
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        fc.nat(20),
        (text, max) => Buffer.from(clip(text, max + 1)).toString() === clip(text, max + 1),
      ),
    );
  });

  it('puts fields below each other', () => {
    expect(
      fieldLines([
        ['a', '1'],
        ['long', 'x\u0007'],
      ]),
    ).toBe('a     1\nlong  x\\x07');
  });
});

describe('lists', () => {
  const rows = [
    { url: 'a', n: 1 },
    { url: '=b', n: null },
  ];
  const listed = async (
    format: 'table' | 'json' | 'jsonl' | 'csv',
    of: readonly { url: string; n: number | null }[],
    isTTY = false,
  ) => {
    const stream = Object.assign(new PassThrough(), { isTTY });
    const columns = [{ title: 'url', cell: (row: { url: string }) => row.url }];
    expect(await writeListing(createOutput(stream), of, { format, columns, style: PLAIN_STYLE })).toBe(of.length);
    return String(stream.read() ?? '');
  };

  it('are one JSON document, JSON lines, or CSV', async () => {
    expect(JSON.parse(await listed('json', rows))).toEqual(rows);
    expect(JSON.parse(await listed('json', []))).toEqual([]);
    expect(
      (await listed('jsonl', rows))
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(rows);
    expect(await listed('csv', rows)).toBe("url,n\r\na,1\r\n'=b,\r\n");
    expect(await listed('table', rows)).toBe('url\na\n=b\n');
    expect(await listed('table', [])).toBe('');
  });

  it('print no control character raw in JSON, nor in CSV on a terminal; CSV for programs is as it was', async () => {
    const evil = [{ url: '\u009b2J\u202e', n: 1 }];
    expect(await listed('json', evil)).toContain('"\\u009b2J\\u202e"');
    expect(await listed('jsonl', evil)).toContain('"\\u009b2J\\u202e"');
    expect(await listed('csv', evil, true)).toBe('url,n\n\\x9b2J\\u202e,1\n');
    expect(await listed('csv', evil)).toBe('url,n\r\n\u009b2J\u202e,1\r\n');
  });

  it('end when the reader has closed the pipe', async () => {
    const stream = new PassThrough();
    const out = createOutput(stream);
    let made = 0;
    const endless = (function* () {
      for (;;) yield { url: `page ${made++} ${'x'.repeat(1000)}` };
    })();
    stream.once('data', () => stream.destroy(Object.assign(new Error('gone'), { code: 'EPIPE' })));
    await writeListing(out, endless, { format: 'jsonl', columns: [], style: PLAIN_STYLE });
    expect(out.closed).toBe(true);
    expect(made).toBeLessThan(200);
  });
});

describe('quantities', () => {
  it('one of a thing is not several', () => {
    const one = { records: 1, links: 1, hosts: 1, merged: 0 };
    expect(transferText(one as TransferSummary, KNOWN)).toBe('1 record, outlinks of 1 page, data of 1 host');
    const totals = { requests: 1, new: 0, modified: 0, unchanged: 0, gone: 0, failed: 0, bytesReceived: 0 };
    const at = '2026-01-01T00:00:00Z';
    const status = { command: 'crawl', pid: 1, at, startedAt: at, roundsDone: 1, totals, rounds: [], progress: null };
    const lines = topLines(status as unknown as RunStatus, 200, (text) => text).join('\n');
    expect(lines).toContain('· 1 round done');
    expect(lines).toContain('total: 1 request ·');
  });

  it('count groups as a number format of the runtime does', () => {
    const format = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 });
    const numbers = fc.oneof(
      fc.integer(),
      fc.integer({ min: -(10 ** 7), max: 10 ** 7 }).map((tenths) => tenths / 10),
    );
    fc.assert(
      fc.property(numbers, (value) => {
        expect(count(value)).toBe(format.format(value).replace(/^-0$/, '0'));
      }),
    );
    for (const [value, text] of [
      [0.05, '0.1'],
      [0.04, '0'],
      [-1_234.56, '-1,234.6'],
      [999.96, '1,000'],
      [Number.NaN, 'NaN'],
      [1e21, '1e+21'],
    ] as const)
      expect(count(value)).toBe(text);
  });

  it.each([
    [bytes(0), '0 B'],
    [bytes(1023), '1023 B'],
    [bytes(1536), '1.5 KiB'],
    [bytes(5 * 1024 ** 4), '5 TiB'],
    [span(0), '0 ms'],
    [span(0.35), '350 ms'],
    [span(90), '1.5 min'],
    [span(2_592_000), '30 d'],
    [count(1_234_567), '1,234,567'],
    [count(12.345), '12.3'],
  ])('%s', (shown, wanted) => expect(shown).toBe(wanted));
});
