import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { CrawlSummary } from '../../../src/core/steps/round-summary.ts';
import type { RecordView } from '../../../src/query/records/views.ts';
import { json, run } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';
import { served } from '../support/served.ts';

const WORDS =
  'A paragraph that is long enough to be taken for the content of its page, as it says a good deal about it.';
const PAGES = 6;

/**
 * Articles that link to each other from their text; a menu on each leads to pages that are linked from nowhere else.
 */
const server = createServer((request, response) => {
  const path = request.url ?? '/';
  if (path === '/robots.txt') {
    response.writeHead(404).end();
    return;
  }
  const number = Number(/^\/article\/(\d+)$/.exec(path)?.[1] ?? 0);
  const next = `/article/${(number + 1) % PAGES}`;
  const menu = Array.from({ length: 5 }, (_, i) => `<li><a href="/menu/page-${number}-${i}">Menu ${i}</a>`).join('');
  response.setHeader('content-type', 'text/html');
  response.end(`<!doctype html><title>${path}</title><nav><ul>${path.startsWith('/menu') ? '' : menu}</ul></nav>
    <main><article><p>${WORDS} ${WORDS}<p>${WORDS} <a href="${next}">the next article of the row</a> ${WORDS}</article></main>`);
});
const site = served(server);

async function crawl(noise: string): Promise<{ cwd: string; summary: CrawlSummary; records: RecordView[] }> {
  const cwd = workDir();
  const args = [
    'crawl',
    `${site.origin}/article/0`,
    '--allow',
    '127.0.0.1',
    '--delay',
    '0',
    '-D',
    `outlinks.noise=${noise}`,
  ];
  const summary = await json<CrawlSummary>(args, { cwd });
  return { cwd, summary, records: await json<RecordView[]>(['readdb', '--dump'], { cwd }) };
}

describe('noise links in a crawl', { sequential: true }, () => {
  const fetched = (records: readonly RecordView[]): string[] =>
    records
      .filter((record) => record.httpStatus === 200)
      .map(({ url }) => url)
      .sort();
  let demoted: Awaited<ReturnType<typeof crawl>>;

  it('demoted they are all fetched in the end, as if followed', async () => {
    demoted = await crawl('demote');
    const followed = await crawl('follow');
    expect(fetched(demoted.records)).toEqual(fetched(followed.records));
    // The menu of the seed is not noise: a seed may be an index.
    const reason = 'outlinks: noise (navigation)';
    expect(demoted.summary.totals.demotedBy).toEqual({ [reason]: 5 * (PAGES - 1) });
    expect(followed.summary.totals.demotedBy ?? {}).toEqual({});
    const scoreOf = (path: string): number => demoted.records.find(({ url }) => url === site.origin + path)?.score ?? 0;
    expect(scoreOf('/menu/page-2-0')).toBeLessThan(scoreOf('/article/3') / 2);
    expect(scoreOf('/menu/page-0-0')).toBe(scoreOf('/article/1'));
  });

  it('dropped they are counted, and the content is still reached', async () => {
    const { summary, records } = await crawl('drop');
    expect(fetched(records)).toEqual(
      fetched(demoted.records).filter((url) => url.includes('/article/') || url.includes('/menu/page-0-')),
    );
    expect(summary.totals.filteredBy).toMatchObject({ 'outlinks: noise (navigation)': 5 * (PAGES - 1) });
  });

  it('their clusters are separated from those of the content', async () => {
    const families = await json<{ domain: string; first: string; size: number; noise: boolean }[]>(
      ['duplicates', 'families'],
      {
        cwd: demoted.cwd,
      },
    );
    expect(families).toHaveLength(2);
    expect(families.find(({ first }) => first.includes('/menu/'))).toMatchObject({ size: 5 * PAGES, noise: true });
    expect(families.find(({ first }) => first.includes('/article/'))).toMatchObject({ size: PAGES, noise: false });
  });

  it('mapper and reducer on their own, with sorted lines between them, give the result of the built-in run', async () => {
    const built = await run(['duplicates', 'families', '--format', 'tsv'], { cwd: demoted.cwd });
    const dump = await run(['readseg', '--dump', '--json'], { cwd: demoted.cwd });
    expect(dump.code).toBe(0);
    type Row = { parsed: { outlinks: { url: string; noise?: string }[] } | null };
    const links: string[] = [];
    const segments = await json<{ id: string }[]>(['readseg', '--list'], { cwd: demoted.cwd });
    for (const { id } of segments) {
      for (const { parsed } of await json<Row[]>(['readseg', id, '--dump'], { cwd: demoted.cwd })) {
        for (const { url, noise } of parsed?.outlinks ?? []) links.push(noise === undefined ? url : `${url}\t1`);
      }
    }
    const mapped = await run(['mr', 'map', 'linkclusters'], { input: `${links.join('\n')}\n` });
    // As `LC_ALL=C sort` does.
    const sorted = mapped.stdout
      .trimEnd()
      .split('\n')
      .map((line) => Buffer.from(line))
      .sort(Buffer.compare);
    const reduced = await run(['mr', 'reduce', 'linkclusters'], { input: `${sorted.join('\n')}\n` });
    expect(reduced.stdout).toBe(built.stdout);
    expect(built.stdout).not.toBe('');
  });

  it('a job that does not exist is refused with those that do', async () => {
    expect(await run(['mr', 'map', 'linkcluster'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('linkclusters'),
    });
  });
});
