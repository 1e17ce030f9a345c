import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { questionOf } from '../../../src/cli/readdb/flags.ts';
import { newDatum } from '../../../src/core/domain/crawl/states/datum.ts';
import type { DbStats, Explanation, RecordView } from '../../../src/crawler/index.ts';
import type { GroupView, RecordRow } from '../../../src/crawler/views.ts';
import { openLevelCrawlDb } from '../../../src/store/leveldb/open-rows.ts';
import { visitedDatum } from '../../contracts/crawl-db-exam.ts';
import { json, run, start } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';
import { createGate } from '../support/gate.ts';

const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const HOSTS = ['www.large.example', 'news.large.example', 'small.test'];
let dir = '';

beforeAll(async () => {
  dir = workDir();
  const db = await openLevelCrawlDb({ dir: join(dir, 'db'), log });
  const now = Date.now();
  const puts = HOSTS.flatMap((host, h) =>
    Array.from({ length: 30 }, (_, i) => {
      const url = `https://${host}/page/${i}`;
      if (i >= 20) return newDatum({ url, now, intervalMs: 86_400_000, score: i });
      return visitedDatum(url, {
        state: i % 10 === 9 ? 'gone' : 'fetched',
        failures: i === 5 ? 4 : 0,
        nextFetchAt: now + (i - 2) * 86_400_000,
        lastFetchAt: now - i * 86_400_000,
        fixedIntervalMs: null,
        schedule: {
          intervalMs: 86_400_000,
          belief: { changes: 1 + i + 30 * h, watchedMs: 864_000_000, newUrls: 0, noise: 0, mostMs: null },
        },
        title: i === 0 ? '=HYPERLINK("https://evil.example")' : `Page \u001b[31m${i}`,
      });
    }),
  );
  await db.write({ puts: puts.map((datum) => ({ datum, previous: null })) });
  await db.close();
});

const ask = (...args: string[]) => ['readdb', ...args, '--dir', dir];

describe('readdb', () => {
  it('takes hosts, domains and beginnings of URLs in the spelling of people', async () => {
    const rows = async (...args: string[]): Promise<number> => (await json<RecordView[]>(ask(...args))).length;
    expect(await rows('--host', 'WWW.Large.Example')).toBe(30);
    expect(await rows('--host', 'www.large.example:80')).toBe(30);
    expect(await rows('--domain', 'Large.example')).toBe(60);
    expect(await rows('--prefix', 'HTTPS://Small.test/page/1')).toBe(11);
    expect(await rows('--prefix', 'https://small.test')).toBe(30);
  });

  it('takes content types: one, a group, or a part of the name, beside other conditions', async () => {
    const own = workDir();
    const db = await openLevelCrawlDb({ dir: join(own, 'db'), log });
    const types = ['text/html', 'text/html; charset=utf-8', 'text/html5', 'application/pdf', 'image/png', null];
    const puts = types.map((contentType, i) => visitedDatum(`https://a.example/${i}`, { contentType, depth: i }));
    await db.write({ puts: puts.map((datum) => ({ datum, previous: null })) });
    await db.close();
    const depths = async (...args: string[]): Promise<number[]> =>
      (await json<RecordView[]>(['readdb', ...args, '--dir', own])).map(({ depth }) => depth);
    expect(await depths('--type', 'text/html')).toEqual([0, 1]);
    expect(await depths('--type', 'Image/')).toEqual([4]);
    expect(await depths('--type', 'pdf')).toEqual([3]);
    expect(await depths('--type', 'text/', '--where', 'depth = 0 or depth = 2')).toEqual([0, 2]);
    expect(await depths('--type', 'a"b')).toEqual([]);
    expect((await run(['readdb', '--stats', '--type', 'pdf', '--dir', own])).stderr).toContain(
      '--type chooses records',
    );
  });

  it('--stats, and by host, domain, top-level domain', async () => {
    expect(await json<DbStats>(ask('--stats'))).toMatchObject({
      urls: 90,
      byStatus: { fetched: 54, gone: 6, unfetched: 30 },
      due: 39,
      byDepth: { 0: 30, 2: 60 },
      byType: { 'text/html': 60 },
      byFailures: { 4: 3 },
      estimated: false,
    });
    expect(await json<GroupView[]>(ask('--stats', '--by', 'domain'))).toMatchObject([
      { name: 'large.example', hosts: 2, urls: 60 },
      { name: 'small.test', hosts: 1, urls: 30 },
    ]);
    const { stdout } = await run(ask('--stats'));
    expect(stdout).toMatch(/^types +text\/html: 60$/m);
  });

  it('records by index, with what was read', async () => {
    const { stdout, stderr } = await run(
      ask('--domain', 'large.example', '--status', 'gone', '--format', 'jsonl', '--explain-query'),
    );
    const urls = stdout
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as RecordView).url);
    expect(urls).toEqual(
      ['news', 'www'].flatMap((name) => [19, 9].map((n) => `https://${name}.large.example/page/${n}`)),
    );
    expect(stderr).toBe('Query: index of states, domain large.example: 4 rows read, 4 returned\n');
  });

  it('the most changing pages of a domain, chosen fields', async () => {
    const rows = await json<RecordRow[]>(
      ask(
        '--domain',
        'large.example',
        '--top-n',
        '2',
        '--sort',
        'changesPerDay',
        '--fields',
        'url,changesperday,interval',
      ),
    );
    expect(rows).toEqual([
      { url: 'https://news.large.example/page/18', changesPerDay: expect.closeTo(4.86), interval: 86_400 },
      { url: 'https://news.large.example/page/17', changesPerDay: expect.closeTo(4.76), interval: 86_400 },
    ]);
    const { stdout } = await run(ask('--where', 'failures >= 3', '--fields', 'url,error,title', '--limit', '1'));
    expect(stdout).toBe(
      'url                                error          title\nhttps://news.large.example/page/5  fetch-timeout  Page \\x1b[31m5\n',
    );
  });

  it('--where, --retry-min, --overdue, --sample, --sort', async () => {
    const count = async (...args: string[]) => (await json<unknown[]>(ask(...args))).length;
    expect(await count('--where', 'state = unfetched and host = small.test')).toBe(10);
    expect(await count('--where', 'lastFetchAt < now-15d', '--domain', 'large.example')).toBe(10);
    expect(await count('--retry-min', '4')).toBe(3);
    expect(await count('--retry-min', '5')).toBe(0);
    expect(await count('--overdue')).toBe(6);
    expect(await count('--overdue', '36h')).toBe(3);
    expect(await count('--due', '--host', 'small.test')).toBe(13);
    expect(await count('--sample', '7')).toBe(7);
    const [first] = await json<RecordView[]>(ask('--sort', 'lastFetchAt', '--limit', '1'));
    expect(first?.url).toContain('/page/19');
  });

  it('CSV is safe to open in a spreadsheet', async () => {
    const { stdout } = await run(
      ask('--where', 'title ~ hyperlink', '--fields', 'title,depth', '--format', 'csv', '--limit', '1'),
    );
    expect(stdout).toBe('title,depth\r\n"\'=HYPERLINK(""https://evil.example"")",2\r\n');
  });

  it('a mistake in an expression is reported with its column', async () => {
    const { code, stderr, stdout } = await run(ask('--where', 'dept > 3'));
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toBe('incrawl: where, column 1: there is no field "dept"; did you mean depth?\n');
    expect((await run(ask('--fields', 'url,ttle'))).stderr).toContain('did you mean title?');
  });

  it('without a crawl db there is no answer, and nothing is created', async () => {
    const nowhere = join(workDir(), 'none');
    expect(await run(['readdb', '--json', '--dir', nowhere])).toMatchObject({ code: 2, stdout: '' });
    const { stderr } = await run(['readdb', '--dump', '--dir', nowhere]);
    expect(stderr).toContain(`incrawl: ${nowhere} holds no crawl (is its disk mounted?): --dir names another`);
    expect(existsSync(nowhere)).toBe(false);
  });
});

describe('flags of readdb', () => {
  it.each([
    [{}, { kind: 'stats' }],
    [{ host: 'x' }, { kind: 'records', query: { host: 'x' } }],
    [{ topN: 3 }, { kind: 'records', query: { sort: 'score:desc', limit: 3 } }],
    [
      { topN: 3, sort: 'depth:asc', limit: 2 },
      { kind: 'records', query: { sort: 'depth:asc', limit: 2 } },
    ],
    [{ due: true }, { kind: 'due', forMs: 0 }],
    [
      { overdue: 5, where: 'seed' },
      { kind: 'records', query: { dueForMs: 5, where: 'seed' } },
    ],
    [
      { stats: true, by: 'tld' },
      { kind: 'groups', by: 'tld' },
    ],
    [{ due: true, hosts: true }, { error: '--due and --hosts are two questions: ask one' }],
    [{ stats: true, retryMin: 1 }, { error: '--retry-min chooses records of --dump, not of --stats' }],
    [{ url: 'u', by: 'host' }, { error: '--by goes with --stats' }],
    [{ dump: true, full: true }, { error: '--full goes with --stats, --hosts' }],
  ] as const)('%j', (flags, expected) => {
    expect(questionOf(flags)).toMatchObject(expected);
  });
});

describe('during a long read', () => {
  it('other processes get their answers', async () => {
    const busy = workDir();
    const db = await openLevelCrawlDb({ dir: join(busy, 'db'), log });
    const title = 'x'.repeat(4_000);
    const puts = Array.from({ length: 100 }, (_, i) => ({
      datum: visitedDatum(`https://a.example/${i}`, { title }),
      previous: null,
    }));
    await db.write({ puts });
    await db.close();
    // 400 kB into a pipe without a reader.
    const reader = createGate();
    reader.closeAfter(0);
    const dump = start(['readdb', '--dump', '--format', 'jsonl', '--dir', busy], { reader });
    try {
      await dump.saying(/a\.example/);
      expect(await json<DbStats>(['readdb', '--dir', busy])).toMatchObject({ urls: 100 });
      const explained = await json<Explanation>(['explain', 'https://a.example/1', '--dir', busy]);
      expect(explained.record?.url).toBe('https://a.example/1');
      const refused = await run(['duplicates', 'near', 'https://a.example/1', '--dir', busy]);
      expect([refused.code, refused.stderr]).toEqual([5, expect.stringContaining(String(process.pid))]);
    } finally {
      reader.open();
    }
    const { stdout, code } = await dump.finished;
    expect([code, stdout.trimEnd().split('\n').length]).toEqual([0, 100]);
    expect(existsSync(join(busy, 'db.sock'))).toBe(false);
  });
});

/** A start page with links to pages whose answers wait for the gate. */
async function startHeldSite() {
  const gate = createGate();
  gate.closeAfter(0);
  let onAsked = (): void => {};
  const asked = new Promise<void>((resolve) => {
    onAsked = resolve;
  });
  const server = createServer((request, response) => {
    const answer = (): void => {
      response.setHeader('content-type', 'text/html');
      response.end(`<title>The start</title>${[1, 2, 3].map((n) => `<a href="/page/${n}">page ${n}</a>`).join(' ')}`);
    };
    if (request.url === '/robots.txt' || request.url === '/sitemap.xml') response.writeHead(404).end();
    else if (request.url === '/') answer();
    else {
      onAsked();
      gate.pass(answer);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    letGo: gate.open,
    close: () => server.close(),
  };
}

describe('while a crawl runs', () => {
  it('it answers questions; commands that write are refused with its pid', async () => {
    const site = await startHeldSite();
    const cwd = workDir();
    const network = ['--delay', '0', '--allow', '127.0.0.1', '--contact', 'test@example.org'];
    const crawl = start(['crawl', '-', ...network], { cwd, input: `${site.origin}/\n` });
    try {
      await site.asked;
      expect(await json<DbStats>(['readdb', '--stats'], { cwd })).toMatchObject({ urls: 4, leased: 3 });
      const record = await json<RecordView>(['readdb', '--url', `${site.origin}/`], { cwd });
      expect(record).toMatchObject({ state: 'fetched', title: 'The start' });
      expect(await json<RecordView[]>(['readdb', '--dump'], { cwd })).toHaveLength(4);
      const seeds = await run(['readdb', '--where', 'seed', '--fields', 'url', '--explain-query'], { cwd });
      expect(seeds.stdout).toContain(`${site.origin}/`);
      expect(seeds.stderr).toBe('Query: pass over the records, everything: 4 rows read, 1 returned\n');
      expect(await json(['explain', `${site.origin}/page/2`], { cwd })).toMatchObject({ admitted: true });
      expect(await json<unknown[]>(['changes'], { cwd })).toHaveLength(1);
      const refused = await run(['due', 'touch', `${site.origin}/`], { cwd });
      expect(refused.code).toBe(5);
      expect(refused.stderr).toContain(`process ${process.pid}`);
      const bad = await run(['readdb', '--where', 'dept = 1'], { cwd });
      expect([bad.code, bad.stderr]).toEqual([2, expect.stringContaining('did you mean depth?')]);
    } finally {
      site.letGo();
    }
    expect((await crawl.finished).code).toBe(0);
    site.close();
    expect(await json<DbStats>(['readdb', '--stats'], { cwd })).toMatchObject({
      urls: 4,
      byStatus: { fetched: 4 },
    });
  });
});
