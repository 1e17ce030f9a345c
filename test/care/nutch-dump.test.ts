import { describe, expect, it } from 'vitest';
import { importLines } from '../../src/care/transfer/db-transfer.ts';
import { readAnyDump, type SkippedLine } from '../../src/care/transfer/nutch-dump.ts';
import type { CrawlDatum } from '../../src/core/domain/crawl/states/datum.ts';
import { createMemoryCrawlDb } from '../memory/crawl-db.ts';
import { listOf, stream } from '../published/hadoop-streaming.ts';

const NOW = Date.parse('2026-11-23T00:00:00Z');
const DAY = 86_400_000;

interface Row {
  readonly url: string;
  readonly status: number;
  readonly name: string;
  readonly due?: string;
  readonly modified?: string;
  readonly retries?: number;
  readonly seconds?: number;
  readonly score?: string;
  readonly signature?: string;
  readonly metadata?: Readonly<Record<string, string | number>>;
}

const NEVER = 'Thu Jan 01 00:00:00 UTC 1970';
const DUE = 'Tue Dec 15 06:30:00 UTC 2026';
const HEAD =
  'Url,Status code,Status name,Fetch Time,Modified Time,Retries since fetch,Retry interval seconds,Retry interval days,Score,Signature,Metadata';

const jsonOf = (row: Row): string => {
  const { url, status, name, due = DUE, modified = NEVER, retries = 0, seconds = 2_592_000, score = '1.0' } = row;
  const { signature = 'null', metadata = {} } = row;
  return (
    `{"url": ${JSON.stringify(url)}, "statusCode": ${status}, "statusName": "${name}", "fetchTime": "${due}", ` +
    `"modifiedTime": "${modified}", "retriesSinceFetch": ${retries}, "retryIntervalSeconds": ${seconds}, ` +
    `"retryIntervalDays": ${Math.floor(seconds / 86_400)}, "score": ${score}, "signature": "${signature}", ` +
    `"metadata": ${JSON.stringify(metadata)}}`
  );
};

const csvOf = (row: Row): string => {
  const { url, status, name, due = DUE, modified = NEVER, retries = 0, seconds = 2_592_000, score = '1.0' } = row;
  const { signature = 'null', metadata = {} } = row;
  const pairs = Object.entries(metadata).map(([key, value]) => `${key}:${value}|||`);
  return `"${url}",${status},"${name}",${due},${modified},${retries},${seconds}.0,${seconds / 86_400}.0,${score},"${signature}","${pairs.join('')}"`;
};

const ROWS: readonly Row[] = [
  {
    url: 'https://shop.example/new',
    status: 1,
    name: 'db_unfetched',
    due: 'Sun Nov 22 13:00:00 UTC 2026',
    score: '4.75E-4',
  },
  { url: 'https://shop.example/failing', status: 1, name: 'db_unfetched', retries: 2 },
  {
    url: 'https://shop.example/',
    status: 2,
    name: 'db_fetched',
    modified: 'Sun Nov 15 06:30:00 UTC 2026',
    signature: '00112233445566778899aabbccddeeff',
    metadata: {
      _pst_: 'success(1), lastModified=1729670421000',
      _rs_: 57,
      'Content-Type': 'text/html',
      'nutch.protocol.code': '200',
      team: 'a:b',
    },
  },
  {
    url: 'https://shop.example/gone',
    status: 3,
    name: 'db_gone',
    metadata: { _pst_: 'notfound(14), lastModified=0: https://shop.example/gone', 'nutch.protocol.code': '404' },
  },
  {
    url: 'https://shop.example/soon',
    status: 4,
    name: 'db_redir_temp',
    metadata: { _pst_: 'temp_moved(13), lastModified=0: https://shop.example/b' },
  },
  {
    url: 'https://shop.example/moved',
    status: 5,
    name: 'db_redir_perm',
    metadata: { _pst_: 'moved(12), lastModified=0: https://shop.example/a, b' },
  },
  {
    url: 'https://shop.example/same',
    status: 6,
    name: 'db_notmodified',
    seconds: 86_400,
    modified: 'Sun Nov 01 00:00:00 UTC 2026',
  },
  { url: 'https://shop.example/copy', status: 7, name: 'db_duplicate' },
  { url: 'https://shop.example/orphan', status: 8, name: 'db_orphan', metadata: { fixedInterval: 3_600 } },
];

const read = async (lines: readonly string[], skipped: SkippedLine[] = []): Promise<CrawlDatum[]> => {
  const all: CrawlDatum[] = [];
  const options = { now: NOW, onSkipped: (each: SkippedLine) => skipped.push(each) };
  for await (const line of readAnyDump(stream(lines), options)) if ('record' in line) all.push(line.record);
  return all;
};

describe('a dump of a Nutch crawl db', () => {
  it('JSON and CSV give the same records', async () => {
    const fromJson = await read(ROWS.map(jsonOf));
    const texts = (all: CrawlDatum[]) => all.map((each) => ({ ...each, metadata: textsOf(each.metadata) }));
    expect(texts(await read([HEAD, ...ROWS.map(csvOf)]))).toEqual(texts(fromJson));
    expect(fromJson).toHaveLength(ROWS.length);
  });
  // CSV says no types.
  const textsOf = (metadata: CrawlDatum['metadata']) =>
    Object.fromEntries(Object.entries(metadata).map(([name, value]) => [name, String(value)]));

  it('states, times, intervals, scores, signatures and metadata are taken over', async () => {
    const records = await read(ROWS.map(jsonOf));
    const of = (path: string): CrawlDatum => records.find(({ url }) => url === `https://shop.example/${path}`)!;
    expect(records.map(({ state }) => state)).toEqual([
      'unfetched',
      'unfetched',
      'fetched',
      'gone',
      'redir_temp',
      'redir_perm',
      'notmodified',
      'duplicate',
      'orphan',
    ]);
    const due = Date.parse('2026-12-15T06:30:00Z');
    expect(of('')).toMatchObject({
      lastFetchAt: due - 30 * DAY,
      nextFetchAt: due,
      changedAt: Date.parse('2026-11-15T06:30:00Z'),
      discoveredAt: Date.parse('2026-11-15T06:30:00Z'),
      schedule: { intervalMs: 30 * DAY, belief: null },
      httpStatus: 200,
      contentType: 'text/html',
      signature: null,
      metadata: {
        'nutch.signature': '00112233445566778899aabbccddeeff',
        _pst_: 'success(1), lastModified=1729670421000',
        _rs_: 57,
        team: 'a:b',
      },
    });
    expect(of('new')).toMatchObject({ score: 0.000475, lastFetchAt: null, changedAt: null, failures: 0 });
    expect(of('failing')).toMatchObject({ failures: 2, nextFetchAt: due });
    expect(of('gone')).toMatchObject({ httpStatus: 404, target: null });
    expect(of('soon').target).toBe('https://shop.example/b');
    expect(of('same')).toMatchObject({ lastFetchAt: NOW, changedAt: Date.parse('2026-11-01T00:00:00Z') });
    expect(of('orphan')).toMatchObject({ fixedIntervalMs: 3_600_000 });
  });

  it('goes into a crawl db, new URLs among the new, parts one after the other', async () => {
    const db = createMemoryCrawlDb();
    const [first, ...rest] = ROWS.map(csvOf);
    const lines = readAnyDump(stream([HEAD, first!, '', HEAD, ...rest]), { now: NOW, onSkipped: () => {} });
    expect(await importLines(db, lines, 'whole')).toEqual({ records: 9, links: 0, hosts: 0, changes: 0, merged: 0 });
    const due = await listOf(
      (async function* () {
        for await (const { url, isNew } of db.due({ until: NOW })) yield `${url} ${isNew}`;
      })(),
    );
    expect(due).toEqual(['https://shop.example/new true']);
  });

  it('URLs become canonical; one that cannot be crawled is skipped and named', async () => {
    const skipped: SkippedLine[] = [];
    const rows = ['HTTP://Shop.Example:80/a b', 'ftp://shop.example/'].map((url) => ({
      url,
      status: 1,
      name: 'db_unfetched',
    }));
    expect((await read(rows.map(jsonOf), skipped)).map(({ url }) => url)).toEqual(['http://shop.example/a%20b']);
    expect(skipped).toMatchObject([{ line: 2, url: 'ftp://shop.example/' }]);
  });

  it('two URLs of Nutch that are one here become one record, the one visited last', async () => {
    const db = createMemoryCrawlDb();
    const twice = [ROWS[2]!, { ...ROWS[0]!, url: 'https://shop.example:443/' }].map(jsonOf);
    const lines = readAnyDump(stream(twice), { now: NOW, onSkipped: () => {} });
    expect(await importLines(db, lines, 'whole')).toMatchObject({ records: 2, merged: 1 });
    expect(await db.get('https://shop.example/')).toMatchObject({ state: 'fetched', httpStatus: 200 });
    expect((await db.counters()).urls).toBe(1);
  });

  const [good, bad] = [ROWS[0]!, { url: 'https://shop.example/x', status: 1, name: 'db_unfetched' }];
  it.each([
    ['a line that is no JSON', [jsonOf(good), '{"url": '], /^line 2: a line of JSON from Nutch was expected/],
    ['a field that is missing', [jsonOf(good), '{"url": "https://a.org/"}'], /^line 2: statusCode: /],
    [
      'a status of its own',
      [jsonOf(good), jsonOf({ ...bad, status: 33 })],
      /^line 2: a status of 1 to 8 was expected, got 33/,
    ],
    [
      'a zone with several offsets',
      [jsonOf({ ...bad, due: 'Sun Jan 03 12:59:33 CST 2027' })],
      /^line 1: fetchTime: .*TZ=UTC/,
    ],
    ['a row that is cut', [HEAD, csvOf(good), csvOf(good).slice(0, 60)], /^line 3: the eleven columns/],
    ['a row of another table', [HEAD, 'a,b,c'], /^line 2: the eleven columns/],
    ['text', ['nonsense'], /^line 1: /],
    ['nothing', [], /the input is empty/],
  ])('refuses %s, by its number', async (_, lines, message) => {
    await expect(read(lines)).rejects.toMatchObject({ code: 'usage-invalid', message: expect.stringMatching(message) });
  });
});
