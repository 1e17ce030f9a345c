import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { bombOf } from '../../../../site/bombs.ts';
import { answers, type Behaviour, bytes, endless, HTML, PAGE, page, reset, silent, slow } from './behaviour.ts';

const CHUNKED = 'Transfer-Encoding: chunked';
const HEAD = page([], '');
const CHUNKED_HEAD = page([CHUNKED], '');
const FIRST = `${PAGE.length.toString(16)}\r\n${PAGE}\r\n`;

const chunks = (rows: readonly (readonly [string, string, string])[]): Behaviour[] =>
  answers(rows.map(([name, ends, body]) => [`chunks: ${name}`, ends, page([CHUNKED], body)] as const));

const coded = (rows: readonly (readonly [string, string, string, Buffer])[]): Behaviour[] =>
  answers(
    rows.map(
      ([name, ends, coding, body]) =>
        [`coding: ${name}`, ends, bytes([HTML, `Content-Encoding: ${coding}`], body)] as const,
    ),
  );

const PLAIN = Buffer.from(PAGE);
const ZIPPED = gzipSync(PAGE.repeat(50));
const BROTLI = brotliCompressSync(Array.from({ length: 20_000 }, (_, i) => (i * 7919) % 65_537).join(' '));
const nested = (times: number): Buffer =>
  Array.from({ length: times }).reduce<Buffer>((inner) => gzipSync(inner), PLAIN);

export const BODIES: readonly Behaviour[] = [
  ...chunks([
    ['a size of letters', 'protocol-error', `zz\r\n${PAGE}\r\n0\r\n\r\n`],
    ['a negative size', 'protocol-error', `-5\r\n${PAGE}\r\n0\r\n\r\n`],
    ['a size of 0x', 'protocol-error', `0x10\r\n${PAGE}\r\n0\r\n\r\n`],
    ['a huge size', 'body-incomplete protocol-error', `fffffffffffffff\r\n${PAGE}`],
    ['a size beyond 64 bits', 'protocol-error', `${'f'.repeat(40)}\r\n${PAGE}`],
    ['no size', 'protocol-error', `\r\n${PAGE}\r\n0\r\n\r\n`],
    ['a size too small', 'protocol-error', `5\r\n${PAGE}\r\n0\r\n\r\n`],
    ['no last chunk', 'body-incomplete', FIRST],
    ['cut within one', 'body-incomplete', `${(PAGE.length + 50).toString(16)}\r\n${PAGE}`],
    ['no CRLF after one', 'protocol-error', `${PAGE.length.toString(16)}\r\n${PAGE}0\r\n\r\n`],
    ['bare LF', 'fetched protocol-error', `${PAGE.length.toString(16)}\n${PAGE}\n0\n\n`],
    ['trailers', 'fetched', `${FIRST}0\r\nX-Trailer: a\r\nContent-Type: image/png\r\n\r\n`],
    ['trailers without an end', 'body-incomplete protocol-error', `${FIRST}0\r\nX-Trailer: a\r\n`],
    [
      'trailers of 1 MB',
      'fetched headers-too-large protocol-error',
      `${FIRST}0\r\nX: ${'x'.repeat(1_000_000)}\r\n\r\n`,
    ],
    [
      'an extension of 1 MB',
      'fetched protocol-error headers-too-large',
      `5;${'x'.repeat(1_000_000)}\r\nwords\r\n0\r\n\r\n`,
    ],
    ['bytes after the last one', 'fetched protocol-error', `${FIRST}0\r\n\r\n${PAGE}`],
  ]),
  ...answers([
    ['chunks: 100,000 of one byte', 'fetched', page([CHUNKED], `${'1\r\nx\r\n'.repeat(100_000)}0\r\n\r\n`)],
    ['chunks: endless', 'fetched', endless(CHUNKED_HEAD, `1000\r\n${'x'.repeat(4096)}\r\n`)],
    ['chunks: one byte a second', 'fetch-timeout', slow(CHUNKED_HEAD, '1\r\nx\r\n')],
    [
      'chunks: endless trailers',
      'protocol-error headers-too-large',
      endless(`${CHUNKED_HEAD}${FIRST}0\r\n`, 'X-T: x\r\n'.repeat(500)),
    ],
    ['body: empty', 'fetched', HEAD],
    ['body: endless', 'fetched', endless(HEAD, 'words and words '.repeat(1000))],
    ['body: one byte a second', 'fetch-timeout', slow(HEAD, 'x')],
    ['body: none comes', 'fetch-timeout', silent(page(['Content-Length: 100'], ''))],
    ['body: half of it, then nothing', 'fetch-timeout', silent(page(['Content-Length: 1000']))],
    ['body: half of it, then a reset', 'body-incomplete fetch-aborted', reset(page(['Content-Length: 1000']))],
    // The client libraries take a reset for the end of such a body: it is one where a server left bytes unread.
    ['body: no length, then a reset', 'fetched body-incomplete fetch-aborted', reset(page())],
    ['body: 10 MB of blanks', 'fetched', page([], ' '.repeat(10_000_000))],
  ]),
  ...coded([
    // Zeros are binary, whatever they are called.
    ['bomb of gzip', 'parse-unsupported', 'gzip', bombOf('gzip')],
    ['bomb of br', 'parse-unsupported', 'br', bombOf('br')],
    ['bomb in two layers', 'parse-unsupported', 'gzip, gzip', bombOf('gzip-gzip')],
    ['gzip five times', 'fetched content-undecodable', 'gzip, gzip, gzip, gzip, gzip', nested(5)],
    ['100 layers named', 'content-undecodable', Array(100).fill('gzip').join(', '), nested(2)],
    ['gzip named, none sent', 'content-undecodable', 'gzip', PLAIN],
    ['br named, none sent', 'content-undecodable', 'br', PLAIN],
    ['deflate named, none sent', 'content-undecodable', 'deflate', PLAIN],
    ['gzip cut', 'body-incomplete', 'gzip', ZIPPED.subarray(0, ZIPPED.length >> 1)],
    ['br cut', 'body-incomplete', 'br', BROTLI.subarray(0, BROTLI.length >> 1)],
    [
      'gzip with a wrong checksum',
      'content-undecodable',
      'gzip',
      Buffer.concat([ZIPPED.subarray(0, -8), Buffer.alloc(8, 7)]),
    ],
    // zlib takes them for a further member (RFC 1952 section 2.2) and refuses its header.
    ['gzip with bytes after it', 'content-undecodable', 'gzip', Buffer.concat([ZIPPED, Buffer.from('bytes after it')])],
    ['gzip in two members', 'fetched', 'gzip', Buffer.concat([ZIPPED, ZIPPED])],
    ['gzip of nothing', 'fetched content-undecodable body-incomplete', 'gzip', Buffer.alloc(0)],
    ['deflate with its header', 'fetched', 'deflate', deflateSync(PAGE)],
    ['raw deflate', 'fetched', 'deflate', deflateRawSync(PAGE)],
    ['identity', 'fetched', 'identity', PLAIN],
    ['unknown', 'content-undecodable fetched', 'cow', PLAIN],
    ['empty', 'fetched', '', PLAIN],
    ['in capitals', 'fetched', 'GZIP', ZIPPED],
    ['of 10 kB', 'content-undecodable fetched', 'x'.repeat(10_000), PLAIN],
  ]),
];
