import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CrawlSummary, RecordView } from '../../../src/crawler/index.ts';
import { json, run } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';
import { served } from '../support/served.ts';

const sentence = (name: string, i: number): string =>
  `Here the ${name} says, in part ${i}, what happened to the mill of the valley and who paid for ${i * 7} of its stones.`;
const page = (name: string, links = ''): string =>
  `<title>${name}</title><main><h1>${name}</h1><p>${Array.from({ length: 6 }, (_, i) => sentence(name, i)).join('</p><p>')}</p></main>${links}`;
const LOGIN = `<title>Members</title><main><h1>Please log in</h1><p>This part of the library is for its members. Give
 the name on your card and the password that the desk has sent you, or ask the desk for a new one on weekdays.</p></main>`;

let session = 'first';
const site = served(
  createServer((request, response) => {
    const path = request.url ?? '/';
    if (path === '/robots.txt') return response.writeHead(404).end();
    response.setHeader('content-type', 'text/html; charset=utf-8');
    const isMember = request.headers.cookie === `sid=${session}`;
    if (path.startsWith('/login') || (path === '/essay' && !isMember)) return response.end(LOGIN);
    if (path === '/letters' && !isMember) return response.writeHead(302, { location: `/login?next=${path}` }).end();
    return response.end(page(path, path === '/' ? '<a href="/essay">e</a><a href="/letters">l</a>' : ''));
  }),
);

describe('a site behind a form login', () => {
  it('is never taken for its login page, and goes on after the next login', async () => {
    const cwd = workDir();
    const host = site.origin.slice('http://'.length);
    const entry = `cookies: true, secretsOverHttp: true, delay: 0, login: ${site.origin}/login`;
    writeFileSync(join(cwd, 'incrawl.yaml'), `hosts:\n  - { match: "${host}", ${entry} }\n`);
    writeFileSync(join(cwd, 'seeds.txt'), `${site.origin}/login\n${site.origin}/\n`);
    const login = async (sid: string): Promise<string> => {
      writeFileSync(join(cwd, 'cookies.txt'), `127.0.0.1\tFALSE\t/\tFALSE\t0\tsid\t${sid}\n`);
      return (await run(['cookies', 'import', 'cookies.txt'], { cwd })).stdout;
    };
    const crawl = (code = 0) =>
      json<CrawlSummary>(['crawl', 'seeds.txt', '--allow', '127.0.0.1', '--quiet'], { cwd, code });
    const met = {
      failed: 2,
      failures: [
        {
          ...{ code: 'login-required', status: expect.any(Number), visits: 1 },
          ...{ url: expect.stringContaining(site.origin), message: `answered as its login page ${site.origin}/login` },
        },
        { code: 'login-required', visits: 1 },
      ],
    };
    const record = (path: string) => json<RecordView>(['readdb', '--url', `${site.origin}${path}`], { cwd });
    expect((await crawl(1)).totals).toMatchObject(met);
    for (const path of ['/essay', '/letters']) {
      expect(await record(path)).toMatchObject({ lastError: { code: 'login-required' }, title: null });
    }
    expect(await record('/login')).toMatchObject({ state: 'fetched', title: 'Members' });
    expect(await login('first')).toBe('1 cookie imported; 2 pages that waited for a login are due.\n');
    expect((await crawl()).totals).toMatchObject({ failed: 0, failures: [] });
    const essay = await record('/essay');
    expect(essay).toMatchObject({ state: 'fetched', lastError: null, title: '/essay' });
    // The session ends.
    session = 'second';
    for (const path of ['/essay', '/letters']) await run(['due', 'touch', `${site.origin}${path}`], { cwd });
    expect((await crawl(1)).totals).toMatchObject(met);
    for (const path of ['/essay', '/letters']) {
      expect(await record(path)).toMatchObject({
        state: 'fetched',
        title: path,
        lastError: { code: 'login-required' },
      });
    }
    expect(await login('second')).toContain('2 pages that waited for a login are due');
    await crawl();
    expect(await record('/essay')).toMatchObject({ lastError: null, digest: essay.digest });
    expect((await run(['state', 'verify'], { cwd })).code).toBe(0);
  });
});
