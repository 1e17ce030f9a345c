import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { CrawlSummary } from '../../../src/core/steps/round-summary.ts';
import type { InjectSummary } from '../../../src/core/steps/summaries.ts';
import { json, run } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';

let server: Server | null = null;
afterEach(async () => {
  server?.closeAllConnections();
  server?.close();
  server = null;
});

/**
 * Three traps and two pages: a link that loops, a calendar that never ends, a list of parameters that grows at each
 * click.
 */
async function trapSite(log: string[]): Promise<string> {
  server = createServer((request, response): void => {
    const url = new URL(request.url ?? '/', 'http://a.org');
    response.setHeader('content-type', 'text/html');
    if (url.pathname === '/robots.txt' || url.pathname === '/sitemap.xml') {
      response.writeHead(404).end();
      return;
    }
    log.push(`${url.pathname}${url.search}`);
    const year = Number(/^\/cal\/(\d+)\/01/.exec(url.pathname)?.[1] ?? 0);
    const links =
      url.pathname === '/many'
        ? Array.from({ length: url.search === '' ? 100 : 0 }, (_, i) => `/many?q=${i}`)
        : url.pathname === '/'
          ? ['/plain', '/loop/deep/', `/cal/${new Date().getUTCFullYear()}/01/`, '/filter']
          : url.pathname.startsWith('/loop')
            ? [`${url.pathname}loop/deep/`]
            : year > 0
              ? [`/cal/${year + 1}/01/`]
              : url.pathname === '/filter'
                ? [`/filter?${[...url.searchParams, ['f', 'x']].map(([name, value]) => `${name}=${value}`).join('&')}`]
                : [];
    response.end(`<!doctype html><title>${url}</title>${links.map((to) => `<a href="${to}">on</a>`).join(' ')}`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('traps', () => {
  it('end: the crawl comes to its own stop, and each refusal is counted under its reason', async () => {
    const log: string[] = [];
    const origin = await trapSite(log);
    const cwd = workDir();
    const { stoppedBy, totals } = await json<CrawlSummary>(
      ['crawl', `${origin}/`, '--allow', '127.0.0.1', '--delay', '0'],
      { cwd },
    );
    expect(stoppedBy).toBe('nothing-due');
    expect(log).toContain('/plain');
    // The start, the plain page, two rounds of the loop, three years, four lengths of the list.
    expect(log).toHaveLength(11);
    expect(totals.filteredBy).toEqual({
      'urlfilter-traps: path repeats itself': 1,
      'urlfilter-traps: calendar more than 2 years ahead': 1,
      'urlfilter-traps: query with a parameter more than 3 times': 1,
    });
  });

  it('of endless queries: ranked down or filtered out, and counted', async () => {
    const log: string[] = [];
    const origin = await trapSite(log);
    const args = ['--allow', '127.0.0.1', '--delay', '0', '-D', 'outlinks.maxVariantsPerPath=20'];
    const demoting = workDir();
    const crawl = ['crawl', `${origin}/many`, ...args];
    const { totals } = await json<CrawlSummary>(crawl, { cwd: demoting });
    const tooMany = 'outlinks: too many queries of one path';
    expect(totals).toMatchObject({ new: 101, filteredBy: {}, demotedBy: { [tooMany]: 80 } });
    // The first twenty are fetched before the others.
    expect(log.slice(1, 21).sort()).toEqual(Array.from({ length: 20 }, (_, i) => `/many?q=${i}`).sort());
    const why = await json(['explain', `${origin}/many?q=99`], { cwd: demoting });
    expect(why.why).toContain(`It entered the crawl db with a lower score (${tooMany}).`);
    const dropping = await json<CrawlSummary>([...crawl, '-D', 'outlinks.beyondVariants=drop'], { cwd: workDir() });
    expect(dropping.totals).toMatchObject({ new: 21, demotedBy: {} });
    expect(dropping.totals.filteredBy[tooMany]).toBeGreaterThanOrEqual(80);
  });

  it('are shown by check url, and counted by inject', async () => {
    const cwd = workDir();
    const checked = await json(['check', 'url', 'http://a.org/x/en/en/en/'], { cwd });
    expect(checked).toMatchObject({ url: null, reason: 'path repeats itself: "en" 3 times in a row' });
    const input = 'http://a.org/\nhttp://a.org/x/en/en/en/\nhttp://a.org/x/de/de/de/\nmailto:me@a.org\n';
    const injected = await json<InjectSummary>(['inject', '-'], { cwd, input });
    expect(injected).toMatchObject({
      injected: 1,
      filteredBy: { 'urlfilter-traps: path repeats itself': 2, 'url: only http and https URLs are crawled': 1 },
    });
    const reported = await run(['inject', '-'], { cwd, input });
    expect(reported.stdout).toContain('filtered out: 2 urlfilter-traps: path repeats itself\n');
  });
});
