import { answers, type Behaviour, HTML, PAGE, page, response } from './behaviour.ts';

const FULL = [HTML, `Content-Length: ${PAGE.length}`];

const statuses = (ends: string, ...all: readonly string[]): Behaviour[] =>
  answers(all.map((status) => [`status ${status}`, ends, response(status, FULL, PAGE)] as const));

const waits = (rows: readonly (readonly [string, string])[]): Behaviour[] =>
  ['429 Too Many Requests', '503 Service Unavailable'].flatMap((status) =>
    answers(
      rows.map(
        ([name, value]) =>
          [
            `status ${status.slice(0, 3)}, Retry-After ${name}`,
            'http-throttled http-server-error http-client-error',
            response(status, [`Retry-After: ${value}`, 'Content-Length: 0']),
          ] as const,
      ),
    ),
  );

/** Statuses that a page rarely has, with a page as the body. */
export const STATUSES: readonly Behaviour[] = [
  ...statuses('fetched', '201 Created', '202 Accepted', '203 Non-Authoritative', '207 Multi', '226 IM Used'),
  ...statuses('fetched parse-unsupported protocol-error', '204 No Content', '205 Reset Content'),
  ...statuses('body-incomplete', '206 Partial Content'),
  ...statuses('gone', '404 Not Found', '410 Gone'),
  ...statuses('http-client-error', '400 Bad Request', '401 Unauthorized', '402 Payment', '403 Forbidden', '405 Method'),
  ...statuses('http-client-error', '406 Not Acceptable', '407 Proxy', '408 Timeout', '409 Conflict', '411 Length'),
  ...statuses('http-client-error', '412 Condition', '413 Too Large', '414 Too Long', '415 Type', '416 Range', '417 No'),
  ...statuses('http-client-error', '418 Teapot', '421 Misdirected', '422 Content', '423 Locked', '424 Failed'),
  ...statuses(
    'http-client-error',
    '425 Too Early',
    '426 Upgrade',
    '428 Condition',
    '431 Fields',
    '451 Legal',
    '499 Odd',
  ),
  ...statuses('http-server-error', '500 Internal', '501 Method', '502 Gateway', '504 Gateway', '505 Version'),
  ...statuses('http-server-error', '506 Variant', '507 Storage', '508 Loop', '510 Extended', '511 Network', '599 Odd'),
  ...statuses('http-throttled http-server-error http-client-error', '429 Too Many', '503 Unavailable'),
  ...waits([
    ['huge', '99999999999999999999'],
    ['of 31 years', '999999999'],
    ['negative', '-5'],
    ['a fraction', '0.5'],
    ['garbage', 'soon'],
    ['empty', ''],
    ['in 9999', 'Fri, 31 Dec 9999 23:59:59 GMT'],
    ['in 1970', 'Thu, 01 Jan 1970 00:00:00 GMT'],
    ['NaN', 'NaN'],
  ]),
  ...answers([
    [
      'status 401 with a challenge of 30 kB',
      'http-client-error',
      response('401 No', [`WWW-Authenticate: Basic realm="${'x'.repeat(30_000)}"`]),
    ],
    [
      'status 206 with a range',
      'body-incomplete',
      response('206 Partial', [HTML, 'Content-Range: bytes 0-9/9000'], PAGE.slice(0, 10)),
    ],
    ['status 206 with a broken range', 'body-incomplete', response('206 Partial', [HTML, 'Content-Range: cow'], PAGE)],
    ['status 200 with a range', 'fetched body-incomplete', page(['Content-Range: bytes 0-9/9000'])],
    ['status 404 of 10 MB', 'gone', response('404 Not Found', [HTML], 'x'.repeat(10_000_000))],
  ]),
];
