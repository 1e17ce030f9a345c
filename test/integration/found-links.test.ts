import { expect, it } from 'vitest';
import { DAY, PAGE, seed, visiting } from './visiting.ts';

it('a link is discovered when its page is read, not when that page was found or read before', async () => {
  let links = '';
  const { crawler, origin, now, pass } = await visiting(({ url }, response) => {
    response.setHeader('content-type', 'text/html');
    response.end(url === '/' ? `${PAGE}${links}` : '<p>a leaf</p>');
  }, 'schedule.name=fixed');
  await crawler.inject([{ name: 'test', lines: [`${origin}/`] }]);
  pass(3 * DAY);
  const firstAt = now();
  await crawler.crawl();
  links = '<a href="/later">later</a>';
  pass(60 * DAY);
  const secondAt = now();
  await crawler.crawl(seed());
  const at = async (path: string) => Date.parse((await crawler.record(origin + path))?.discoveredAt ?? '');
  expect([(await at('/child')) >= firstAt, (await at('/child')) < secondAt]).toEqual([true, true]);
  expect(await at('/later')).toBeGreaterThanOrEqual(secondAt);
});
