import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { SHIPPED_PLUGINS } from '../support/shipped-plugins.ts';
import { DAY, PAGE, seed, visiting } from './visiting.ts';

const TYPE = { 'content-type': 'text/html', etag: '"1"', 'last-modified': 'Thu, 01 Jan 2026 00:00:00 GMT' };
const PART = PAGE.slice(0, 1000);

/** Ways in which the first part of a page comes without the rest. */
const CUTS: Readonly<Record<string, (response: ServerResponse) => void>> = {
  'a Content-Length larger than what came': (response) => {
    response.writeHead(200, { ...TYPE, 'content-length': PAGE.length, connection: 'close' });
    response.write(PART, () => response.socket?.end());
  },
  'chunks without their end': (response) => {
    response.writeHead(200, TYPE);
    response.write(PART, () => response.socket?.end());
  },
  'a connection that is reset': (response) => {
    response.writeHead(200, { ...TYPE, 'content-length': PAGE.length });
    // The part must have been read, or the reset would discard it.
    response.write(PART, () => setTimeout(() => response.socket?.resetAndDestroy(), 50));
  },
  'a gzip stream that was cut at the origin': (response) => {
    const coded = gzipSync(PAGE);
    const part = coded.subarray(0, coded.length - 20);
    response.writeHead(200, { ...TYPE, 'content-encoding': 'gzip', 'content-length': part.length }).end(part);
  },
  'a 206 that was not asked for': (response) => {
    const headers = { ...TYPE, 'content-range': `bytes 0-999/${PAGE.length}`, 'content-length': PART.length };
    response.writeHead(206, headers).end(PART);
  },
};

const folder = mkdtempSync(join(tmpdir(), 'incrawl-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A setting that names the shipped plugins with one of the two transports. */
function over(transport: string): string {
  const file = join(folder, `${transport}.yaml`);
  writeFileSync(file, SHIPPED_PLUGINS.replace('  - protocol-http\n', `  - ${transport}\n`));
  return `plugins.file=${file}`;
}

describe.each(['protocol-http', 'protocol-undici'] as const)('over %s', (transport) => {
  describe.each(Object.keys(CUTS))('%s', (name) => {
    const reason = name.includes('206') ? 'unspecified' : 'disconnect';

    it('is retried, then taken, marked, and replaced by the whole page', async () => {
      let isWhole = false;
      const { crawler, origin, asked, pass } = await visiting((request, response) => {
        if (request.headers['if-none-match'] !== undefined) return void response.writeHead(304).end();
        if (!isWhole) return CUTS[name]?.(response);
        response.writeHead(200, { ...TYPE, 'content-length': PAGE.length }).end(PAGE);
      }, over(transport));
      const url = `${origin}/`;
      for (const failures of [1, 2]) {
        const { totals } = await crawler.crawl({ ...seed(url), rounds: 1 });
        expect([totals.failed, totals.fetched, totals.new]).toEqual([1, 0, 0]);
        expect(totals.failures).toMatchObject([{ code: 'body-incomplete', visits: 1 }]);
        const failed = { state: 'unfetched', failures, digest: null, lastError: { code: 'body-incomplete' } };
        expect(await crawler.record(url)).toMatchObject(failed);
        pass(failures * DAY);
      }
      // One visit of the two pauses, each twice as long as the one before.
      expect(asked).toHaveLength(2);
      const taken = await crawler.crawl({ rounds: 1 });
      expect([taken.totals.fetched, taken.totals.partial, taken.totals.failed]).toEqual([1, 1, 0]);
      const part = { state: 'fetched', title: 'page', truncated: reason, failures: 0, etag: null, lastModified: null };
      expect(await crawler.record(url)).toMatchObject({ ...part, contentLength: null });
      expect((await crawler.explain(url)).why.join('\n')).toContain('Its stored copy is a part of the page');
      const stored = await crawler.segmentRecord(url);
      expect(stored?.fetched.outcome).toMatchObject({ kind: 'success', truncated: reason });

      // The same part again: nothing is known to have changed, and nothing is learnt from that.
      const before = (await crawler.record(url))?.interval;
      pass(60 * DAY);
      const { totals } = await crawler.crawl({ rounds: 1 });
      expect([totals.unchanged, totals.notModified, totals.partial]).toEqual([0, 0, 1]);
      expect(await crawler.record(url)).toMatchObject({
        truncated: reason,
        interval: before,
        changedAt: expect.anything(),
      });

      isWhole = true;
      pass(60 * DAY);
      await crawler.crawl({ rounds: 1 });
      expect(await crawler.record(url)).toMatchObject({ truncated: null, etag: '"1"', failures: 0 });
    });
  });
});

it('a page that came whole keeps its copy and its validators while its retries fail', async () => {
  let isWhole = true;
  const { crawler, origin, pass } = await visiting((request, response) => {
    if (isWhole) return void response.writeHead(200, { ...TYPE, 'content-length': PAGE.length }).end(PAGE);
    if (request.url === '/') CUTS['chunks without their end']?.(response);
    else response.writeHead(404).end();
  });
  await crawler.crawl({ ...seed(`${origin}/`), rounds: 1 });
  const whole = await crawler.record(`${origin}/`);
  isWhole = false;
  pass(60 * DAY);
  await crawler.crawl({ rounds: 1 });
  const { digest, etag, signature, interval } = whole ?? {};
  const kept = { state: 'fetched', digest, etag, signature, interval, truncated: null, failures: 1 };
  expect(await crawler.record(`${origin}/`)).toMatchObject(kept);
});

it('a part of a page represents no other, and gives its duplicates back', async () => {
  let isCut = false;
  const { crawler, origin, pass } = await visiting((request, response) => {
    response.writeHead(200, { 'content-type': 'text/html', 'content-length': PAGE.length });
    if (isCut && request.url === '/a') response.write(PAGE.slice(0, -20), () => response.destroy());
    else response.end(PAGE);
  });
  const [a, b] = [`${origin}/a`, `${origin}/b`];
  await crawler.crawl({ ...seed(a), rounds: 1 });
  await crawler.crawl({ ...seed(b), rounds: 1 });
  expect(await crawler.record(b)).toMatchObject({ state: 'duplicate', target: a });
  isCut = true;
  for (let visits = 0; visits < 3; visits++) {
    pass(60 * DAY);
    await crawler.crawl({ rounds: 1 });
  }
  expect(await crawler.record(a)).toMatchObject({ truncated: 'disconnect', target: null });
  expect((await crawler.record(b))?.state).not.toBe('duplicate');
  await crawler.dedup({ prefer: ['oldest'], dryRun: false });
  expect((await crawler.record(b))?.state).not.toBe('duplicate');
  isCut = false;
  pass(60 * DAY);
  await crawler.crawl({ rounds: 1 });
  expect(await crawler.record(a)).toMatchObject({ truncated: null });
});
