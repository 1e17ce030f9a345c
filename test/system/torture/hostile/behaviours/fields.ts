import { type Asked, answers, type Behaviour, bytes, HTML, PAGE, page, response } from './behaviour.ts';

const fields = (rows: readonly (readonly [string, string, readonly string[]])[]): Behaviour[] =>
  answers(rows.map(([name, ends, all]) => [`field: ${name}`, ends, page(all)] as const));

const typed = (rows: readonly (readonly [string, string, string])[]): Behaviour[] =>
  answers(
    rows.map(
      ([name, ends, type]) => [`type: ${name}`, ends, response('200 OK', [`Content-Type: ${type}`], PAGE)] as const,
    ),
  );

const leading = (rows: readonly (readonly [string, (canary: string) => string])[]): Behaviour[] =>
  answers(
    rows.map(([name, field]) => [`field: ${name}`, 'fetched', ({ canary }: Asked) => page([field(canary)])] as const),
  );

/** Well-framed fields whose values are not what they should be. */
export const FIELDS: readonly Behaviour[] = [
  ...fields([
    ['Last-Modified in 9999', 'fetched', ['Last-Modified: Fri, 31 Dec 9999 23:59:59 GMT']],
    ['Last-Modified in 1600', 'fetched', ['Last-Modified: Sat, 01 Jan 1600 00:00:00 GMT']],
    ['Last-Modified beyond dates', 'fetched', ['Last-Modified: Fri, 31 Dec 999999 23:59:59 GMT']],
    ['Last-Modified of words', 'fetched', ['Last-Modified: yesterday']],
    ['Date in 1970', 'fetched', ['Date: Thu, 01 Jan 1970 00:00:00 GMT']],
    ['ETag of 100 kB', 'headers-too-large', [`ETag: "${'x'.repeat(100_000)}"`]],
    ['ETag of 30 kB', 'fetched', [`ETag: "${'x'.repeat(30_000)}"`]],
    ['ETag without quotes', 'fetched', ['ETag: x"y']],
    ['ETag of 8-bit letters', 'fetched', ['ETag: "\xe4\xff"']],
    ['10,000 cookies', 'headers-too-large', Array.from({ length: 10_000 }, (_, i) => `Set-Cookie: c${i}=${i}`)],
    ['1,000 cookies', 'fetched headers-too-large', Array.from({ length: 1000 }, (_, i) => `Set-Cookie: c${i}=${i}`)],
    ['a cookie for everyone', 'fetched', ['Set-Cookie: a=b; Domain=com; Path=/']],
    ['Refresh to itself', 'fetched moved', ['Refresh: 0; url=/']],
    ['X-Robots-Tag of 30 kB', 'fetched', [`X-Robots-Tag: ${'noindex, '.repeat(3300)}`]],
    ['X-Robots-Tag of garbage', 'fetched', ['X-Robots-Tag: \x80\xff:::,,,']],
    ['Content-Disposition with a path', 'fetched', ['Content-Disposition: attachment; filename="../../etc/passwd"']],
    ['Content-Disposition of garbage', 'fetched', ["Content-Disposition: attachment; filename*=UTF-9''%ff%zz"]],
    ['Content-Language of garbage', 'fetched', ['Content-Language: \x80\x81, ../../x']],
    ['Cache-Control of a huge age', 'fetched', ['Cache-Control: max-age=99999999999999999999']],
    ['Age of words', 'fetched', ['Age: old', 'Expires: never']],
    ['Vary of everything', 'fetched', ['Vary: *']],
    ['Alt-Svc at another port', 'fetched', ['Alt-Svc: h2="127.99.0.1:25"; ma=99999999']],
    [
      'Strict-Transport-Security',
      'fetched',
      ['Strict-Transport-Security: max-age=99999999; includeSubDomains; preload'],
    ],
    ['Keep-Alive of a huge time', 'fetched', ['Keep-Alive: timeout=99999999999999, max=-1']],
    ['two Content-Types', 'fetched parse-unsupported', ['Content-Type: image/png']],
  ]),
  ...leading([
    ['Refresh to the canary', (canary) => `Refresh: 0; url=${canary}/`],
    ['Link to the canary', (canary) => `Link: <${canary}/>; rel=canonical, <${canary}/next>; rel=next`],
    ['Location of a 200', (canary) => `Location: ${canary}/`],
    ['Content-Location at the canary', (canary) => `Content-Location: ${canary}/`],
    ['Refresh without a time', (canary) => `Refresh: url=${canary}/`],
  ]),
  ...typed([
    ['empty', 'fetched parse-unsupported', ''],
    ['garbage', 'fetched parse-unsupported', ';;;/,=\x80'],
    ['of 30 kB', 'fetched parse-unsupported', `text/${'x'.repeat(30_000)}`],
    ['of 1 MB', 'headers-too-large', `text/html; x=${'x'.repeat(1_000_000)}`],
    ['10,000 parameters', 'fetched headers-too-large', `text/html${';a=b'.repeat(7000)}`],
    ['image/png with HTML', 'parse-unsupported fetched', 'image/png'],
    ['application/pdf with HTML', 'parse-unsupported parse-failed package-missing fetched', 'application/pdf'],
    ['text/plain with HTML', 'fetched', 'text/plain'],
    ['application/octet-stream with HTML', 'fetched parse-unsupported', 'application/octet-stream'],
    ['application/json with HTML', 'fetched parse-unsupported parse-failed', 'application/json'],
    ['application/xml with HTML', 'fetched parse-unsupported parse-failed', 'application/xml'],
    ['application/rss+xml with HTML', 'fetched parse-failed', 'application/rss+xml'],
    ['multipart', 'parse-unsupported fetched', 'multipart/x-mixed-replace; boundary=x'],
    ['an unknown charset', 'fetched', 'text/html; charset=cow'],
    ['a charset of 10 kB', 'fetched', `text/html; charset=${'x'.repeat(10_000)}`],
    ['charset UTF-16 with ASCII', 'fetched', 'text/html; charset=utf-16'],
    ['charset UTF-7', 'fetched', 'text/html; charset=utf-7'],
    ['charset EBCDIC', 'fetched', 'text/html; charset=cp037'],
  ]),
  ...answers([
    ['type: none', 'fetched', response('200 OK', [], PAGE)],
    ['type: none, of zeros', 'parse-unsupported fetched', bytes([], Buffer.alloc(5000))],
    ['type: text/html of zeros', 'parse-unsupported', bytes([HTML], Buffer.alloc(100_000))],
    [
      'type: text/html of a PNG',
      'fetched parse-unsupported',
      bytes([HTML], Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')),
    ],
    [
      'type: text/html of every byte',
      'fetched parse-unsupported',
      bytes([HTML], Buffer.from(Array.from({ length: 65_536 }, (_, i) => i % 256))),
    ],
    [
      'type: PDF of garbage',
      'parse-unsupported parse-failed package-missing',
      bytes(['Content-Type: application/pdf'], Buffer.from('%PDF-1.7 garbage')),
    ],
  ]),
];
