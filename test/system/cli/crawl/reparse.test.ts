import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ReparseSummary } from '../../../../src/crawler/views.ts';
import { markedFolder, writeMark } from '../../../cli/support/marked-folder.ts';
import { startTestSite, type TestSite } from '../../../integration/site.ts';
import { json, prepare, run } from '../../../support/program.ts';
import { NO_POSTGRES, startPostgres } from '../../cluster/postgres/postgres-server.ts';
import { parsed, start } from '../../support/binary.ts';

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

const crawl = (...more: string[]) => prepare(['crawl', `${site.origin}/p/0`, '--quiet', ...more], { cwd });
const dump = async (dir: string): Promise<string> =>
  (await run(['readdb', '--dump', '--format', 'jsonl', '--dir', dir], { cwd })).stdout;
/** Exports and stored parse output, in an order of their own. */
const outputs = async (dir: string): Promise<string[]> => {
  const exported = await run(['export', '--format', 'jsonl', '--dir', dir], { cwd });
  expect(exported.code).toBe(0);
  return exported.stdout.split('\n').sort();
};

/** The shares of a whole run after which one is killed. */
const SHARES = [0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

describe('incrawl reparse', () => {
  it('killed at any moment leaves a sound crawl db, and ends as if it had not been', async () => {
    await crawl();
    cpSync(join(cwd, 'crawldb'), join(cwd, 'calm'), { recursive: true });
    writeMark(cwd, 'two');
    const startedAt = performance.now();
    const whole = ['reparse', '--dir', 'calm', '--json'];
    expect(parsed<ReparseSummary>(whole, await start(whole, { cwd }).finished).differing).toBe(PAGES);
    const wholeMs = performance.now() - startedAt;
    let kills = 0;
    for (const share of SHARES) {
      const { child, finished } = start(['reparse'], { cwd });
      await Promise.race([finished, delay(share * wholeMs)]);
      child.kill('SIGKILL');
      if ((await finished).code === null) kills++;
      expect(await run(['state', 'verify', '--deep'], { cwd })).toMatchObject({ code: 0 });
    }
    expect(kills).toBeGreaterThan(0);
    await json(['reparse'], { cwd });
    expect(await json<ReparseSummary>(['reparse'], { cwd })).toMatchObject({ differing: 0 });
    expect(await dump('crawldb')).toBe(await dump('calm'));
    expect(await outputs('crawldb')).toEqual(await outputs('calm'));
  });

  it.skipIf(NO_POSTGRES !== null)(
    `works on a crawl db in PostgreSQL${NO_POSTGRES === null ? '' : ` (skipped: ${NO_POSTGRES})`}`,
    async () => {
      const server = await startPostgres();
      try {
        const shared = ['-D', `cluster.store=${server.url}`, '-D', 'cluster.name=again', '-D', 'cluster.lease=1s'];
        await crawl(...shared);
        writeMark(cwd, 'two');
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
