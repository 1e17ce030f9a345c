import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CrawlSummary } from '../../../src/crawler/index.ts';
import { json, run } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';

let server: Server;
let origin = '';
let status = 200;
beforeAll(async () => {
  server = createServer((request, response) => {
    if (request.url === '/robots.txt') return response.writeHead(404).end();
    return response
      .writeHead(status, { 'content-type': 'text/html' })
      .end('<!doctype html><title>Home</title><main><p>Words enough for a page.</main>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

const own = ['--allow', '127.0.0.1', '--delay', '0'];

describe('seeds that cannot be fetched', () => {
  it('are reported with reason and remedy, exit code 1, and are due in the next try', async () => {
    status = 200;
    const cwd = workDir();
    const crawl = ['crawl', `${origin}/`, '--delay', '0'];
    for (let attempt = 0; attempt < 2; attempt++) {
      const { code, stdout } = await run(crawl, { cwd });
      expect(code).toBe(1);
      expect(stdout).toContain('1 of 1 seeds could not be fetched: address-blocked (');
      expect(stdout).toContain(
        `such as ${origin}/; the same command tries again; what changes it: http.allowAddresses`,
      );
    }
    const quiet = await run([...crawl, '--quiet'], { cwd });
    expect(quiet).toMatchObject({ code: 1, stdout: '' });
    expect(quiet.stderr).toMatch(/^incrawl: 1 of 1 seeds could not be fetched: address-blocked .*\n$/);
    const mended = await run([...crawl, '--allow', '127.0.0.1'], { cwd });
    expect(mended.code).toBe(0);
    expect(mended.stdout).not.toContain('seeds');
    expect(await json(['readdb', '--url', `${origin}/`], { cwd })).toMatchObject({ state: 'fetched' });
    // A page that was fetched has a due time of its own.
    expect(await json<CrawlSummary>([...crawl, '--allow', '127.0.0.1'], { cwd })).toMatchObject({
      rounds: [],
      seeds: { urls: 1, fetched: 1, failed: 0, waiting: 0, refused: 0, failures: [] },
    });
  });

  it.each([500, 403, 404])('with status %d are visited again by the same command, and by it alone', async (refusal) => {
    status = refusal;
    const cwd = workDir();
    const crawl = ['crawl', `${origin}/`, ...own];
    const failed = await json<CrawlSummary>(crawl, { cwd, code: 1 });
    expect(failed.seeds).toMatchObject({ urls: 1, fetched: 0, failed: 1, failures: [{ status: refusal, visits: 1 }] });
    status = 200;
    expect(await json<CrawlSummary>(['crawl', ...own], { cwd })).toMatchObject({ rounds: [] });
    expect(await json(['crawl', `${origin}/`, ...own, '--dry-run'], { cwd })).toMatchObject({
      generate: { selected: 1 },
    });
    expect(await json<CrawlSummary>(crawl, { cwd })).toMatchObject({
      totals: { new: 1 },
      seeds: { fetched: 1 },
    });
  });

  it('do not fail a crawl that had another one; what was not visited yet is no failure', async () => {
    status = 200;
    const cwd = workDir();
    // Port 1 is privileged, and nothing listens there.
    writeFileSync(join(cwd, 'seeds.txt'), `${origin}/\nhttp://127.0.0.1:1/\nnot a url\n`);
    const { code, stdout, stderr } = await run(['crawl', 'seeds.txt', ...own], { cwd });
    expect([code, stderr]).toEqual([0, expect.stringContaining('seeds.txt:3: expected a URL')]);
    expect(stdout).toContain('1 of 3 seed lines were refused; warnings say why\n');
    expect(stdout).toContain('1 of 2 seeds could not be fetched: ');
    const later = await json<CrawlSummary>(
      ['crawl', `${origin}/a`, `${origin}/b`, ...own, '--top-n', '1', '--rounds', '1'],
      { cwd: workDir() },
    );
    expect(later.seeds).toMatchObject({ urls: 2, fetched: 1, failed: 0, waiting: 1 });
  });

  it('that are refused are counted by inject; it fails when none is left', async () => {
    const cwd = workDir();
    const lines = ['a', 'b', 'c', 'd e', 'ftp:'].join('\n');
    const some = await run(['inject', '-'], { cwd, input: `http://example.org/\n${lines}\n` });
    expect([some.code, some.stdout]).toEqual([
      0,
      expect.stringMatching(/^1 URL: 1 new\n(?:.*\n)+5 of 6 lines were refused\n$/),
    ]);
    const none = await run(['inject', '-'], { cwd, input: `${lines}\n` });
    expect([none.code, none.stdout]).toEqual([1, expect.stringContaining('\n5 of 5 lines were refused\n')]);
    expect(await run(['inject', '-'], { cwd, input: '# no seeds today\n' })).toMatchObject({ code: 0 });
  });

  it('that are no URLs end a crawl with 1', async () => {
    const cwd = workDir();
    const seeds = ['crawl', '-', ...own];
    const { code, stdout } = await run(seeds, { cwd, input: 'example\nftp:\n' });
    expect([code, stdout]).toEqual([1, expect.stringContaining('2 of 2 seed lines were refused')]);
  });
});
