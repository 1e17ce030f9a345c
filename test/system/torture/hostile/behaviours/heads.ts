import { answers, type Behaviour, endless, PAGE, page, response } from './behaviour.ts';

const CHUNKED = 'Transfer-Encoding: chunked';
const ONE_CHUNK = `${PAGE.length.toString(16)}\r\n${PAGE}\r\n0\r\n\r\n`;
const LENGTH = `Content-Length: ${PAGE.length}`;

const withFields = (rows: readonly (readonly [string, string, readonly string[]])[], group: string): Behaviour[] =>
  answers(rows.map(([name, ends, fields]) => [`${group}: ${name}`, ends, page(fields)] as const));

/** Header sections that are malformed or too large, and lengths that contradict each other. */
export const HEADS: readonly Behaviour[] = [
  ...withFields(
    [
      ['a field of 1 MB', 'headers-too-large', [`X-Long: ${'x'.repeat(1_000_000)}`]],
      ['a name of 1 MB', 'headers-too-large', [`${'x'.repeat(1_000_000)}: 1`]],
      ['a field of 30 kB', 'fetched', [`X-Long: ${'x'.repeat(30_000)}`]],
      ['10,000 fields', 'headers-too-large fetched', Array.from({ length: 10_000 }, (_, i) => `X-${i}: ${i}`)],
      ['3,000 empty fields', 'fetched headers-too-large', Array.from({ length: 3000 }, () => 'X:')],
      ['no colon', 'protocol-error', ['just words']],
      ['an empty name', 'protocol-error', [': value']],
      ['a blank in the name', 'protocol-error', ['X Y: value']],
      ['a blank before the colon', 'protocol-error fetched', ['X-Y : value']],
      ['a NUL in the value', 'protocol-error', ['X-Y: a\0b']],
      ['a NUL in the name', 'protocol-error', ['X\0Y: a']],
      ['control characters', 'protocol-error fetched', ['X-Y: \x01\x02\x1b[31m']],
      ['8-bit letters in the value', 'fetched', ['X-Y: \xe4\xf6\xfc']],
      ['8-bit letters in the name', 'protocol-error', ['X-\xe4: a']],
      ['folded', 'fetched protocol-error', ['X-Y: a\r\n  b\r\n\tc']],
      ['folded in the first line', 'protocol-error fetched', ['\tX-Y: a']],
      ['a bare LF', 'fetched protocol-error', ['X-Y: a\nX-Z: b']],
      ['a bare CR', 'protocol-error', ['X-Y: a\rX-Z: b']],
      ['named __proto__', 'fetched', ['__proto__: a', 'constructor: b', 'toString: c']],
    ],
    'header',
  ),
  ...withFields(
    [
      ['twice the same', 'fetched protocol-error', [LENGTH, LENGTH]],
      ['two different', 'protocol-error', [LENGTH, 'Content-Length: 5']],
      ['a list', 'protocol-error fetched', [`${LENGTH}, ${PAGE.length}`]],
      ['negative', 'protocol-error', ['Content-Length: -1']],
      ['with a plus', 'protocol-error', [`Content-Length: +${PAGE.length}`]],
      ['hexadecimal', 'protocol-error', ['Content-Length: 0x10']],
      ['a fraction', 'protocol-error', ['Content-Length: 10.5']],
      ['words', 'protocol-error', ['Content-Length: many']],
      ['empty', 'protocol-error', ['Content-Length:']],
      ['beyond 64 bits', 'protocol-error', [`Content-Length: ${'9'.repeat(30)}`]],
      ['2 to the 63', 'body-incomplete protocol-error', ['Content-Length: 9223372036854775807']],
      ['with chunks named, none sent', 'protocol-error', [LENGTH, CHUNKED]],
      ['zero, with a body', 'fetched protocol-error', ['Content-Length: 0']],
    ],
    'length',
  ),
  ...answers([
    ['header: none', 'parse-unsupported fetched', `HTTP/1.1 200 OK\r\n\r\n${PAGE}`],
    ['header: bare LF throughout', 'fetched protocol-error', page().replaceAll('\r\n', '\n')],
    ['header: bare CR throughout', 'protocol-error fetch-aborted', page().replaceAll('\r\n', '\r')],
    ['header: endless fields', 'headers-too-large', endless('HTTP/1.1 200 OK\r\n', 'X-More: and more\r\n'.repeat(500))],
    ['header: one endless field', 'headers-too-large', endless('HTTP/1.1 200 OK\r\nX: ', 'x'.repeat(16_384))],
    ['header: an endless name', 'headers-too-large', endless('HTTP/1.1 200 OK\r\n', 'x'.repeat(16_384))],
    ['length: with chunks, both sent', 'fetched protocol-error', page([LENGTH, CHUNKED], ONE_CHUNK)],
    ['length: too short by half', 'fetched protocol-error', page([`Content-Length: ${PAGE.length >> 1}`])],
    ['length: too long', 'body-incomplete', page([`Content-Length: ${PAGE.length + 100}`])],
    ['chunks: with HTTP/1.0', 'fetched protocol-error', page([CHUNKED], ONE_CHUNK).replace('HTTP/1.1', 'HTTP/1.0')],
    ['chunks: an unknown transfer coding', 'fetched protocol-error', page(['Transfer-Encoding: cow'])],
    ['chunks: gzip as transfer coding', 'fetched protocol-error', page(['Transfer-Encoding: gzip'])],
    ['chunks: named twice', 'fetched protocol-error', page([CHUNKED, CHUNKED], ONE_CHUNK)],
    ['length: of a 404', 'gone', response('404 Not Found', ['Content-Length: 1000000'], 'gone')],
  ]),
];
