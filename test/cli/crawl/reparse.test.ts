import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { defaultConfig } from '../../../src/config/load.ts';
import { openCrawler, type ReparseSummary } from '../../../src/crawler.ts';
import { startTestSite, type TestSite } from '../../integration/site.ts';
import { json, run, start } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';
import { NO_REDIS, startRedis } from '../../system/adapters/redis/redis-server.ts';

const PAGES = 60;
let site: TestSite;
let cwd = '';
beforeAll(async () => {
  site = await startTestSite(PAGES);
});
afterAll(() => site.close());
beforeEach(() => {
  cwd = workDir();
  mkdirSync(join(cwd, 'conf/plugins/parsefilter-mark'), { recursive: true });
  // Small batches: a kill meets more of them.
  const settings = ['fetch: { delay: 0 }', 'http: { allowAddresses: [127.0.0.1] }', 'updatedb: { chunk: 8 }'];
  writeFileSync(join(cwd, 'conf/incrawl.yaml'), `${settings.join('\n')}\n`);
  const list = [
    'protocol-http',
    'parse-html',
    'parsefilter-mark',
    'signature-simhash',
    'schedule-freshness',
    'exporter-jsonl',
  ];
  writeFileSync(join(cwd, 'conf/plugins.yaml'), `plugins:\n${list.map((each) => `  - ${each}\n`).join('')}`);
  plugin('one');
});

/** Marks titles, and signs half of the text, another half for each mark. */
function plugin(mark: string): void {
  writeFileSync(
    join(cwd, 'conf/plugins/parsefilter-mark/plugin.mjs'),
    `export default {
  name: 'parsefilter-mark',
  api: 1,
  setup: () => ({
    content: '',
    filter(page) {
      page.result.title = '${mark}: ' + page.result.title;
      const words = page.$('p').text().split(' ');
      page.result.mainText = (${mark === 'one'} ? words.slice(0, 100) : words.slice(100)).join(' ');
      page.result.blocks = [];
    },
  }),
};
`,
  );
}

const crawl = (...more: string[]) => run(['crawl', `${site.origin}/p/0`, '--quiet', ...more], { cwd });
const dump = async (dir: string): Promise<string> =>
  (await run(['readdb', '--dump', '--format', 'jsonl', '--dir', dir], { cwd })).stdout;
/** Exports and stored parse output, in an order of their own. */
const outputs = async (dir: string): Promise<string[]> => {
  const exported = await run(['export', '--format', 'jsonl', '--dir', dir], { cwd });
  expect(exported.code).toBe(0);
  return exported.stdout.split('\n').sort();
};

describe('incrawl reparse', () => {
  it('says what would differ, does it, and finds nothing more', async () => {
    await crawl();
    plugin('two');
    const [records, texts] = [await dump('crawldb'), await outputs('crawldb')];
    const dry = await run(['reparse', '--dry-run', '--examples', '1'], { cwd });
    expect([dry.code, dry.stdout]).toEqual([0, expect.stringMatching(/^Dry run, nothing was changed:\n/)]);
    const counts = new RegExp(
      `pages +${PAGES}\nparsed anew +${PAGES}\nwould differ +${PAGES}\n  changeSignature +${PAGES}, mean distance [\\d.]+ bits\n  parts +${PAGES}\n  signature +${PAGES}\n  text +${PAGES}\n`,
    );
    expect(dry.stdout).toMatch(counts);
    expect(dry.stdout).toMatch(/\n\nhttp:\S+\n {2}title: "one: Page \d+" -> "two: Page \d+"\n/);
    expect(await dump('crawldb')).toBe(records);
    expect(await outputs('crawldb')).toEqual(texts);
    expect(readdirSync(join(cwd, 'crawldb/segments')).length).toBeGreaterThan(0);
    const summary = await json<ReparseSummary>(['reparse', '--where', 'url ~ "/p/1"'], { cwd });
    expect(summary).toMatchObject({ selected: 11, parsed: 11, differing: 11, notStored: 0, dryRun: false });
    expect(summary.examples[0]?.fields[0]).toMatchObject({ field: 'title' });
    const done = await run(['reparse'], { cwd });
    expect([done.code, done.stdout]).toEqual([0, expect.stringMatching(new RegExp(`differed +${PAGES - 11}\n`))]);
    expect(done.stdout).toContain('The change feed has no entry for them');
    const again = await run(['reparse'], { cwd });
    expect([again.code, again.stdout]).toEqual([0, `pages        ${PAGES}\nparsed anew  ${PAGES}\ndiffered     0\n`]);
    expect(await run(['reparse', '--host', 'elsewhere.example'], { cwd })).toMatchObject({
      code: 1,
      stdout: 'No page with a content matches.\n',
    });
    expect((await run(['verify', '--deep'], { cwd })).code).toBe(0);
  });

  it('refuses a folder without a crawl, a wrong condition, and a crawl db that another process holds', async () => {
    expect((await run(['reparse', '--dir', 'nothing'], { cwd })).code).toBe(2);
    await crawl();
    const wrong = await run(['reparse', '--where', 'titel = 1'], { cwd });
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('did you mean title?')]);
    const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
    const holder = await openCrawler({ config: defaultConfig([]), dir: join(cwd, 'crawldb'), log });
    try {
      expect((await run(['reparse'], { cwd })).code).toBe(5);
    } finally {
      await holder.close();
    }
  });

  it('killed at any moment leaves a sound crawl db, and ends as if it had not been', { timeout: 120_000 }, async () => {
    await crawl();
    cpSync(join(cwd, 'crawldb'), join(cwd, 'calm'), { recursive: true });
    plugin('two');
    expect((await json<ReparseSummary>(['reparse', '--dir', 'calm'], { cwd })).differing).toBe(PAGES);
    let kills = 0;
    for (const afterMs of [450, 600, 700, 800, 900, 1_000]) {
      const { child, finished } = start(['reparse'], { cwd });
      await Promise.race([finished, delay(afterMs)]);
      child.kill('SIGKILL');
      if ((await finished).code === null) kills++;
      expect(await run(['verify', '--deep'], { cwd })).toMatchObject({ code: 0 });
    }
    expect(kills).toBeGreaterThan(0);
    await json(['reparse'], { cwd });
    expect(await json<ReparseSummary>(['reparse'], { cwd })).toMatchObject({ differing: 0 });
    expect(await dump('crawldb')).toBe(await dump('calm'));
    expect(await outputs('crawldb')).toEqual(await outputs('calm'));
  });

  it.skipIf(NO_REDIS !== null)(
    `works on a crawl db in Redis${NO_REDIS === null ? '' : ` (skipped: ${NO_REDIS})`}`,
    async () => {
      const server = await startRedis();
      try {
        const shared = ['-D', `cluster.redis=${server.url}`, '-D', 'cluster.name=again', '-D', 'cluster.lease=1s'];
        await crawl(...shared);
        plugin('two');
        const dry = await json<ReparseSummary>(['reparse', '--dry-run', ...shared], { cwd });
        expect(dry).toMatchObject({ dryRun: true, differing: PAGES });
        expect(await json<ReparseSummary>(['reparse', ...shared], { cwd })).toMatchObject({ differing: PAGES });
        expect(await json<ReparseSummary>(['reparse', ...shared], { cwd })).toMatchObject({ differing: 0 });
      } finally {
        await server.stop();
      }
    },
  );
});
