import type { Page, Parser } from 'incrawl/plugin';
import { samplePage, testHost, testPlugin } from 'incrawl/plugin-testing';
import { describe, expect, it } from 'vitest';
import { type MadePart, madeEpub, madeOffice, madeOpenDocument, madeWord, TYPES } from '../../test/site/made-office.ts';
import { madeZip } from '../../test/site/made-zip.ts';
import plugin from './plugin.ts';

async function parsed(body: Uint8Array, options: Readonly<Record<string, unknown>> = {}): Promise<Page['result']> {
  const page = samplePage(body, { url: 'http://example.org/files/one.docx', contentType: TYPES.word });
  await ((await plugin.setup(testHost, plugin.options!.parse(options))) as Parser).parse(page);
  return page.result;
}

const linesOf = ({ blocks }: Page['result']): string[] => blocks.map(({ path, text }) => `${path} ${text}`);
const linksOf = ({ outlinks }: Page['result']): string[] => outlinks.map(({ url, anchor }) => `${url} ${anchor}`);

const w = (text: string, properties = ''): string =>
  `<w:p><w:pPr>${properties}</w:pPr><w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`;
const word = (content: string, more: Partial<MadePart> = {}, parts: Record<string, MadePart> = {}): Buffer =>
  madeOffice('word', {
    'word/document.xml': { root: 'w:document', content: `<w:body>${content}</w:body>`, ...more },
    ...parts,
  });

it('keeps the contract of parsers', async () => {
  await testPlugin(plugin);
});

it('leaves out what follows elements that are nested too deep, which would take quadratic time', async () => {
  const deep = word(`${w('Before.')}${'<w:x>'.repeat(400_000)}${w('Behind.')}`);
  expect(linesOf(await parsed(deep, { maxRatio: 10_000 }))).toEqual(['body>p:1 Before.']);
});

describe('text documents (docx)', () => {
  it('have headings by styles and outline levels, lists, tables, and text in order', async () => {
    const styles = {
      root: 'w:styles',
      content:
        '<w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>' +
        '<w:style w:styleId="Mine"><w:name w:val="Mine"/><w:basedOn w:val="berschrift1"/></w:style>' +
        '<w:style w:styleId="Loop"><w:basedOn w:val="Loop"/></w:style>',
    };
    const item = '<w:numPr><w:numId w:val="1"/></w:numPr>';
    const result = await parsed(
      word(
        w('Report', '<w:pStyle w:val="Title"/>') +
          w('Part', '<w:pStyle w:val="Mine"/><w:numPr><w:numId w:val="2"/></w:numPr>') +
          w('Deeper', '<w:outlineLvl w:val="1"/>') +
          '<w:p/>' +
          w('Some <![CDATA[&]]> text &amp; more.', '<w:pStyle w:val="Loop"/>') +
          w('one', item) +
          w('two', item) +
          `<w:tbl><w:tr><w:tc>${w('a')}</w:tc><w:tc>${w('b')}</w:tc></w:tr></w:tbl>` +
          w('End.'),
        { references: [['rId1', 'styles', 'styles.xml']] },
        { 'word/styles.xml': styles },
      ),
    );
    expect(linesOf(result)).toEqual([
      'body>h1:1 Report',
      'body>h1:2 Part',
      'body>h2:1 Deeper',
      'body>p:1 Some & text & more.',
      'body>ul>li:1 one',
      'body>ul>li:2 two',
      'body>table>tr>td>p:1 a',
      'body>table>tr>td>p:2 b',
      'body>p:2 End.',
    ]);
    expect(result.title).toBe('Report');
    expect(result.mainText).toBe(result.text);
  });

  it('have hyperlinks, by reference and as fields', async () => {
    const field = (part: string): string => `<w:r><w:fldChar w:fldCharType="${part}"/></w:r>`;
    const result = await parsed(
      word(
        '<w:p><w:r><w:t>See </w:t></w:r><w:hyperlink r:id="rId7"><w:r><w:t>the </w:t></w:r><w:r><w:t>annex</w:t></w:r></w:hyperlink>' +
          '<w:hyperlink w:anchor="below"><w:r><w:t>below</w:t></w:r></w:hyperlink></w:p>' +
          `<w:p>${field('begin')}<w:r><w:instrText> HYPERLINK "https://example.com/a" \\o "tip"</w:instrText></w:r>${field('separate')}` +
          `<w:r><w:t>by field</w:t></w:r>${field('end')}<w:r><w:t> and </w:t></w:r>` +
          '<w:fldSimple w:instr=" HYPERLINK https://example.com/b "><w:r><w:t>simply</w:t></w:r></w:fldSimple></w:p>',
        { references: [['rId7', 'hyperlink', '../annex.pdf#page=2']] },
      ),
    );
    expect(linksOf(result)).toEqual(
      ['http://example.org/annex.pdf the ', 'https://example.com/a by field', 'https://example.com/b simply'].map(
        (each) => each.trimEnd(),
      ),
    );
    expect(result.text).toBe('See the annexbelow\nby field and simply');
  });

  it('leave out what was deleted or moved away, and what stands twice; notes are at the end', async () => {
    const result = await parsed(
      word(
        `<w:p><w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:moveFrom><w:r><w:t>moved</w:t></w:r></w:moveFrom><w:r><w:t>Kept</w:t></w:r></w:p>
        <w:p><mc:AlternateContent><mc:Choice><w:t>once</w:t></mc:Choice><mc:Fallback><w:t>once</w:t></mc:Fallback></mc:AlternateContent></w:p>`,
        { references: [['rId2', 'footnotes', 'footnotes.xml']] },
        {
          'word/footnotes.xml': {
            root: 'w:footnotes',
            content: `<w:footnote w:type="separator">${w('---')}</w:footnote><w:footnote>${w('A note.')}</w:footnote>`,
          },
        },
      ),
    );
    expect(result.text).toBe('Kept\nonce\nA note.');
  });

  it('say who wrote them, when, and on what', async () => {
    const result = await parsed(
      madeWord(
        ['Mae hen wlad fy nhadau yn annwyl i mi.'],
        '<dc:title>A title</dc:title><dc:creator>Ada Lovelace; Charles Babbage</dc:creator><dc:language>cy_GB</dc:language>' +
          '<cp:keywords>one, two</cp:keywords><dc:description>What it is</dc:description>' +
          '<dcterms:created>2024-03-01T11:00:00Z</dcterms:created><dcterms:modified>2024-03-02T11:00:00Z</dcterms:modified>',
      ),
    );
    expect(result).toMatchObject({
      title: 'A title',
      authors: ['Ada Lovelace', 'Charles Babbage'],
      keywords: ['one', 'two'],
      description: 'What it is',
      lang: 'cy-GB',
      publishedAt: Date.UTC(2024, 2, 1, 11),
      modifiedAt: Date.UTC(2024, 2, 2, 11),
    });
  });
});

it('slides (pptx) come in their order, without what repeats on each and without hidden ones', async () => {
  const shape = (type: string, text: string): string =>
    `<p:sp><p:nvSpPr><p:nvPr>${type === '' ? '' : `<p:ph type="${type}"/>`}</p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:txBody></p:sp>`;
  const slide = (content: string, show = ''): MadePart => ({
    root: `p:sld${show}`,
    content,
    references: [['rId1', 'hyperlink', 'https://example.com/more']],
  });
  const linked =
    '<p:sp><p:txBody><a:p><a:r><a:rPr><a:hlinkClick r:id="rId1"/></a:rPr><a:t>more</a:t></a:r></a:p></p:txBody></p:sp>';
  const result = await parsed(
    madeOffice('slides', {
      'ppt/presentation.xml': {
        root: 'p:presentation',
        content:
          '<p:sldIdLst><p:sldId id="256" r:id="rId3"/><p:sldId id="257" r:id="rId1"/><p:sldId id="258" r:id="rId2"/></p:sldIdLst>',
        references: [
          ['rId1', 'slide', 'slides/slide1.xml'],
          ['rId2', 'slide', '/ppt/slides/slide2.xml'],
          ['rId3', 'slide', 'slides/slide3.xml'],
        ],
      },
      'ppt/slides/slide1.xml': slide(shape('title', 'Second') + shape('body', 'point') + shape('sldNum', '2') + linked),
      'ppt/slides/slide2.xml': slide(shape('title', 'Hidden'), ' show="0"'),
      'ppt/slides/slide3.xml': slide(shape('ctrTitle', 'First') + shape('subTitle', 'of a talk')),
    }),
  );
  expect(linesOf(result)).toEqual([
    'body>section>h2:1 First',
    'body>section>p:1 of a talk',
    'body>section>h2:2 Second',
    'body>section>ul>li:1 point',
    'body>section>p:2 more',
  ]);
  expect(linksOf(result)).toEqual(['https://example.com/more more']);
});

it('workbooks (xlsx) have their shown sheets, shared texts, dates and links', async () => {
  const result = await parsed(
    madeOffice('workbook', {
      'xl/workbook.xml': {
        root: 'workbook',
        content:
          '<sheets><sheet name="Prices" r:id="rId1"/><sheet name="Secret" state="hidden" r:id="rId2"/><sheet name="Other" r:id="rId3"/></sheets>',
        references: [
          ['rId1', 'worksheet', 'worksheets/sheet1.xml'],
          ['rId2', 'worksheet', 'worksheets/sheet2.xml'],
          ['rId3', 'worksheet', 'worksheets/sheet3.xml'],
          ['rId4', 'sharedStrings', 'sharedStrings.xml'],
          ['rId5', 'styles', 'styles.xml'],
        ],
      },
      'xl/sharedStrings.xml': {
        root: 'sst',
        content: '<si><t>Item</t></si><si><r><t>Ap</t></r><r><t>ple</t></r><rPh><t>reading</t></rPh></si>',
      },
      'xl/styles.xml': {
        root: 'styleSheet',
        content:
          '<numFmts><numFmt numFmtId="170" formatCode="[$-409]d\\-mmm"/><numFmt numFmtId="171" formatCode="0.0 &quot;days&quot;"/></numFmts>' +
          '<cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="170"/><xf numFmtId="171"/></cellXfs>',
      },
      'xl/worksheets/sheet1.xml': {
        root: 'worksheet',
        content:
          '<sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" t="inlineStr"><is><t>Since</t></is></c></row>' +
          '<row r="2"><c r="A2" t="s"><v>1</v></c><c r="B2"><v>1.25</v></c><c r="C2" s="1"><v>45352</v></c><c r="D2" s="2"><v>45352.5</v></c>' +
          '<c r="E2" s="3"><v>3</v></c><c r="F2" t="str"><f>HYPERLINK("https://example.com/f","x")</f><v>formula</v></c><c r="G2" t="b"><v>1</v></c></row></sheetData>' +
          '<hyperlinks><hyperlink ref="A2" r:id="rId1"/></hyperlinks>',
        references: [['rId1', 'hyperlink', 'https://example.com/apple']],
      },
      'xl/worksheets/sheet2.xml': { root: 'worksheet', content: '<sheetData><row><c><v>42</v></c></row></sheetData>' },
      'xl/worksheets/sheet3.xml': { root: 'worksheet', content: '<sheetData/>' },
    }),
  );
  expect(result.text).toBe('Prices\nItem\nSince\nApple\n1.25\n2024-03-01\n2024-03-01 12:00\n3\nformula\nTRUE\nOther');
  expect(linksOf(result)).toEqual(['https://example.com/apple Apple', 'https://example.com/f formula']);
});

it('OpenDocument files have headings, lists, tables, links and metadata, without changes and comments', async () => {
  const result = await parsed(
    madeOpenDocument(
      '<office:text><text:tracked-changes><text:p>old</text:p></text:tracked-changes>' +
        '<text:h text:outline-level="2">Heading</text:h><text:p>One<text:s text:c="2"/>two<text:line-break/>three' +
        '<office:annotation><text:p>remark</text:p></office:annotation></text:p>' +
        '<text:list><text:list-item><text:p>item</text:p></text:list-item></text:list>' +
        '<table:table table:name="T"><table:table-row table:number-rows-repeated="1000000"><table:table-cell><text:p>cell</text:p></table:table-cell></table:table-row></table:table>' +
        '<text:p><text:a xlink:href="../next.odt">next</text:a> <text:a xlink:href="#below">below</text:a></text:p></office:text>',
      '<dc:title>Title</dc:title><meta:initial-creator>Ada</meta:initial-creator><dc:creator>Bob</dc:creator>' +
        '<meta:creation-date>2024-03-01T11:00:00Z</meta:creation-date><meta:keyword>k</meta:keyword>',
    ),
  );
  expect(linesOf(result)).toEqual([
    'body>h2:1 Heading',
    'body>p:1 One two\nthree',
    'body>ul>li>p:1 item',
    'body>table>tr>td>p:1 cell',
    'body>p:2 next below',
  ]);
  expect(linksOf(result)).toEqual(['http://example.org/files/next.odt next']);
  expect(result).toMatchObject({
    title: 'Title',
    authors: ['Ada'],
    keywords: ['k'],
    publishedAt: Date.UTC(2024, 2, 1, 11),
  });
});

it('EPUBs have their chapters in the order of the spine, and links that lead out of them', async () => {
  const result = await parsed(
    madeEpub(
      [
        '<script>no()</script><h1>One</h1><p>First&nbsp;words.<a href="c%201.xhtml">inside</a></p><a id="x"/>',
        '<h2>Two</h2><blockquote>More <a href="https://example.com/x">outside</a></blockquote>',
      ],
      '<dc:title>Book</dc:title><dc:creator>Ada</dc:creator><dc:creator>Bob</dc:creator><dc:language>en</dc:language><dc:date>2020-05-01</dc:date>' +
        '<meta property="dcterms:modified">2021-05-01T00:00:00Z</meta>',
    ),
  );
  expect(linesOf(result)).toEqual([
    'body>section>h1:1 One',
    'body>section>p:1 First words.inside',
    'body>section>h2:1 Two',
    'body>section>blockquote:1 More outside',
  ]);
  expect(linksOf(result)).toEqual(['https://example.com/x outside']);
  expect(result).toMatchObject({
    title: 'Book',
    authors: ['Ada', 'Bob'],
    lang: 'en',
    publishedAt: Date.UTC(2020, 4, 1),
    modifiedAt: Date.UTC(2021, 4, 1),
  });
});

describe('what cannot be read says why', () => {
  const part = (data: string | Uint8Array, more = {}): Buffer =>
    madeZip([
      { name: 'META-INF/manifest.xml', data: '<manifest/>' },
      { name: 'content.xml', data, ...more },
    ]);
  const whole = madeWord(['words']);
  it.each<[string, Uint8Array, RegExp]>([
    ['nothing', new Uint8Array(), /is empty/],
    ['no ZIP file', Buffer.from('<html>'), /is no ZIP file/],
    [
      'a file before 2007, or encrypted',
      Buffer.from('d0cf11e0a1b11ae1000000', 'hex'),
      /encrypted, or of a format before 2007/,
    ],
    ['cut off', whole.subarray(0, whole.length - 30), /cut off after \d+ bytes \(is http\.maxBodyBytes too small\?\)/],
    ['another ZIP file', madeZip([{ name: 'a.txt', data: 'a' }]), /neither an office document nor an EPUB/],
    ['encrypted parts', part('<x/>', { isEncrypted: true }), /is encrypted/],
    [
      'an encrypted OpenDocument',
      madeOpenDocument('', '', [{ name: 'META-INF/manifest.xml', data: '<m:encryption-data/>' }]),
      /encrypted with a password/,
    ],
    [
      'a book with DRM',
      madeEpub(['<p>x'], '', [
        { name: 'META-INF/encryption.xml', data: '<e:CipherReference URI="OPS/text/c%200.xhtml"/>' },
      ]),
      /encrypted \(DRM\)/,
    ],
    ['a bomb', part(Buffer.alloc(40 << 20, 0x20)), /content\.xml becomes \d+ times as large/],
    [
      'a bomb that lies about its size',
      part(Buffer.alloc(4 << 20, 0x20), { claimedSize: 100 }),
      /too many bytes|size/i,
    ],
    ['a path out of it', madeZip([{ name: '../../etc/passwd', data: 'x' }]), /cannot be read/],
  ])('%s', async (_what, body, fault) => {
    await expect(parsed(body)).rejects.toThrow(fault);
  });

  it('too many parts, too many bytes', async () => {
    const many = madeZip(Array.from({ length: 20 }, (_, i) => ({ name: `${i}`, data: '' })));
    await expect(parsed(many, { maxEntries: 10 })).rejects.toThrow(/20 parts, more than the option maxEntries/);
    const large = part(Buffer.from(Array.from({ length: 400_000 }, (_, i) => `<a${i}/>`).join('')));
    await expect(parsed(large, { maxBytes: 1 << 20 })).rejects.toThrow(
      /larger when decompressed than the option maxBytes/,
    );
  });
});

it('texts beyond the limit are cut, and said to be', async () => {
  const result = await parsed(madeWord(Array.from({ length: 100 }, () => 'x'.repeat(100))), { maxText: 1_000 });
  expect(result.text.replaceAll('\n', '')).toHaveLength(1_000);
  expect(result.metadata).toEqual({ 'parse-office.truncated': true });
});

it('nesting of hundreds of elements is read, and no deeper than a page may be', async () => {
  const deep = `${'<text:list><text:list-item>'.repeat(400)}<text:p>deep</text:p>${'</text:list-item></text:list>'.repeat(400)}`;
  expect((await parsed(madeOpenDocument(`<office:text>${deep}</office:text>`))).text).toBe('deep');
});

it('entities that a document declares are not expanded', async () => {
  const bomb = madeZip([
    { name: 'content.xml', data: '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><body><p>&b;</p></body>' },
  ]);
  expect((await parsed(bomb)).text).not.toContain('aaaa');
});
