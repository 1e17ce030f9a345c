import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RecordView } from '../../../src/query/records/views.ts';
import { json, prepare, run } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';
import { served } from '../support/served.ts';

const server = createServer((request, response) => {
  const found = request.url === '/' || request.url === '/page';
  response.writeHead(found ? 200 : 404, { 'content-type': 'text/html' });
  response.end(found ? '<!doctype html><title>Page</title><p>Some words of a page.</p>' : '');
});
const site = served(server);

const row = (url: string, status: string, due: string, metadata = ''): string =>
  `"${url}",${status},${due},Thu Jan 01 00:00:00 UTC 1970,0,86400.0,1.0,0.5,"null","${metadata}"`;

describe('a crawl db of Nutch', { sequential: true }, () => {
  const PAST = 'Sun Nov 01 00:00:00 UTC 2015';
  const FUTURE = 'Sun Jan 01 00:00:00 UTC 2090';
  const cwd = workDir();
  const dump = (): string =>
    [
      'Url,Status code,Status name,Fetch Time,Modified Time,Retries since fetch,Retry interval seconds,Retry interval days,Score,Signature,Metadata',
      row(`${site.origin}/`, '1,"db_unfetched"', PAST),
      row(`${site.origin}/page`, '2,"db_fetched"', PAST, 'Content-Type:text/html|||team:press|||'),
      row(`${site.origin}/missing`, '2,"db_fetched"', PAST),
      row(`${site.origin}/later`, '6,"db_notmodified"', FUTURE),
      row(`${site.origin}/copy`, '7,"db_duplicate"', FUTURE),
      row('ftp://files.example/', '1,"db_unfetched"', PAST),
      '',
    ].join('\n');

  it('comes in whole, what cannot be crawled is named', async () => {
    const imported = await run(['db', 'import', '-'], { cwd, input: dump() });
    expect(imported.code).toBe(0);
    expect(imported.stdout).toContain('5 records');
    expect(imported.stdout).toContain('1 URL skipped');
    expect(imported.stderr).toContain('line 7: ftp://files.example/');
    expect(await json(['state', 'verify'], { cwd })).toMatchObject({ sound: true });
  });

  it('two spellings of a URL are one record; what is known already is so under --merge alone', async () => {
    const own = workDir();
    const rows = [
      row(`${site.origin}/page`, '1,"db_unfetched"', PAST),
      row(`${site.origin}/page#top`, '1,"db_unfetched"', PAST),
    ];
    const input = [dump().split('\n')[0], ...rows, ''].join('\n');
    const first = await run(['db', 'import', '-'], { cwd: own, input });
    expect(first.stdout).toMatch(/^2 records \(1 spelled otherwise: merged with the record of the same URL\), /);
    const again = await run(['db', 'import', '-', '--merge'], { cwd: own, input });
    expect(again.stdout).toMatch(/^2 records \(2 known already: the one visited last is kept\), /);
  });

  it('the crawl goes on with it: due pages are visited, others wait', async () => {
    await prepare(['crawl', '--allow', '127.0.0.1', '--delay', '0'], { cwd });
    const records = await json<RecordView[]>(['readdb', '--dump'], { cwd });
    const states = records.map(({ url, state }) => [url.slice(site.origin.length), state]);
    expect(Object.fromEntries(states)).toEqual({
      '/': 'fetched',
      '/copy': 'duplicate',
      '/later': 'notmodified',
      '/missing': 'gone',
      '/page': 'fetched',
    });
    expect(records.find(({ url }) => url.endsWith('/page'))).toMatchObject({
      title: 'Page',
      metadata: { team: 'press' },
    });
    expect(await json(['state', 'verify'], { cwd })).toMatchObject({ sound: true });
  });

  it('a bad line ends the import by its number, and leaves nothing', async () => {
    const other = workDir();
    const input = dump().replace('db_notmodified",', 'db_notmodified"');
    const refused = await run(['db', 'import'], { cwd: other, input });
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('line 5: the eleven columns') });
    expect(existsSync(join(other, 'crawldb'))).toBe(false);
  });
});
