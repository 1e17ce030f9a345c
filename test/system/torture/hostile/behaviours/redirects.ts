import { type Answer, type Asked, answers, type Behaviour, response } from './behaviour.ts';

type Target = string | ((asked: Asked) => string);

const to =
  (target: Target, status = '301 Moved Permanently'): Answer =>
  (asked) =>
    response(status, [`Location: ${typeof target === 'string' ? target : target(asked)}`]);
const targets = (rows: readonly (readonly [string, string, Target])[]): Behaviour[] =>
  answers(rows.map(([name, ends, target]) => [`redirect: ${name}`, ends, to(target)] as const));

/** `/` leads to `/2`, and each further path to the next number. */
const chain = to(({ path }) => `/${(Number(path.slice(1)) || 1) + 1}`, '302 Found');

export const REDIRECTS: readonly Behaviour[] = [
  ...targets([
    ['to itself', 'redirect-invalid moved', '/'],
    ['to the canary', 'moved', ({ canary }) => `${canary}/`],
    [
      'to the canary by user information',
      'moved',
      ({ origin, canary }) => `${origin}@${canary.slice('http://'.length)}/`,
    ],
    ['to the canary without a scheme', 'moved', ({ canary }) => `${canary.slice('http:'.length)}/`],
    ['to the canary by backslashes', 'moved redirect-invalid', ({ canary }) => canary.replaceAll('/', '\\')],
    ['to the canary in hexadecimal', 'moved', ({ canary }) => canary.replace('127.99.0.1', '0x7f630001')],
    ['to the canary as a number', 'moved', ({ canary }) => canary.replace('127.99.0.1', '2137194497')],
    ['to the canary in IPv6', 'moved', ({ canary }) => canary.replace('127.99.0.1', '[::ffff:127.99.0.1]')],
    ['to address 0.0.0.0', 'moved', ({ canary }) => canary.replace('127.99.0.1', '0.0.0.0')],
    ['to a link-local address', 'moved', 'http://169.254.169.254/latest/meta-data/'],
    ['to file:', 'moved redirect-invalid', 'file:///etc/passwd'],
    ['to javascript:', 'moved redirect-invalid', 'javascript:alert(1)'],
    ['to data:', 'moved redirect-invalid', 'data:text/html,hello'],
    ['to mailto:', 'moved redirect-invalid', 'mailto:a@example.org'],
    ['to ftp:', 'moved redirect-invalid', 'ftp://127.99.0.1/'],
    ['to an unknown scheme', 'moved redirect-invalid', 'cow://milk'],
    ['to user information', 'moved redirect-invalid', ({ origin }) => origin.replace('://', '://user:secret@')],
    ['to port 25', 'moved', 'http://127.77.0.1:25/'],
    ['to port 0', 'moved redirect-invalid', 'http://127.77.0.1:0/'],
    ['to port 99999', 'redirect-invalid moved', 'http://127.77.0.1:99999/'],
    ['to no host', 'redirect-invalid moved', 'http:///'],
    ['to a broken IPv6', 'redirect-invalid moved', 'http://[::1/'],
    ['empty', 'redirect-invalid moved', ''],
    ['of blanks', 'redirect-invalid moved', '   '],
    ['a fragment only', 'redirect-invalid moved', '#top'],
    ['a query only', 'moved redirect-invalid', '?again'],
    ['non-ASCII', 'moved', '/\xe4\xf6\xfc'],
    ['with a percent that is none', 'moved', '/%zz%'],
    ['with a NUL', 'protocol-error', '/a\0b'],
    ['with a further field by CR and LF', 'moved', '/a\r\nSet-Cookie: a=b'],
    ['with a bare CR', 'protocol-error', '/a\rb'],
    ['escaped CR and LF', 'moved', '/a%0d%0aSet-Cookie:%20a=b'],
    ['of 20 kB', 'moved redirect-invalid', `/${'x'.repeat(20_000)}`],
    ['of 1 MB', 'headers-too-large', `/${'x'.repeat(1_000_000)}`],
    ['up a hundred folders', 'moved redirect-invalid', `${'../'.repeat(100)}etc/passwd`],
  ]),
  ...answers([
    ['redirect: no Location', 'redirect-invalid', response('301 Moved Permanently')],
    ['redirect: two Locations', 'moved redirect-invalid', response('302 Found', ['Location: /a', 'Location: /b'])],
    ['redirect: status 300', 'moved redirect-invalid fetched', response('300 Multiple Choices')],
    ['redirect: status 304 not asked for', 'redirect-invalid protocol-error fetched', response('304 Not Modified')],
    ['redirect: status 305 to the canary', 'moved redirect-invalid', to(({ canary }) => canary, '305 Use Proxy')],
    ['redirect: status 306', 'moved redirect-invalid', to('/a', '306 Switch Proxy')],
    ['redirect: status 308', 'moved', to('/a', '308 Permanent Redirect')],
    ['redirect: status 201 with Location', 'fetched parse-unsupported', to(({ canary }) => canary, '201 Created')],
  ]),
  { name: 'redirect: a chain of 30', ends: ['moved'], answer: chain, others: chainUntil(30) },
  { name: 'redirect: a chain without end', ends: ['moved'], answer: chain, others: chain },
  { name: 'redirect: a circle of two', ends: ['moved', 'redirect-invalid'], answer: to('/b'), others: to('/') },
  {
    name: 'redirect: growing at each step',
    ends: ['moved'],
    answer: to('/x'),
    others: to(({ path }) => `${path}${path}`.slice(0, 8000)),
  },
];

function chainUntil(last: number): Answer {
  return (asked) =>
    Number(asked.path.slice(1)) >= last || typeof chain !== 'function' ? response('404 Gone') : chain(asked);
}
