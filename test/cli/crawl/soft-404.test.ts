import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { ChangeView, CrawlSummary, Explanation, HostView, RecordView } from '../../../src/crawler/index.ts';
import { json, run } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';

const sentence = (name: string, i: number): string =>
  `Here the ${name} tells, in part ${i}, what happened to the mill of the valley and who paid for ${i * 7} of its stones.`;
const page = (name: string, links = ''): string =>
  `<!doctype html><html lang="en"><title>${name}</title><main><h1>${name}</h1><p>${Array.from({ length: 6 }, (_, i) => sentence(name, i)).join('</p><p>')}</p></main>${links}</html>`;
const NEWS = `<!doctype html><title>Lamps</title><main><h1>Lamps</h1>${Array.from({ length: 5 }, (_, i) => `<p>The council has bought lamp number ${i} for its streets, and evenings in town are to be brighter from May on.</p>`).join('')}</main>`;
const SORRY = `<p>We are sorry, but the page that you asked for cannot be found here any more. Perhaps it was moved, or the link that brought you was wrong.</p>`;
const lost = (path: string): string => `<!doctype html><title>Oops</title><main>${SORRY}<p>${path}</p></main>`;

/** A site that says 200 to whatever it is asked; `answersAlike`: and has one page for all of it. */
async function startSite(answersAlike: boolean) {
  const log: string[] = [];
  const links = ['/news', '/old-1', '/old-2'].map((path) => `<a href="${path}">${path}</a>`).join(' ');
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    log.push(path);
    if (path === '/robots.txt') return response.writeHead(404).end();
    const body = answersAlike
      ? page('start', links)
      : path === '/'
        ? page('start', links)
        : path === '/news'
          ? NEWS
          : lost(path);
    return response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { log, origin, close: () => server.close() };
}

const options = ['--allow', '127.0.0.1', '--delay', '0', '--quiet', '-D', 'fetch.soft404=true'];
const probes = (log: readonly string[]): string[] => log.filter((path) => path.includes('incrawl-no-such-page-'));

describe('fetch.soft404', () => {
  it('pages that say what the host says where there is nothing are gone', async () => {
    const site = await startSite(false);
    const cwd = workDir();
    const { totals } = await json<CrawlSummary>(['crawl', `${site.origin}/`, ...options], { cwd });
    site.close();
    expect(probes(site.log)).toHaveLength(1);
    expect(totals).toMatchObject({ new: 2, gone: 2 });
    const record = await json<RecordView>(['readdb', '--url', `${site.origin}/old-1`], { cwd });
    expect(record).toMatchObject({ state: 'gone', httpStatus: 200, lastError: { code: 'soft-404' } });
    expect((await json<RecordView>(['readdb', '--url', `${site.origin}/news`], { cwd })).state).toBe('fetched');
    const { why } = await json<Explanation>(['explain', `${site.origin}/old-1`], { cwd });
    expect(why).toContainEqual(expect.stringContaining('soft-404'));
    const [host] = await json<HostView[]>(['readdb', '--hosts'], { cwd });
    expect(host).toMatchObject({ urls: 4, nothing: { signature: expect.stringMatching(/^[0-9a-f]{16}$/) } });
    expect(await json<ChangeView[]>(['changes', '--kind', 'gone'], { cwd })).toEqual([]);
    expect((await run(['state', 'verify'], { cwd })).code).toBe(0);
  });

  it('a host that answers everything alike loses no page', async () => {
    const site = await startSite(true);
    const cwd = workDir();
    const { totals } = await json<CrawlSummary>(['crawl', `${site.origin}/`, ...options], { cwd });
    site.close();
    expect(totals).toMatchObject({ gone: 0, new: 4 });
    const [host] = await json<HostView[]>(['readdb', '--hosts'], { cwd });
    expect(host).toMatchObject({ nothing: { signature: null } });
  });

  it('sends no probe without it', async () => {
    const site = await startSite(false);
    const cwd = workDir();
    const { totals } = await json<CrawlSummary>(['crawl', `${site.origin}/`, ...options.slice(0, -2)], { cwd });
    site.close();
    expect(probes(site.log)).toEqual([]);
    expect(totals).toMatchObject({ gone: 0, new: 4 });
  });
});
