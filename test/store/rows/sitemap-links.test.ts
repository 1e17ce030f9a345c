import { expect, it } from 'vitest';
import { SITEMAP_LINKS_KEY } from '../../../src/core/ports/crawl-db.ts';
import { repairRows } from '../../../src/store/rows/care/repair-rows.ts';
import { verifyRows } from '../../../src/store/rows/care/verify-rows.ts';
import { openCrawlDbOn } from '../../../src/store/rows/open-crawl-db.ts';
import { Fate } from '../../simulation/crawl/fate.ts';
import { SimulatedRows } from '../../simulation/crawl/rows.ts';
import { VirtualClock } from '../../simulation/crawl/virtual-clock.ts';

const LINKS = [{ url: 'http://a.example/sitemap.xml', targets: ['http://a.example/1'] }];
const LOG = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

const clock = new VirtualClock(0);

async function caredFor(meta: Readonly<Record<string, string>>) {
  const rows = new SimulatedRows({ fate: new Fate(() => 0), clock, random: () => 0.5 }).open();
  const db = await openCrawlDbOn(rows, { name: 'test', log: LOG });
  await db.write({ links: LINKS, meta });
  const found: string[] = [];
  await verifyRows(rows, ({ kind }) => found.push(kind));
  await repairRows(
    rows,
    async () => {},
    () => {},
  );
  return { found, links: (await db.linksOf(['http://a.example/sitemap.xml']))[0] };
}

const dbWith = async (meta: Readonly<Record<string, string>>) => {
  const ended = await clock.drive(caredFor(meta), () => false);
  return ended === 'crashed' ? null : ended.value;
};

it('links of a sitemap, which has no record, are sound, and a repair keeps them', async () => {
  expect(await dbWith({ [SITEMAP_LINKS_KEY]: '1' })).toEqual({ found: [], links: ['http://a.example/1'] });
});

it('without any sitemap, links without a record are stray', async () => {
  expect(await dbWith({})).toEqual({ found: ['links-stray'], links: [] });
});
