import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { defaultConfig } from '../../../src/core/config/load.ts';
import { openCrawler } from '../../../src/crawler/index.ts';
import type { ReparseSummary } from '../../../src/crawler/views.ts';
import { startTestSite, type TestSite } from '../../integration/site.ts';
import { json, run } from '../../support/program.ts';
import { markedFolder, writeMark } from '../support/marked-folder.ts';

const PAGES = 60;
let site: TestSite;
let cwd = '';
beforeAll(async () => {
  site = await startTestSite(PAGES);
});
afterAll(() => site.close());
beforeEach(() => {
  cwd = markedFolder();
});

const plugin = (mark: string): void => writeMark(cwd, mark);
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
      `pages +${PAGES}\nparsed anew +${PAGES}\nwould differ +${PAGES}\n  changeDigest +${PAGES}\n  changeSignature +${PAGES}, mean distance [\\d.]+ bits\n  parts +${PAGES}\n  signature +${PAGES}\n  text +${PAGES}\n`,
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
    expect((await run(['state', 'verify', '--deep'], { cwd })).code).toBe(0);
  });

  it('refuses a folder without a crawl, a wrong condition, and a crawl db that is held', async () => {
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
});
