import { describe, expect, it } from 'vitest';
import { pageType } from '../../../src/core/plugin-host/parsing/live-page.ts';
import { madeZip } from '../../site/made-zip.ts';

const ascii = (text: string): Uint8Array => new TextEncoder().encode(text);
const utf16 = (text: string, mark = ''): Uint8Array => Buffer.from(mark + text, 'utf16le');
const hex = (digits: string): Uint8Array => Buffer.from(digits.replaceAll(' ', ''), 'hex');
const PNG = hex('89504e47 0d0a1a0a 0000000d 49484452 00000010 00000010 08060000 001ff3ff 61');
const GIF = hex('47494638 39610100 01008000 00ffffff 00000021 f9040100 00000000 2c000000 00010001 00000202 4401003b');
const GZIP = hex('1f8b0800 00000000 000303');
const PDF = ascii('%PDF-1.7\n1 0 obj << /Type /Catalog >> endobj');
const PAGE = '<!doctype html><title>A page</title><p>With some words in it.</p>';

describe('a body is what its server calls it', () => {
  it.each<[string, string | null, Uint8Array, string]>([
    ['a page', 'Text/HTML; charset=utf-8', ascii(PAGE), 'text/html'],
    ['a page with stray controls', 'text/html', ascii(`${PAGE}\0\0\0`), 'text/html'],
    ['a page filled up with zeros', 'text/html', ascii(`\0\0${PAGE.replaceAll(' ', '\0\0 ')}`), 'text/html'],
    ['nearly nothing, and half of it controls', 'text/html', ascii('a\0b\0'), 'text/html'],
    ['a text in UTF-16 by the header', 'text/plain; charset=utf-16le', utf16('plain words'), 'text/plain'],
    ['a page in UTF-16 by its mark', 'text/html', utf16(PAGE, '\ufeff'), 'text/html'],
    ['a feed in UTF-16 by its declaration', 'text/xml', utf16('<?xml version="1.0"?><rss/>'), 'text/xml'],
    ['a text in ISO-2022-JP', 'text/plain', ascii('\x1b$B%3\x1b(B \x1b$B%3\x1b(B \x1b$B%3\x1b(B'), 'text/plain'],
    ['a PDF', 'application/pdf', PDF, 'application/pdf'],
    ['a picture', 'image/png', PNG, 'image/png'],
  ])('%s', (_title, declared, body, expected) => {
    expect(pageType(declared, body)).toBe(expected);
  });
});

describe('binary bodies declared as text are not read as text', () => {
  it.each<[string, string, Uint8Array, string]>([
    ['a picture called a page', 'text/html; charset=utf-8', PNG, 'application/octet-stream'],
    ['a picture called a text', 'text/plain', GIF, 'application/octet-stream'],
    ['a PDF called a page', 'text/html', PDF, 'application/pdf'],
    ['a PDF called XHTML', 'application/xhtml+xml', PDF, 'application/pdf'],
    ['an archive called XML', 'text/xml', GZIP, 'application/gzip'],
    ['zeros', 'text/html', new Uint8Array(2_000), 'application/octet-stream'],
  ])('%s', (_title, declared, body, expected) => {
    expect(pageType(declared, body)).toBe(expected);
  });
});

describe('documents are known by their content where the declared type says nothing', () => {
  const odt = madeZip([{ name: 'mimetype', data: 'application/vnd.oasis.opendocument.text', isStored: true }]);
  const epub = madeZip([{ name: 'mimetype', data: 'application/epub+zip\n', isStored: true }]);
  const otherEpub = madeZip([
    { name: 'META-INF/container.xml', data: '<container/>' },
    { name: 'mimetype', data: 'application/epub+zip', isStored: true },
  ]);
  const ooxml = (part: string): Uint8Array =>
    madeZip([
      { name: '[Content_Types].xml', data: '<Types/>' },
      { name: part, data: '<x/>' },
    ]);
  const OOXML = 'application/vnd.openxmlformats-officedocument';
  it.each<[string, string | null, Uint8Array, string]>([
    ['a PDF for saving', 'application/octet-stream', PDF, 'application/pdf'],
    ['a PDF for download', 'application/force-download; name=x', PDF, 'application/pdf'],
    ['a PDF without a type', null, PDF, 'application/pdf'],
    ['a PDF behind other bytes', 'binary/octet-stream', ascii(`\n\n${'%'.repeat(900)}%PDF-1.4\n`), 'application/pdf'],
    ['a page that is about PDFs', null, ascii('<p>begins with %PDF-'), 'text/html'],
    ['an OpenDocument', null, odt, 'application/vnd.oasis.opendocument.text'],
    ['an EPUB in another order', 'application/octet-stream', otherEpub, 'application/epub+zip'],
    ['an EPUB as ZIP', 'application/zip', epub, 'application/epub+zip'],
    [
      'a text document as ZIP',
      'application/x-zip-compressed',
      ooxml('word/document.xml'),
      `${OOXML}.wordprocessingml.document`,
    ],
    ['a workbook', 'application/octet-stream', ooxml('xl/workbook.xml'), `${OOXML}.spreadsheetml.sheet`],
    ['slides', 'application/octet-stream', ooxml('ppt/presentation.xml'), `${OOXML}.presentationml.presentation`],
    ['another ZIP', 'application/zip', madeZip([{ name: 'word/document.xml', data: '' }]), 'application/zip'],
    ['another ZIP without a type', null, madeZip([{ name: 'a', data: 'b' }]), 'application/octet-stream'],
    ['nearly nothing of a ZIP', null, ascii('PK\x03\x04'), 'application/octet-stream'],
    ['bytes for saving', 'application/octet-stream', PNG, 'application/octet-stream'],
    ['bytes of no kind', 'binary/octet-stream', ascii(PAGE), 'binary/octet-stream'],
  ])('%s', (_title, declared, body, expected) => {
    expect(pageType(declared, body)).toBe(expected);
  });
});

describe('a feed is a feed, and a page a page, also where their server says "page" or "XML"', () => {
  const xhtml =
    '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x.dtd"><html xmlns="http://www.w3.org/1999/xhtml">';
  it.each<[string, string, string]>([
    [
      'text/html; charset=utf-8',
      '\ufeff<?xml version="1.0"?>\n<!-- by > hand --><rss version="2.0">',
      'application/xml',
    ],
    ['text/html', '<feed xmlns="http://www.w3.org/2005/Atom">', 'application/xml'],
    ['text/html', '<?xml version="1.0"?><rdf:RDF xmlns:rdf="x">', 'application/xml'],
    ['text/html', `<?xml version="1.0"?>${xhtml}`, 'text/html'],
    ['text/html', '<feedback>', 'text/html'],
    ['text/html', '<!-- <rss> --><p>On feeds</p>', 'text/html'],
    ['text/html', '<!-- never closed <rss>', 'text/html'],
    ['text/html', '<!---->'.repeat(70), 'text/html'],
    ['text/xml', `<?xml version="1.0"?>\n${xhtml}`, 'application/xhtml+xml'],
    ['application/xml', '<html>', 'application/xhtml+xml'],
    ['application/xml', '<rss version="2.0">', 'application/xml'],
    ['image/svg+xml', '<html>', 'image/svg+xml'],
  ])('%s, %s', (declared, body, expected) => {
    expect(pageType(declared, ascii(body))).toBe(expected);
  });
});

describe('without a meaningful type the first bytes decide', () => {
  it.each<[string | null, Uint8Array, string]>([
    [null, ascii(PAGE), 'text/html'],
    ['application/octet-stream', ascii('<?xml version="1.0"?><rss/>'), 'application/xml'],
    ['nonsense', ascii('just words'), 'text/plain'],
    ['', PNG, 'application/octet-stream'],
  ])('%j', (declared, body, expected) => {
    expect(pageType(declared, body)).toBe(expected);
  });
});
