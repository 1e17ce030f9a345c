import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DecodeHints, decodeBody, sniffEncoding } from '../../../src/core/plugin-host/parsing/decode.ts';

const html: DecodeHints = { contentType: 'text/html', kind: 'html' };
const bytesOf = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex.replaceAll(' ', ''), 'hex'));
const ascii = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'latin1'));
const join2 = (...parts: Uint8Array[]): Uint8Array => Uint8Array.from(Buffer.concat(parts));
const withMeta = (charset: string, hex: string): Uint8Array =>
  join2(ascii(`<meta charset="${charset}"><p>`), bytesOf(hex));

describe('decodeBody, what is declared', () => {
  it.each([
    ['gbk', 'd6d0cec4', '中文'],
    ['gb2312', 'd6d0cec4', '中文'],
    ['gb18030', '8139ef30 d6d0', '\u3401中'],
    ['big5', 'a4a4a4e5', '中文'],
    ['shift_jis', '93fa967b8cea', '日本語'],
    ['euc-jp', 'c6fccbdcb8ec', '日本語'],
    ['iso-2022-jp', '1b2442467c4b5c386c1b2842', '日本語'],
    ['euc-kr', 'c7d1b1db', '한글'],
    ['windows-1251', 'cff0e8e2e5f2', 'Привет'],
    ['koi8-r', 'f0d2c9d7c5d4', 'Привет'],
    ['windows-1252', '8093949980', '€“”™€'],
    ['iso-8859-1', '8093949980', '€“”™€'],
    ['iso-8859-2', 'b1e6ea', 'ąćę'],
    ['windows-1256', 'd3e1c7e3', 'سلام'],
    ['tis-620', 'cac7d1cab4d5', 'สวัสดี'],
    ['utf-8', 'e4b8ade69687', '中文'],
  ])('%s by header, by meta, by http-equiv', (charset, hex, text) => {
    const byHeader = decodeBody(bytesOf(hex), { contentType: `text/html; Charset="${charset}"`, kind: 'html' });
    expect(byHeader.text).toBe(text);
    expect(decodeBody(withMeta(charset, hex), html)).toEqual({
      text: `<meta charset="${charset}"><p>${text}`,
      charset: byHeader.charset,
    });
    const pragma = `<meta http-equiv=Content-Type content='text/html; charset=${charset}'>`;
    expect(decodeBody(join2(ascii(pragma), bytesOf(hex)), html).text).toBe(pragma + text);
  });

  it.each<[string, Uint8Array, Partial<DecodeHints>, string, string]>([
    ['byte order mark over header', bytesOf('efbbbf c3a9'), { contentType: 'text/html; charset=gbk' }, 'utf-8', 'é'],
    ['UTF-16LE by its mark', bytesOf('fffe 61002d4e'), {}, 'utf-16le', 'a中'],
    ['UTF-16BE by its mark', bytesOf('feff 00614e2d'), {}, 'utf-16be', 'a中'],
    ['UTF-16 by header', bytesOf('61002d4e'), { contentType: 'text/html;charset=utf-16' }, 'utf-16le', 'a中'],
    ['UTF-16 by meta means UTF-8', withMeta('utf-16', 'c3a9'), {}, 'utf-8', '<meta charset="utf-16"><p>é'],
    [
      'header over meta',
      withMeta('gbk', 'e9'),
      { contentType: 'text/html; charset=latin1' },
      'windows-1252',
      '<meta charset="gbk"><p>é',
    ],
    [
      'an unknown header does not count',
      withMeta('iso-8859-2', 'b1'),
      { contentType: 'text/html; charset=x-none' },
      'iso-8859-2',
      '<meta charset="iso-8859-2"><p>ą',
    ],
    [
      'declared UTF-8 wins over bytes',
      ascii('caf\u00e9 x'),
      { contentType: 'text/html; charset=utf8' },
      'utf-8',
      'caf\ufffd x',
    ],
    [
      'single quotes, second parameter',
      bytesOf('cff0'),
      { contentType: "text/html; v=1; charset='cp1251'" },
      'windows-1251',
      'Пр',
    ],
    ['undeclared and valid as UTF-8', bytesOf('c3a9'), { contentType: null }, 'utf-8', 'é'],
    [
      'undeclared and cut off within a character',
      bytesOf('e697a5e69cace8aa9e20e69687e5ad97e382'),
      { contentType: null },
      'utf-8',
      '日本語 文字\ufffd',
    ],
    [
      'undeclared with a stray byte',
      join2(Uint8Array.from(Buffer.from('été à la plage, déjà vu, où ça? '.repeat(2))), bytesOf('ff')),
      { contentType: null },
      'utf-8',
      `${'été à la plage, déjà vu, où ça? '.repeat(2)}\ufffd`,
    ],
    ['undeclared and not valid', bytesOf('e9'), { contentType: null }, 'windows-1252', 'é'],
    ['nothing at all', bytesOf(''), { contentType: null }, 'utf-8', ''],
    [
      'a refused encoding does not count',
      withMeta('iso-2022-kr', 'c3a9'),
      {},
      'utf-8',
      '<meta charset="iso-2022-kr"><p>é',
    ],
    [
      'XML declaration',
      join2(ascii('<?xml version="1.0" encoding="windows-1251"?>'), bytesOf('cf')),
      { kind: 'xml' },
      'windows-1251',
      '<?xml version="1.0" encoding="windows-1251"?>П',
    ],
    ['meta is no declaration in XML', withMeta('gbk', 'c3a9'), { kind: 'xml' }, 'utf-8', '<meta charset="gbk"><p>é'],
    ['nor in text', withMeta('gbk', 'c3a9'), { kind: 'text' }, 'utf-8', '<meta charset="gbk"><p>é'],
    [
      'UTF-16 XML without a mark',
      Uint8Array.from(Buffer.from('<?xml version="1.0"?><a/>', 'utf16le')),
      { kind: 'xml' },
      'utf-16le',
      '<?xml version="1.0"?><a/>',
    ],
  ])('%s', (_title, bytes, hints, charset, text) => {
    expect(decodeBody(bytes, { ...html, ...hints })).toEqual({ text, charset });
  });

  it('believes a declaration beyond the prescan only where the bytes are not UTF-8', () => {
    const late = (hex: string): Uint8Array => join2(ascii(' '.repeat(3000)), withMeta('gbk', hex));
    expect(decodeBody(late('d6d0'), html).charset).toBe('gbk');
    expect(decodeBody(late('c3a9'), html).charset).toBe('utf-8');
    expect(sniffEncoding(late('c3a9'), html)).toBe('gbk');
    expect(sniffEncoding(bytesOf('d6d0'), html)).toBeNull();
  });
});

describe('decodeBody, any bytes', () => {
  const labels = [
    'utf-8',
    'gbk',
    'big5',
    'shift_jis',
    'iso-2022-jp',
    'euc-kr',
    'utf-16',
    'windows-1252',
    'x-none',
    'hz-gb-2312',
    'x-user-defined',
  ];

  it('never throws, and UTF-8 is decoded as the standard has it', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), fc.constantFrom(...labels), (bytes, label) => {
        expect(typeof decodeBody(bytes, { contentType: `text/html; charset=${label}`, kind: 'html' }).text).toBe(
          'string',
        );
        const utf8 = decodeBody(bytes, { contentType: 'text/plain; charset=utf-8', kind: 'text' });
        if (utf8.charset === 'utf-8') expect(utf8.text).toBe(new TextDecoder().decode(bytes));
      }),
      { numRuns: 500 },
    );
  });

  it('gives back what was encoded', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const decoded = decodeBody(new TextEncoder().encode(text), { contentType: null, kind: 'text' });
        expect(decoded).toEqual({ text: text.replace(/^\ufeff/, ''), charset: 'utf-8' });
      }),
    );
  });

  it('reads a view of a larger buffer', () => {
    const outer = Buffer.from('xxéxx');
    expect(decodeBody(outer.subarray(2, 4), html).text).toBe('é');
  });
});
