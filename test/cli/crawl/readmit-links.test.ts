import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { CrawlSummary } from '../../../src/crawler/index.ts';
import type { ReadmitSummary } from '../../../src/crawler/views.ts';
import { json, run } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';
import { type LocalSite, startSite } from '../support/local-site.ts';

const cwd = workDir();
let site: LocalSite;

beforeAll(async () => {
  site = await startSite({ pages: 3 });
  mkdirSync(join(cwd, 'conf'));
  writeFileSync(join(cwd, 'conf/incrawl.yaml'), 'fetch: { delay: 0 }\nhttp: { allowAddresses: [127.0.0.1] }\n');
});
afterAll(() => site.close());

function letIn(maxDepth: number): void {
  const list = [
    'protocol-http',
    `urlfilter-scope: { maxDepth: ${maxDepth} }`,
    'parse-html',
    'signature-simhash',
    'schedule-freshness',
  ];
  writeFileSync(join(cwd, 'conf/plugins.yaml'), `plugins:\n${list.map((each) => `  - ${each}\n`).join('')}`);
}

it('filtered links are admitted by the next crawl after the rules were widened, or by `updatedb --readmit-links`', async () => {
  letIn(0);
  const first = await json<CrawlSummary>(['crawl', `${site.origin}/`], { cwd });
  expect(first.totals).toMatchObject({ fetched: 1, newUrls: 0 });
  expect(first).not.toHaveProperty('readmitted');
  letIn(1);
  const dry = await json<ReadmitSummary>(['updatedb', '--readmit-links', '--dry-run'], { cwd });
  expect(dry).toMatchObject({ pages: 1, isCutShort: false, dryRun: true });
  expect(dry.newUrls).toBeGreaterThanOrEqual(3);
  const { stdout, code } = await run(['crawl'], { cwd });
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(/readmitted: links of 1 stored page filtered again by the current URL rules, [3-9] new URLs/),
  ]);
  expect(site.log.filter((path) => path === '/')).toHaveLength(1);
  expect(site.log).toContain('/page/2');
  const readmitted = await run(['updatedb', '--readmit-links'], { cwd });
  expect([readmitted.code, readmitted.stdout]).toEqual([
    0,
    expect.stringMatching(/^pages +\d+\noutlinks +\d+, 0 new URLs/),
  ]);
});

it('wider rules of a crawl that has no page yet are not reported', async () => {
  letIn(0);
  const at = { cwd: join(cwd, 'failed') };
  mkdirSync(at.cwd);
  const config = ['--config', join(cwd, 'conf/incrawl.yaml')];
  await run(['crawl', `${site.origin}/missing`, ...config], at);
  letIn(1);
  const { stdout, stderr } = await run(['crawl', `${site.origin}/also-missing`, ...config], at);
  expect(stdout).toContain('Nothing is due any more.');
  expect(stdout + stderr).not.toMatch(/readmitted|links of the stored pages/);
});

it.each([
  [['updatedb', '--readmit-links', '20260101000000-00001'], 'takes no segment'],
  [['updatedb', '--readmit-links', '--purge-gone'], "'--purge-gone'"],
])('%s is refused', async (args, why) => {
  const { code, stderr } = await run(args, { cwd });
  expect([code, stderr]).toEqual([2, expect.stringContaining(why)]);
});
