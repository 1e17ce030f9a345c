import { describe, expect, it } from 'vitest';
import type { Exchange } from '../../../src/core/ports/fetch-protocol.ts';
import type { FetchedRecord } from '../../../src/core/ports/segment-store.ts';
import { AnswerKeeper, type OwnCrawl } from '../../../src/operations/requisites/answer-keeper.ts';
import { requisiteParser } from '../../../src/operations/requisites/requisite-parser.ts';
import { createMemoryCrawlDb } from '../../memory/crawl-db.ts';
import { createMemorySeenUrls } from '../../memory/seen-urls.ts';
import { createMemorySegmentStore } from '../../memory/segment-store.ts';

const NOW = Date.UTC(2026, 5, 1);
const PAGE = 'http://a.org/';

function exchange(status: number, text: string, headers: Readonly<Record<string, string>> = {}): Exchange {
  const body = Buffer.from(text);
  const head = { status, statusText: '', httpVersion: '1.1', headers, remoteAddress: null };
  return {
    head: { ...head, rawHeaders: Object.entries(headers).flat() },
    ...{ wireBody: body, body, truncated: false, bodyBytes: body.length, receivedBytes: body.length, ms: 1 },
  };
}

/** A crawl of requisites of pages on `a.org`, as `same-host` has it. */
function crawl(limit = 100) {
  const db = createMemoryCrawlDb();
  const segments = createMemorySegmentStore();
  const store = { db, seen: createMemorySeenUrls({ hasMany: (urls) => db.hasMany(urls) }) };
  const apply = (url: string) => ({ url: url.startsWith(PAGE) ? url : null, reason: null });
  const own = {
    runtime: { clock: { now: () => NOW, sleep: async () => {} } },
    plugins: { urls: { apply }, policy: { schedule: { initialIntervalMs: 1_000 } } },
    pages: { parser: () => requisiteParser },
    segments,
    store: () => store,
  } as unknown as OwnCrawl;
  const open = () => new AnswerKeeper(own, limit);
  const kept = async (id: string): Promise<FetchedRecord[]> => {
    const segment = await segments.open(id, 'read');
    const records: FetchedRecord[] = [];
    for await (const record of segment.fetched()) records.push(record);
    return records;
  };
  return { db, segments, open, kept };
}

const linesOf = (records: readonly FetchedRecord[]): string[] =>
  records.map(({ url, outcome }) => `${outcome.kind} ${url}`);

describe('answers to browsers', () => {
  it('are visits of the crawl of requisites, each with a record, a lease and a page that it is for', async () => {
    const { db, segments, open, kept } = crawl();
    const keeper = open();
    const css = exchange(200, '@import "b.css";', { 'content-type': 'text/css', etag: '"1"' });
    const moved = exchange(302, 'moved', { location: '/c.js' });
    await Promise.all([
      keeper.keep({ url: `${PAGE}a.css`, from: PAGE, exchange: css }),
      keeper.keep({ url: `${PAGE}m.js`, from: PAGE, exchange: moved }),
      keeper.keep({ url: `${PAGE}none.js`, from: PAGE, exchange: exchange(404, 'no such file') }),
      keeper.keep({ url: 'http://other.org/x.js', from: PAGE, exchange: exchange(200, 'x') }),
    ]);
    await keeper.close();
    const [info] = await segments.list();
    const records = await kept(info!.id);
    expect(linesOf(records)).toEqual([`success ${PAGE}a.css`, `redirect ${PAGE}m.js`, `gone ${PAGE}none.js`]);
    expect(records[0]!.outcome).toMatchObject({ validators: { etag: '"1"' }, contentType: 'text/css', at: NOW });
    const segment = await segments.open(info!.id, 'read');
    expect(Buffer.from((await segment.readResponse(records[0]!.warc!)).body!).toString()).toBe('@import "b.css";');
    expect(segment.hasParsed(0)).toBe(true);
    expect(await db.get(`${PAGE}a.css`)).toMatchObject({ state: 'unfetched', referrer: PAGE });
    expect((await db.leases([`${PAGE}a.css`]))[0]).toMatchObject({ segment: info!.id });
    expect(await db.segments()).toMatchObject([{ id: info!.id, state: 'generated' }]);
  });

  it('are kept once for each URL, whatever pages come later, and none of what another round has on its list', async () => {
    const { segments, open, kept } = crawl();
    const [first, second] = [open(), open()];
    const url = `${PAGE}app.js`;
    await first.keep({ url, from: PAGE, exchange: exchange(200, 'one') });
    await first.keep({ url, from: `${PAGE}2`, exchange: exchange(200, 'two') });
    await first.close();
    await second.keep({ url, from: PAGE, exchange: exchange(200, 'three') });
    await second.close();
    expect([first.count, second.count]).toEqual([1, 0]);
    expect(linesOf(await kept((await segments.list())[0]!.id))).toEqual([`success ${url}`]);
  });

  it('with the stored body are unchanged, and so is what a 304 confirms of that body alone', async () => {
    const { db, segments, open, kept } = crawl();
    const first = open();
    const urls = ['a', 'b', 'c'].map((name) => `${PAGE}${name}.json`);
    for (const url of urls)
      await first.keep({ url, from: PAGE, exchange: exchange(200, 'data', { etag: '"1"', 'content-type': 'x/y' }) });
    await first.close();
    const [{ id } = { id: '' }] = await segments.list();
    const digests = (await kept(id)).map(({ outcome }) => (outcome.kind === 'success' ? outcome : null)!);
    for (const [i, url] of urls.entries()) {
      const previous = (await db.get(url))!;
      const { digest, validators, contentType } = digests[i]!;
      const datum = { ...previous, state: 'fetched' as const, lastFetchAt: NOW, digest, validators, contentType };
      await db.write({ puts: [{ datum, previous, leasedBy: id }] });
    }
    const next = open();
    const same = { from: PAGE, exchange: exchange(304, '', { etag: '"1"' }) };
    await next.keep({ url: urls[0]!, ...same, confirms: digests[0]!.digest });
    await next.keep({ url: urls[1]!, ...same, confirms: 'f'.repeat(32) });
    await next.keep({ url: urls[2]!, from: PAGE, exchange: exchange(200, 'data', { 'content-type': 'x/y' }) });
    await next.close();
    const rungs = (await kept((await segments.list())[1]!.id)).map(({ url, outcome }) => [
      url,
      outcome.kind === 'unchanged' ? outcome.rung : outcome.kind,
    ]);
    expect(rungs).toEqual([
      [urls[0], 'conditional'],
      [urls[2], 'digest'],
    ]);
  });

  it('are left out beyond the requisites that the crawl may have', async () => {
    const { open, db } = crawl(2);
    const keeper = open();
    const keep = (i: number) => keeper.keep({ url: `${PAGE}${i}`, from: PAGE, exchange: exchange(200, `${i}`) });
    await Promise.all([0, 1, 2, 3].map(keep));
    await keep(4);
    await keeper.close();
    expect([keeper.count, (await db.counters()).urls]).toEqual([2, 2]);
  });
});
