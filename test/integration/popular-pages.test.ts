import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { endHash, inlinksOf, joinedLevels, levelsOfLink } from '../../src/core/domain/crawl/discovery/inlinks.ts';
import type { CrawlReader } from '../../src/crawler/index.ts';
import { SHIPPED_PLUGINS } from '../support/shipped-plugins.ts';
import { workDir } from '../support/work-dir.ts';
import { DAY, visiting } from './visiting.ts';

/** As many links as one page may have. */
const PAGES = 100;

const words = (name: string): string => `Words of the page ${name}, and some that others have as well. `.repeat(30);
const linked = (name: string, paths: readonly string[]): string =>
  `<!doctype html><title>${name}</title><main>${paths
    .map((path) => `<p>${words(name)} See <a href="${path}">what is told of ${path}</a> for more.</p>`)
    .join('')}</main>`;

/** What the links of all pages say of a path, by the address that the server has. */
function levelsOf(origin: string, path: string): number {
  const target = endHash(origin + path);
  const levels = Array.from({ length: PAGES }, (_, i) => levelsOfLink(endHash(`${origin}/p/${i}`), target));
  return levels.reduce(joinedLevels, 0);
}

/** Of some paths the first whose links tell how many they are: as a rule, not always, those of so many pages do. */
const popularOf = (origin: string): string =>
  ['/a', '/b', '/c', '/d', '/e', '/f'].find((path) => inlinksOf(levelsOf(origin, path)) > 0) as string;

/** A site whose pages all link to one that nothing else tells apart. */
async function site() {
  const file = join(workDir(), 'plugins.yaml');
  writeFileSync(file, SHIPPED_PLUGINS.replace('  - scoring-depth\n', '  - scoring-links\n'));
  const pages = Array.from({ length: PAGES }, (_, i) => `/p/${i}`);
  return visiting(
    ({ url = '', headers }, response) => {
      response.setHeader('content-type', 'text/html');
      if (url === '/') response.end(linked('list', pages));
      else if (!url.startsWith('/p/')) response.end(linked(url, []));
      else response.end(linked(url, [popularOf(`http://${headers.host}`), `/only${url}`]));
    },
    `plugins.file=${file}`,
    'updatedb.chunk=10',
  );
}

async function counted(reader: CrawlReader): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  for await (const { url, score, metadata } of reader.records({})) {
    if (metadata.inlinks !== undefined) found[new URL(url).pathname] = { ...metadata, score };
  }
  return found;
}

function expected(origin: string): Record<string, unknown> {
  const path = popularOf(origin);
  const inlinkLevels = levelsOf(origin, path);
  const inlinks = inlinksOf(inlinkLevels);
  const inlinkScore = inlinks ** 0.5;
  return { [path]: { inlinks, inlinkLevels, inlinkScore, inlinkWeight: inlinks ** 0.125, score: 0.25 * inlinkScore } };
}

it('a page that many link to goes first, counts more, and explain tells so', async () => {
  const { crawler, origin, asked, pass } = await site();
  const popular = popularOf(origin);
  await crawler.inject([{ name: 'test', lines: [`${origin}/`] }]);
  await crawler.crawl({ rounds: 2 });
  const before = asked.length;
  await crawler.crawl({ rounds: 1, topN: 5 });
  expect(asked.slice(before)).toContain(`GET ${popular}`);
  expect(await counted(crawler)).toEqual(expected(origin));
  const inlinks = inlinksOf(levelsOf(origin, popular));
  expect(JSON.stringify(await crawler.explain(origin + popular))).toContain(
    `About ${inlinks} links lead to it, those of another host counted once: its score is ${inlinks ** 0.5} times`,
  );
  // Pages that are visited again count nothing twice.
  pass(60 * DAY);
  await crawler.crawl({ rounds: 1 });
  expect(await counted(crawler)).toEqual(expected(origin));
});

it('an update that is stopped, and gone on with by another process, counts what a whole one counts', async () => {
  const { crawler, origin, work, reopen } = await site();
  const stop = new AbortController();
  await crawler.inject([{ name: 'test', lines: [`${origin}/`] }]);
  await crawler.crawl({ rounds: 1 });
  const { push } = work;
  work.push = (...items) => {
    const length = push.apply(work, items);
    if (work.filter((each) => each.work === 'applying the segment' && each.total === PAGES).length > 3) stop.abort();
    return length;
  };
  expect((await crawler.crawl({ rounds: 1, signal: stop.signal })).stoppedBy).toBe('signal');
  const next = await reopen();
  await next.crawl({ rounds: 1 });
  expect(await counted(next)).toEqual(expected(origin));
});
