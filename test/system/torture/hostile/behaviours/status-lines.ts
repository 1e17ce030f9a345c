import { type Answer, answers, type Behaviour, endless, HTML, PAGE, page, silent } from './behaviour.ts';

const MEGABYTE = 'x'.repeat(1_000_000);

const line = (text: string): string => `${text}\r\nConnection: close\r\n${HTML}\r\n\r\n${PAGE}`;
const lines = (rows: readonly (readonly [string, string, string])[]): Behaviour[] =>
  answers(rows.map(([name, ends, text]) => [`status line: ${name}`, ends, line(text)] as const));

/** Interim responses before what comes last. */
const interim = (status: string, count: number, last: Answer & string): string =>
  `HTTP/1.1 ${status}\r\n\r\n`.repeat(count) + last;

export const STATUS_LINES: readonly Behaviour[] = [
  ...lines([
    ['garbage', 'protocol-error', 'no such thing'],
    ['empty', 'protocol-error', ' '],
    ['version 9.9', 'protocol-error fetched', 'HTTP/9.9 200 OK'],
    ['version 1.0', 'fetched', 'HTTP/1.0 200 OK'],
    ['version 0.9', 'protocol-error fetched', 'HTTP/0.9 200 OK'],
    ['version 2', 'protocol-error', 'HTTP/2 200'],
    ['version 2.0', 'protocol-error fetched', 'HTTP/2.0 200 OK'],
    ['version of letters', 'protocol-error', 'HTTP/a.b 200 OK'],
    ['lower case', 'protocol-error', 'http/1.1 200 OK'],
    ['no blank after the version', 'protocol-error', 'HTTP/1.1200 OK'],
    ['two blanks', 'protocol-error fetched', 'HTTP/1.1  200 OK'],
    ['a tab', 'protocol-error', 'HTTP/1.1\t200 OK'],
    ['status 0', 'protocol-error', 'HTTP/1.1 0 Zero'],
    ['status 000', 'protocol-error', 'HTTP/1.1 000 Zero'],
    ['status 20', 'protocol-error', 'HTTP/1.1 20 OK'],
    ['status 99', 'protocol-error', 'HTTP/1.1 99 Low'],
    ['status 099', 'protocol-error', 'HTTP/1.1 099 Low'],
    ['status 299', 'fetched', 'HTTP/1.1 299 Fine'],
    ['status 399', 'redirect-invalid protocol-error', 'HTTP/1.1 399 Odd'],
    ['status 600', 'protocol-error http-server-error', 'HTTP/1.1 600 Odd'],
    ['status 999', 'protocol-error http-server-error http-client-error', 'HTTP/1.1 999 Denied'],
    ['status 1000', 'protocol-error', 'HTTP/1.1 1000 High'],
    ['status of 20 digits', 'protocol-error', 'HTTP/1.1 20000000000000000000 High'],
    ['negative', 'protocol-error', 'HTTP/1.1 -200 OK'],
    ['hexadecimal', 'protocol-error', 'HTTP/1.1 0xC8 OK'],
    ['with a fraction', 'protocol-error fetched', 'HTTP/1.1 200.5 OK'],
    ['words', 'protocol-error', 'HTTP/1.1 OK'],
    ['no status', 'protocol-error', 'HTTP/1.1'],
    ['no reason', 'fetched', 'HTTP/1.1 200'],
    ['an empty reason', 'fetched', 'HTTP/1.1 200 '],
    ['8-bit letters in the reason', 'fetched protocol-error', 'HTTP/1.1 200 \xc4\xd6\xdc'],
    ['a NUL in the reason', 'fetched protocol-error', 'HTTP/1.1 200 O\0K'],
    ['a bare CR in the reason', 'fetched protocol-error', 'HTTP/1.1 200 O\rK'],
    ['a reason of 1 MB', 'headers-too-large', `HTTP/1.1 200 ${MEGABYTE}`],
  ]),
  ...answers([
    ['status line: endless', 'headers-too-large', endless('HTTP/1.1 200 O', 'k'.repeat(16_384))],
    ['1xx: 100 before the page', 'fetched', interim('100 Continue', 1, page())],
    ['1xx: 10,000 of 100', 'fetched protocol-error headers-too-large', interim('100 Continue', 10_000, page())],
    ['1xx: 100 without end', 'protocol-error fetch-timeout', endless('', interim('100 Continue', 500, ''))],
    ['1xx: 100, then nothing', 'fetch-timeout', silent(interim('100 Continue', 1, ''))],
    ['1xx: 100, then the end', 'fetch-aborted', interim('100 Continue', 1, '')],
    ['1xx: 101 not asked for', 'fetch-aborted protocol-error', interim('101 Switching Protocols', 1, page())],
    [
      '1xx: 101 with Upgrade',
      'fetch-aborted protocol-error',
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n\x81\x02hi',
    ],
    ['1xx: 102 three times', 'fetched', interim('102 Processing', 3, page())],
    [
      '1xx: 103 with links to the canary',
      'fetched',
      ({ canary }) => `HTTP/1.1 103 Early Hints\r\nLink: <${canary}/style.css>; rel=preload\r\n\r\n${page()}`,
    ],
    [
      '1xx: 103 of 40 kB',
      'fetched headers-too-large',
      `HTTP/1.1 103 Early Hints\r\nX: ${'x'.repeat(40_000)}\r\n\r\n${page()}`,
    ],
    ['1xx: 199', 'fetched protocol-error', interim('199 Odd', 1, page())],
  ]),
];
