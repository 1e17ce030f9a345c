import { gzipSync } from 'node:zlib';
import { bombOf } from '../../../../site/bombs.ts';
import { type Answer, type Behaviour, bytes, endless, PAGE, page, reset, response, silent, slow } from './behaviour.ts';

const TEXT = 'Content-Type: text/plain';
const rules = (body: string): string => response('200 OK', [TEXT], body);
const everyone = (line: string): string => rules(`User-agent: *\n${line}\n`);

const rows = (all: readonly (readonly [string, string, Answer])[]): Behaviour[] =>
  all.map(([name, ends, robots]) => ({ name: `robots.txt: ${name}`, ends: ends.split(' '), robots, answer: page() }));

const location = (target: string): string => response('302 Found', [`Location: ${target}`]);

/** A good page behind a robots.txt that is none. */
export const ROBOTS: readonly Behaviour[] = [
  ...rows([
    ['500', 'robots-unreachable', response('500 Internal Server Error')],
    ['503 for ever', 'http-throttled', response('503 Service Unavailable', ['Retry-After: 999999999'])],
    ['429', 'fetched robots-unreachable waits', response('429 Too Many Requests')],
    ['401', 'fetched', response('401 Unauthorized')],
    ['403', 'fetched', response('403 Forbidden')],
    ['204', 'fetched', response('204 No Content')],
    ['206', 'fetched robots-unreachable', response('206 Partial Content', [TEXT], 'User-agent: *')],
    ['304 not asked for', 'fetched robots-unreachable', response('304 Not Modified')],
    ['999', 'fetched robots-unreachable', response('999 Denied')],
    ['closes', 'robots-unreachable', ''],
    ['resets', 'robots-unreachable', reset()],
    ['never answers', 'robots-unreachable', silent()],
    ['never ends', 'robots-unreachable fetched', silent(response('200 OK', [TEXT], 'User-agent: *\n'))],
    ['one byte a second', 'robots-unreachable fetched', slow(response('200 OK', [TEXT]), '#')],
    ['endless', 'fetched', endless(response('200 OK', [TEXT]), 'Disallow: /no\n'.repeat(1000))],
    ['garbage for a status', 'robots-unreachable', 'no such thing\r\n\r\n'],
    ['redirect to itself', 'fetched robots-unreachable', location('/robots.txt')],
    ['redirect to the page', 'fetched', location('/')],
    ['redirect to the canary', 'robots-unreachable', ({ canary }) => location(`${canary}/robots.txt`)],
    ['redirect to file:', 'fetched robots-unreachable', location('file:///etc/passwd')],
    ['redirect without Location', 'fetched robots-unreachable', response('302 Found')],
    ['empty', 'fetched', rules('')],
    ['of 10 MB', 'fetched', rules(`User-agent: *\n${'Disallow: /no\n'.repeat(750_000)}`)],
    ['one line of 10 MB', 'fetched', everyone(`Disallow: /${'x'.repeat(10_000_000)}`)],
    ['binary', 'fetched', bytes([TEXT], Buffer.from(Array.from({ length: 4096 }, (_, i) => (i * 31) % 256)))],
    ['zeros', 'fetched', bytes([TEXT], Buffer.alloc(100_000))],
    ['HTML', 'fetched', page([], PAGE)],
    ['UTF-16', 'robots-denied fetched', bytes([TEXT], Buffer.from('\ufeffUser-agent: *\nDisallow: /\n', 'utf16le'))],
    ['a byte order mark', 'robots-denied', rules('\xef\xbb\xbfUser-agent: *\nDisallow: /\n')],
    ['bare CR', 'robots-denied fetched', rules('User-agent: *\rDisallow: /\r')],
    ['gzip', 'fetched', bytes([TEXT, 'Content-Encoding: gzip'], gzipSync('User-agent: *\nDisallow: /no\n'))],
    ['garbage as gzip', 'robots-unreachable fetched', bytes([TEXT, 'Content-Encoding: gzip'], Buffer.from('no'))],
    ['a bomb of gzip', 'fetched', bytes([TEXT, 'Content-Encoding: gzip'], bombOf('gzip'))],
    ['64 KiB of wildcards', 'fetched', everyone(`Disallow: /${'*a'.repeat(32_768)}$`)],
    // Beyond 32 KiB of wildcards rules are cut at their first one, which denies more.
    ['10,000 rules of wildcards', 'robots-denied', everyone('Disallow: /*a*b*c*d*e*f$\n'.repeat(10_000))],
    ['10,000 groups', 'fetched', rules('User-agent: a\nDisallow: /\n\n'.repeat(10_000))],
    ['everything denied', 'robots-denied', everyone('Disallow: /')],
    ['Crawl-delay 999999', 'fetched waits', everyone('Crawl-delay: 999999')],
    ['Crawl-delay -1', 'fetched', everyone('Crawl-delay: -1')],
    ['Crawl-delay NaN', 'fetched', everyone('Crawl-delay: NaN')],
    ['Crawl-delay Infinity', 'fetched', everyone('Crawl-delay: Infinity')],
    ['Crawl-delay 1e400', 'fetched waits', everyone('Crawl-delay: 1e400')],
    ['Crawl-delay of words', 'fetched', everyone('Crawl-delay: a while')],
    ['sitemaps at the canary', 'fetched', ({ canary }) => everyone(`Sitemap: ${canary}/sitemap.xml`)],
    ['100,000 sitemaps', 'fetched', rules('Sitemap: /sitemap.xml\n'.repeat(100_000))],
  ]),
];
