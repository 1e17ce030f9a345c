import parseOffice from '../../../../plugins/parse-office/plugin.ts';
import { findPdfjs } from '../../../../plugins/parse-pdf/pdfjs.ts';
import parsePdf from '../../../../plugins/parse-pdf/plugin.ts';
import { isUrl } from '../../../../src/core/domain/url/canonical/canonical-url.ts';
import type { Parser } from '../../../../src/core/plugin-host/api/plugin-api.ts';
import { samplePage, testHost } from '../../../../src/core/plugin-host/api/plugin-testing.ts';
import { madePdf } from '../../../site/made-pdf.ts';
import { madeZip } from '../../../site/made-zip.ts';
import { type FuzzTarget, holds } from './target.ts';

const MAX_TEXT = 1_000;
const parser = parseOffice.setup(testHost, parseOffice.options!.parse({ maxText: MAX_TEXT })) as Parser;

const relations = (main: string): string =>
  `<Relationships><Relationship Id="rId1" Type="x/officeDocument" Target="${main}"/></Relationships>`;
const packages = (input: Buffer): Buffer[] => [
  input,
  madeZip([{ name: 'content.xml', data: input }]),
  ...['word/document.xml', 'ppt/presentation.xml', 'xl/workbook.xml'].map((main) =>
    madeZip([
      { name: '_rels/.rels', data: relations(main) },
      { name: main, data: input },
      { name: `${main.replace('/', '/_rels/')}.rels`, data: input },
    ]),
  ),
  madeZip([
    { name: 'META-INF/container.xml', data: '<container><rootfile full-path="book.opf"/></container>' },
    {
      name: 'book.opf',
      data: '<package><item id="a" href="a.html" media-type="text/html"/><itemref idref="a"/></package>',
    },
    { name: 'a.html', data: input },
  ]),
];

/** The input as a file, and as the main part of each kind of document. */
const office: FuzzTarget = {
  name: 'office',
  stepsPerByte: 800,
  isSlow: true,
  words: [
    ...['<d:p>', '</d:p>', '<d:t>', '</d:t>', '<d:tbl>', '</d:tbl>', '<d:tc>', '</d:tc>', '<d:numId w:val="1"/>'],
    ...['<w:fldChar w:fldCharType="begin"/>', '<w:fldChar w:fldCharType="end"/>', '<w:instrText>HYPERLINK "/a"'],
    ...['<text:list>', '</text:list>', '<text:p>', '<text:s text:c="9999999"/>', '<office:annotation>', '<draw:page>'],
    ...['<sheet r:id="rId1"/>', '<row>', '<c r="ZZ1" t="s">', '<v>1</v>', '</c>', '</row>', '<sldId r:id="rId1"/>'],
    ...['<h1>', '<a href="http://a.example/">', '</a>', '<script>', '<br/>', 'words ', '&#x', '\0', 'PK\x03\x04'],
  ],
  runs: 60,
  async check(input) {
    for (const body of packages(input)) await checkDocument(parser, body, 'application/epub+zip');
  },
};

async function checkDocument(parser: Parser, body: Buffer, contentType: string): Promise<void> {
  const page = samplePage(body, { contentType });
  try {
    await parser.parse(page);
  } catch (error) {
    holds(error instanceof Error && error.message !== '', 'refusals say why', String(error));
    return;
  }
  const { text, mainText, outlinks } = page.result;
  holds(text.replaceAll('\n', '').length <= MAX_TEXT, 'no more text than the limit', text.length);
  holds(mainText === null || mainText === text, 'all text is content', text);
  for (const { url } of outlinks) holds(isUrl(url), 'absolute URLs', url);
}

/** The input as a file, as one with a lost table of objects, and as the drawing of a page. */
function pdfTarget(): FuzzTarget {
  const parser = parsePdf.setup(testHost, parsePdf.options!.parse({ maxText: MAX_TEXT, maxPages: 20 })) as Parser;
  return {
    name: 'pdf',
    stepsPerByte: 400,
    // A font may name a table of characters, for which the package reads 140 KB of its own: 3.3 million steps.
    moreSteps: (input) => (input.includes('/Encoding') ? 5_000_000 : 0),
    isSlow: true,
    words: [
      ...['%PDF-1.7\n', '%%EOF\n', '1 0 obj\n', 'endobj\n', 'stream\n', 'endstream\n', 'xref\n', 'trailer\n', '1 0 R '],
      ...[
        '<</Type/Catalog/Pages 2 0 R>>',
        '<</Type/Pages/Count 9999999/Kids[2 0 R]>>',
        '/Length 99999999',
        '/Filter[/FlateDecode]',
      ],
      ...['/URI(http://a.example/)', '/Prev 0', '/Root 1 0 R', '<<', '>>', '[', ']', '(', ')', '<feff0041>', '\0'],
      ...[
        'BT ',
        'ET ',
        '/F1 12 Tf ',
        '1 0 0 1 50 700 Tm ',
        '(words) Tj ',
        '[(a)-9999(b)] TJ ',
        'T* ',
        "(x) ' ",
        'q ',
        'Q ',
        '/X1 Do ',
      ],
    ],
    runs: 40,
    async check(input) {
      const drawn = { lines: [], content: { data: input, filters: [] } };
      for (const body of [input, Buffer.concat([Buffer.from('%PDF-1.4\n'), input]), madePdf({ pages: [drawn, drawn] })])
        await checkDocument(parser, body, 'application/pdf');
    },
  };
}

/** The package that reads PDF is optional. */
function hasPdfjs(): boolean {
  try {
    findPdfjs();
    return true;
  } catch {
    return false;
  }
}

export const DOCUMENT_TARGETS: readonly FuzzTarget[] = [office, ...(hasPdfjs() ? [pdfTarget()] : [])];
