import { tmpdir } from 'node:os';
import { deflateSync } from 'node:zlib';
import { loadPackage } from 'incrawl/bundled';
import type { Page, Parser } from 'incrawl/plugin';
import { samplePage, testHost, testPlugin } from 'incrawl/plugin-testing';
import { describe, expect, it } from 'vitest';
import { findPdfjs } from '../../../plugins/parse-pdf/pdfjs.ts';
import plugin from '../../../plugins/parse-pdf/plugin.ts';
import { bookPages, type MadePdf, madePdf } from '../../site/made-pdf.ts';

const isInstalled = ((): boolean => {
  try {
    findPdfjs();
    return true;
  } catch {
    return false;
  }
})();

const URL = 'http://example.org/papers/one.pdf';

async function parsed(body: Uint8Array, options: Readonly<Record<string, unknown>> = {}): Promise<Page['result']> {
  const page = samplePage(body, { url: URL, contentType: 'application/pdf' });
  const parser = (await plugin.setup(testHost, plugin.options!.parse(options))) as Parser;
  await parser.parse(page);
  return page.result;
}

const PAGE = { lines: [{ text: 'Words on a page that are enough for a line of text.', y: 700 }] };
const made = (more: Partial<MadePdf> = {}): Buffer => madePdf({ pages: [PAGE], ...more });

describe.skipIf(!isInstalled)('parse-pdf (skipped unless "incrawl packages install pdfjs" was run)', () => {
  it('keeps the contract of parsers', async () => {
    await testPlugin(plugin);
  });

  it('reads what a PDF says about itself', async () => {
    const result = await parsed(
      made({
        lang: 'en-GB',
        info: {
          Title: 'Überblick (2024)',
          Author: 'Ada Lovelace; Charles Babbage',
          Subject: 'On engines',
          Keywords: 'engine, analysis; notes',
          CreationDate: "D:20240301120000+01'00'",
          ModDate: 'D:20240302120000Z',
        },
      }),
    );
    expect(result).toMatchObject({
      title: 'Überblick (2024)',
      authors: ['Ada Lovelace', 'Charles Babbage'],
      description: 'On engines',
      keywords: ['engine', 'analysis', 'notes'],
      publishedAt: Date.UTC(2024, 2, 1, 11),
      modifiedAt: Date.UTC(2024, 2, 2, 12),
      lang: 'en-GB',
      metadata: { 'parse-pdf.pages': 1 },
    });
    expect(result.text).toBe(PAGE.lines[0]!.text);
    expect(result.mainText).toBe(result.text);
  });

  it.each([
    ['Ada Lovelace, Charles Babbage', '', 'The Shape of Water'],
    ['A. Lovelace and C. Babbage', '', 'The Shape of Water'],
    ['Lovelace', 'Lovelace', 'The Shape of Water'],
    ['Template for reports', '', 'The Shape of Water'],
    ['report_final_2', '', 'The Shape of Water'],
    ['C:\\\\texts\\\\water', '', 'The Shape of Water'],
    ['The shape of water: a report', '', 'The shape of water: a report'],
    ['A report on rivers', '', 'A report on rivers'],
  ])('stated as %j by authors %j is %j', async (Title, Author, title) => {
    const lines = [
      { text: 'The Shape of Water', y: 760, size: 24 },
      { text: 'A report on rivers', y: 720, size: 16 },
      { text: 'Ada Lovelace, Charles Babbage', y: 700, size: 13 },
      ...Array.from({ length: 6 }, (_, i) => ({
        text: 'Water has the shape of what it stands in, says the report.',
        y: 680 - 14 * i,
      })),
    ];
    expect((await parsed(made({ info: { Title, Author }, pages: [{ lines }] }))).title).toBe(title);
  });

  it('is as stated where the largest text is a word or no larger than the rest', async () => {
    const text = Array.from({ length: 6 }, (_, i) => ({
      text: `Line ${i} of a page of which there are some.`,
      y: 680 - 14 * i,
    }));
    for (const first of [
      { text: 'ACME', y: 760, size: 40 },
      { text: 'A first line', y: 760, size: 10.8 },
    ]) {
      const pdf = made({ info: { Title: 'Yearly figures' }, pages: [{ lines: [first, ...text] }] });
      expect((await parsed(pdf)).title).toBe('Yearly figures');
    }
  });

  it.each(['Microsoft Word - report.docx', 'untitled', 'thesis.dvi', ''])(
    'does not take %j for a title, but the largest text',
    async (Title) => {
      const lines = [
        { text: 'The Shape of Water', y: 760, size: 24 },
        { text: 'A report on rivers.', y: 700 },
      ];
      expect((await parsed(made({ info: { Title }, pages: [{ lines }] }))).title).toBe('The Shape of Water');
    },
  );

  it('puts lines together to headings, paragraphs and lists', async () => {
    const lines = [
      { text: 'Rivers', y: 780, size: 20 },
      { text: 'The first paragraph goes over two lines of the page, with an inter-', y: 740 },
      { text: 'national word that was divided where the line ended.', y: 727 },
      { text: 'The second paragraph begins after a short line, which ended on purpose.', y: 714 },
      { text: '\x95 one item', y: 690 },
      { text: '\x95 another item', y: 676 },
    ];
    const { blocks } = await parsed(made({ pages: [{ lines }] }));
    expect(blocks.map(({ path, text }) => `${path} ${text}`)).toEqual([
      'body>h1:1 Rivers',
      'body>p:1 The first paragraph goes over two lines of the page, with an international word that was divided where the line ended.',
      'body>p:2 The second paragraph begins after a short line, which ended on purpose.',
      'body>ul>li:1 one item',
      'body>ul>li:2 another item',
    ]);
    expect(blocks.every(({ type, certainty }) => type === 'main' && certainty === 1)).toBe(true);
  });

  it('leaves out running heads and page numbers', async () => {
    const { text } = await parsed(madePdf({ pages: bookPages(4, (page, line) => `Line ${line} of page ${page}.`) }));
    expect(text).not.toContain('A book of many pages');
    expect(text.match(/Line/g)).toHaveLength(120);
    expect(text).not.toMatch(/^\d$/m);
  });

  it('resolves links against the URL of the document, with the text that they stand over', async () => {
    const lines = [{ text: 'See the annex here for more.', y: 700 }];
    const rect = [110, 695, 142, 712] as const;
    const links = [
      { uri: '../annex.html#part', rect },
      { uri: 'https://example.com/logo', rect: [400, 100, 450, 120] as const },
      { uri: 'mailto:me@example.org', rect: [72, 100, 90, 120] as const },
    ];
    const { outlinks } = await parsed(made({ pages: [{ lines, links }] }));
    expect(outlinks).toEqual([
      { url: 'http://example.org/annex.html', anchor: 'annex', rel: 'link', nofollow: false },
      { url: 'https://example.com/logo', anchor: '', rel: 'link', nofollow: false },
    ]);
  });

  it('reads Chinese by a predefined character map, and Hebrew in reading order', async () => {
    const cjk = [
      { text: '人人生而自由，在尊严和权利上一律平等，他们赋有理性和', y: 700, font: 'cjk' as const },
      { text: '良心。', y: 686, font: 'cjk' as const },
    ];
    const chinese = await parsed(made({ pages: [{ lines: cjk }] }));
    expect(chinese.text).toBe('人人生而自由，在尊严和权利上一律平等，他们赋有理性和良心。');
    expect(chinese.lang).toBe('zh');
    const written = 'כל בני האדם נולדו';
    const lines = [{ text: [...written].reverse().join(''), y: 700, font: 'unicode' as const }];
    expect((await parsed(made({ pages: [{ lines }] }))).text).toBe(written);
  });

  it('a PDF without text is a page without text', async () => {
    const result = await parsed(made({ pages: [{ lines: [] }] }));
    expect(result).toMatchObject({ text: '', mainText: null, title: null, outlinks: [] });
  });

  it('reads a PDF whose cross-references are wrong, and one that is encrypted without a password', async () => {
    expect((await parsed(made({ hasBrokenXref: true }))).text).toBe(PAGE.lines[0]!.text);
    expect(await parsed(made({ password: '', info: { Title: 'Open' } }))).toMatchObject({
      title: 'Open',
      text: PAGE.lines[0]!.text,
    });
  });

  it('keeps what there is of a PDF that is cut off, and says so', async () => {
    const whole = madePdf({ pages: bookPages(3, (page, line) => `Line ${line} of page ${page}.`) });
    const result = await parsed(whole.subarray(0, whole.lastIndexOf('startxref')));
    expect(result.metadata['parse-pdf.cutOff']).toBe(true);
    expect(result.text).toContain('Line 30 of page 3.');
  });

  it.each<[string, Uint8Array, RegExp]>([
    ['with a password', made({ password: 'secret' }), /encrypted and asks for a password/],
    [
      'cut off near its beginning',
      made().subarray(0, 60),
      /cut off after 60 bytes \(is http\.maxBodyBytes too small\?\)/,
    ],
    ['no PDF', Buffer.from('%PDF-1.4 and %%EOF'), /cannot be read/],
    ['empty', new Uint8Array(), /empty/],
  ])('says what is wrong with a PDF: %s', async (_what, body, fault) => {
    await expect(parsed(body)).rejects.toThrow(fault);
  });

  it('refuses streams that become too large, in any number of filters', async () => {
    const zeros = Buffer.alloc(80 << 20, 0x20);
    const [once, twice] = [deflateSync(zeros), deflateSync(deflateSync(zeros))];
    for (const [data, filters] of [
      [once, ['FlateDecode']],
      [twice, ['FlateDecode', 'FlateDecode']],
    ] as const) {
      const bomb = made({ pages: [{ lines: [], content: { data, filters } }] });
      expect(bomb.length).toBeLessThan(100_000);
      await expect(parsed(bomb, { maxMemory: 128 << 20 })).rejects.toThrow(/more memory .* maxMemory/);
    }
    // What was replaced for it is there again.
    expect(new Uint8Array(128 << 20).length).toBe(128 << 20);
    expect((await parsed(made())).text).toBe(PAGE.lines[0]!.text);
  });

  it('reads so many pages and characters, and says that there are more', async () => {
    const book = madePdf({ pages: bookPages(5, (page, line) => `Line ${line} of page ${page}.`) });
    const some = await parsed(book, { maxPages: 2 });
    expect(some.metadata).toEqual({ 'parse-pdf.pages': 5, 'parse-pdf.truncated': true });
    expect(some.text).toContain('of page 2.');
    expect(some.text).not.toContain('of page 3.');
    const short = await parsed(book, { maxText: 1_000 });
    expect(short.metadata).toMatchObject({ 'parse-pdf.truncated': true });
    expect(short.text.replaceAll('\n', '').length).toBe(1_000);
  });

  it('reads a book of 1,000 pages', { timeout: 120_000 }, async () => {
    const book = madePdf({ pages: bookPages(1_000, (page, line) => `Line ${line} of page ${page}`) });
    const { metadata, text } = await parsed(book);
    expect(metadata).toEqual({ 'parse-pdf.pages': 1_000 });
    expect(text).toContain('Line 30 of page 1000');
  });

  it('leaves the body to those behind it', async () => {
    const page = samplePage(made(), { url: URL, contentType: 'application/pdf' });
    const before = page.body.length;
    await ((await plugin.setup(testHost, plugin.options!.parse({}))) as Parser).parse(page);
    expect(page.body.length).toBe(before);
  });
});

it('without its package an error names the command that installs it', () => {
  const nowhere = { own: tmpdir(), project: tmpdir(), folder: null };
  expect(() => findPdfjs((id, what) => loadPackage(id, what, nowhere))).toThrow('incrawl packages install pdfjs');
});
