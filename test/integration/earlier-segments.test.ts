import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Crawler } from '../../src/crawler/index.ts';
import { DAY, PAGE, visiting } from './visiting.ts';

/** A mark has the facts of all hosts of its round: after a year, those of all rounds are some 100 MB. */
it('a round reads no mark of a segment that is applied', async () => {
  const visited = await visiting((request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end(request.url === '/page' ? PAGE : '<p>words</p>');
  });
  const { crawler, dir, origin } = visited;
  const url = `${origin}/page`;
  await crawler.crawl({ seeds: [{ name: 'test', lines: [url] }] });
  const damageMarks = (): void => {
    const applied = readdirSync(join(dir, 'segments'));
    expect(applied).not.toEqual([]);
    for (const id of applied) writeFileSync(join(dir, 'segments', id, 'segment.json'), 'damaged');
  };
  const crawlAgain = async (current: Crawler): Promise<void> => {
    damageMarks();
    const before = visited.asked.length;
    await current.touch([url]);
    await current.crawl();
    expect(visited.asked.length).toBeGreaterThan(before);
    expect(await current.record(url)).toMatchObject({
      lastFetchAt: new Date(visited.sentAt.at(-1) ?? 0).toISOString(),
    });
  };
  await crawlAgain(crawler);
  await crawlAgain(await visited.reopen(40 * DAY));
});
