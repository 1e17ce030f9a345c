import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { CrawlSummary } from '../../../src/crawler/index.ts';
import type { InjectSummary, Steering, TouchSummary } from '../../../src/crawler/views.ts';
import { questionsPath } from '../../../src/remote/questions/answer-questions.ts';
import type { RunStatus } from '../../../src/remote/run-status/run-status.ts';
import { json, run, start } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';
import { createGate, type Gate } from '../support/gate.ts';
import { type LocalSite, startSite } from '../support/local-site.ts';

const OWN = ['--allow', '127.0.0.1', '--delay', '0'];
const CRAWL = ['-D', 'sitemaps.mode=off', '-D', 'fetch.soft404=false', ...OWN];
let gate: Gate;
let site: LocalSite;
let dir: string;

beforeEach(() => {
  dir = workDir();
});

async function withSite(pages: number, work: () => Promise<void>): Promise<void> {
  gate = createGate();
  site = await startSite({ pages, gate });
  try {
    await work();
  } finally {
    gate.open();
    await site.close();
  }
}

/** A crawl of which the next request is held back by the server. */
async function halted(afterPages: number, args: readonly string[] = []) {
  gate.closeAfter(afterPages);
  const crawl = start(['crawl', `${site.origin}/`, '--dir', dir, '--json', ...CRAWL, ...args]);
  await site.seen(afterPages + 1);
  return crawl;
}

const ctl = <Answer>(...args: readonly string[]): Promise<Answer> => json<Answer>(['ctl', ...args, '--dir', dir]);
const steering = async (): Promise<Steering | undefined> =>
  (await json<{ run: RunStatus | null }>(['top', '--dir', dir])).run?.steering;

/** The request under way has ended. */
async function isQuiet(): Promise<void> {
  while ((await steering())?.inFlight !== 0);
}

describe('incrawl ctl', () => {
  it('pauses after the request under way; what is touched and added meanwhile is in the next round', async () => {
    await withSite(4, async () => {
      const crawl = await halted(2, ['--rounds', '3']);
      expect(await ctl<Steering>('pause')).toEqual({ paused: true, stopping: false, inFlight: 1 });
      expect(await ctl<Steering>('pause')).toMatchObject({ paused: true });
      gate.open();
      await isQuiet();
      const asked = site.log.length;
      const seeds = join(dir, 'seeds.txt');
      writeFileSync(seeds, `# more\n${site.origin}/page/4?added\nno URL\n`);
      expect(await ctl<InjectSummary>('inject', seeds)).toMatchObject({
        ...{ urls: 1, injected: 1, errors: [{ source: seeds, line: 3 }] },
      });
      const touched = await ctl<TouchSummary>('touch', `${site.origin}/`, `${site.origin}/unknown`, 'ht!tp');
      expect(touched).toMatchObject({ touched: 1, unknown: [`${site.origin}/unknown`], invalid: [{ url: 'ht!tp' }] });
      expect([site.log.length, await steering()]).toEqual([asked, { paused: true, stopping: false, inFlight: 0 }]);
      const shown = await run(['top', '--once', '--dir', dir]);
      expect(shown.stdout).toMatch(/ · paused\n[\s\S]*in flight 0/);
      expect((await run(['ctl', 'resume', '--dir', dir])).stdout).toBe('The crawl goes on.\n');
      const { code, stdout } = await crawl.finished;
      const { rounds, stoppedBy } = JSON.parse(stdout) as CrawlSummary;
      expect([code, stoppedBy, rounds.length]).toEqual([0, 'rounds', 3]);
      expect(site.log.filter((path) => path === '/')).toHaveLength(2);
      expect(site.log).toContain('/page/4?added');
    });
  });

  it('stops after the round under way, also a paused one, and the next crawl goes on', async () => {
    await withSite(4, async () => {
      const crawl = await halted(1);
      await ctl('pause');
      expect((await run(['ctl', 'stop', '--dir', dir])).stdout).toContain('which is paused. Go on with');
      expect(await ctl<Steering>('stop')).toMatchObject({ paused: true, stopping: true });
      gate.open();
      await isQuiet();
      expect(await ctl<Steering>('resume')).toMatchObject({ paused: false, stopping: true });
      const { code, stdout } = await crawl.finished;
      const { rounds, stoppedBy } = JSON.parse(stdout) as CrawlSummary;
      expect([code, stoppedBy, rounds.length]).toEqual([0, 'asked', 2]);
      const next = await json<CrawlSummary>(['crawl', '--dir', dir, ...CRAWL]);
      expect(next.stoppedBy).toBe('nothing-due');
      expect(new Set(site.log).size).toBe(site.log.length);
    });
  });

  it('a second signal is not needed to end a paused crawl, and nothing is lost', async () => {
    await withSite(4, async () => {
      const crawl = await halted(2);
      await ctl('pause');
      gate.open();
      await isQuiet();
      crawl.stop();
      expect((await crawl.finished).code).toBe(11);
      await json(['crawl', '--dir', dir, ...CRAWL]);
      const { byStatus } = await json<{ byStatus: Record<string, number> }>(['readdb', '--stats', '--dir', dir]);
      expect(byStatus.fetched).toBe(5);
    });
  });

  it('lengthens the delay of a host, and never shortens it below what the configuration asks for', async () => {
    await withSite(2, async () => {
      const crawl = await halted(1, ['--delay', '50ms']);
      const { host } = new URL(site.origin);
      const delay = async (seconds: string): Promise<string> =>
        (await run(['ctl', 'delay', host, seconds, '--dir', dir])).stdout;
      expect(await delay('2h')).toBe(`${host}: 2 h between requests.\n`);
      expect(await delay('0.01')).toContain('50 ms between requests; robots.txt or the configuration asks for that.');
      expect(await delay('0')).toBe(`${host}: 50 ms between requests.\n`);
      expect((await run(['ctl', 'delay', host, '-1', '--dir', dir])).code).toBe(2);
      expect((await run(['ctl', 'delay', 'no host', '1', '--dir', dir])).code).toBe(2);
      gate.open();
      expect((await crawl.finished).code).toBe(0);
    });
  });

  it('refuses seeds that would end the crawl, and keeps the others of the same file out with them', async () => {
    await withSite(2, async () => {
      const crawl = await halted(1);
      const refused = await run(['ctl', 'inject', `${site.origin}/fine`, 'https://example.org/', '--dir', dir]);
      expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('example.org is a public host') });
      gate.open();
      expect((await crawl.finished).code).toBe(0);
      expect(site.log).not.toContain('/fine');
    });
  });

  it('commands that come at once are all done, and a large file of seeds comes in whole', async () => {
    await withSite(2, async () => {
      const crawl = await halted(0, ['--rounds', '1']);
      const seeds = join(dir, 'many.txt');
      const lines = Array.from({ length: 3_000 }, (_, i) => `${site.origin}/many/${i}?${'x'.repeat(40)}`);
      writeFileSync(seeds, [...lines.slice(0, 2_500), 'no URL', ...lines.slice(2_500)].join('\n'));
      const [added, paused, touched] = await Promise.all([
        ctl<InjectSummary>('inject', seeds),
        ctl<Steering>('pause'),
        ctl<TouchSummary>('touch', `${site.origin}/`),
        ctl<Steering>('pause'),
        ctl<InjectSummary>('inject', `${site.origin}/one`),
      ]);
      expect(added).toMatchObject({ urls: 3_000, injected: 3_000, errors: [{ line: 2_501 }] });
      expect([paused.paused, touched.touched + touched.unmoved]).toEqual([true, 1]);
      gate.open();
      await ctl('resume');
      expect((await crawl.finished).code).toBe(0);
      const { urls } = await json<{ urls: number }>(['readdb', '--stats', '--dir', dir]);
      // Seeds, the start page and the one beside, and the five links of the start page.
      expect(urls).toBe(3_000 + 2 + 5);
      expect((await run(['state', 'verify', '--dir', dir])).code).toBe(0);
    });
  });

  it('says so where no crawl runs, and where another process holds the crawl db', async () => {
    expect(await run(['ctl', 'pause', '--dir', dir])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: `incrawl: no crawl runs on ${dir}: "incrawl crawl" or "incrawl schedule" starts one, and --dir names another\n`,
    });
    expect((await run(['ctl', 'touch', 'https://example.org/', '--dir', dir])).stderr).toContain('"incrawl due touch"');
    expect((await run(['ctl', 'inject', 'https://example.org/', '--dir', dir])).stderr).toContain('"incrawl inject"');
  });

  it('says so when the crawl ends before it answers', async () => {
    const dying = createServer((client) => client.destroy()).listen(questionsPath(dir));
    await once(dying, 'listening');
    expect(await run(['ctl', 'stop', '--dir', dir])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`incrawl: no crawl runs on ${dir}: `),
    });
    dying.close();
  });

  it('workers of a shared crawl take no commands', async () => {
    writeFileSync(
      join(dir, 'cluster.json'),
      JSON.stringify({ id: 'x', name: 'crawl', product: 'Redis', partitions: 4 }),
    );
    expect(await run(['ctl', 'pause', '--dir', dir])).toMatchObject({
      ...{ code: 2, stderr: expect.stringContaining('shared by workers, which take no commands') },
    });
  });
});
