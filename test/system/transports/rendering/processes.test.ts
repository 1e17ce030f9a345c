import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { findBrowser } from '../../../../src/transports/browser/playwright.ts';
import { workDir } from '../../../support/work-dir.ts';
import { type Running, run, start } from '../../support/binary.ts';
import { type Shop, serving, shop } from './apps.ts';
import { browserProgram, noBrowser } from './browser.ts';

const SETTINGS = ['--allow', '127.0.0.1', '--delay', '0', '-D', 'render.mode=always'];

describe.skipIf(noBrowser !== null)(`browsers of crawls${noBrowser === null ? '' : ` (${noBrowser})`}`, () => {
  it('kill -9 of the crawl leaves no browser, and the next start no profile; the crawl goes on', async () => {
    const { site, origin } = await served(12);
    const dir = join(workDir(), 'crawldb');
    const crawl = start(['crawl', `${origin}/`, '--dir', dir, ...SETTINGS, '--json']);
    const profile = await held(dir, crawl);
    expect(processesWith(profile).length).toBeGreaterThan(2);
    // In the midst of a page.
    await until(() => site.asked.some((path) => path.startsWith('/api/')));
    crawl.child.kill('SIGKILL');
    await crawl.finished;
    await until(() => processesWith(profile).length === 0);
    expect(existsSync(profile)).toBe(true);
    const next = await run(['crawl', '--dir', dir, ...SETTINGS, '--json']);
    expect([next.code, next.stderr]).toEqual([0, expect.not.stringContaining('error')]);
    await until(() => !existsSync(profile));
    expect(readdirSync(join(dir, 'browsers'))).toEqual([]);
    const { stdout } = await run(['readdb', '--where', 'rendered', '--format', 'jsonl', '--dir', dir]);
    expect(stdout.trim().split('\n')).toHaveLength(12);
  }, 180_000);

  it('a signal ends the crawl and its browser', async () => {
    const { site, origin } = await served(40);
    const dir = join(workDir(), 'crawldb');
    const crawl = start(['crawl', `${origin}/`, '--dir', dir, ...SETTINGS, '--json']);
    const profile = await held(dir, crawl);
    await until(() => site.asked.some((path) => path.startsWith('/api/')));
    crawl.child.kill('SIGTERM');
    expect((await crawl.finished).code).toBe(11);
    await until(() => processesWith(profile).length === 0);
    expect([existsSync(profile), readdirSync(join(dir, 'browsers'))]).toEqual([false, []]);
  }, 120_000);

  it('two crawls at once have browsers of their own', async () => {
    const [one, other] = [await served(5), await served(5)];
    const crawls = [one, other].map(({ origin }) => {
      const dir = join(workDir(), 'crawldb');
      return { dir, done: run(['crawl', `${origin}/`, '--dir', dir, ...SETTINGS, '--json']) };
    });
    for (const { dir, done } of crawls) {
      const { code, stdout } = await done;
      expect([code, JSON.parse(stdout).totals.fetched]).toEqual([0, 5]);
      expect(readdirSync(join(dir, 'browsers'))).toEqual([]);
    }
  }, 120_000);

  it('a crawl without a browser says so before it asks for anything', async () => {
    const { site, origin } = await served(2);
    const PATH = workDir();
    const dir = join(workDir(), 'crawldb');
    const none = await run(['crawl', `${origin}/`, '--dir', dir, ...SETTINGS], { env: { PATH } });
    expect([none.code, none.stderr]).toEqual([2, expect.stringMatching(/no browser was found .* render\.browser/)]);
    expect(site.asked).toEqual([]);
    const wrong = [...SETTINGS, '-D', 'render.browser=/bin/false'];
    const fails = await run(['crawl', `${origin}/`, '--dir', dir, ...wrong]);
    expect([fails.code, fails.stderr]).toEqual([2, expect.stringContaining('the browser /bin/false does not start')]);
    const well = await run(['crawl', `${origin}/`, '--dir', dir, ...SETTINGS, '--json']);
    expect([well.code, JSON.parse(well.stdout).totals.fetched]).toEqual([0, 2]);
  }, 120_000);
});

describe('findBrowser', () => {
  it('takes what is named, by path or by name, and says what is wrong with it', () => {
    const node = process.execPath;
    expect(findBrowser(node, '')).toBe(node);
    expect(findBrowser('node', join(node, '..'))).toBe(join(node, '..', 'node'));
    expect(() => findBrowser('no-such-browser', '/usr/bin')).toThrow('no-such-browser is not a program');
    if (noBrowser === null) expect(browserProgram()).toMatch(/chrom|edge/i);
  });
});

async function served(pages: number): Promise<{ site: Shop; origin: string }> {
  const site = shop(pages, 'application');
  const { origin, close } = await serving(site.answer);
  onTestFinished(() => void close());
  return { site, origin };
}

/** The profile of the browser that a crawl has started. */
async function held(dir: string, { finished }: Running): Promise<string> {
  const notes = join(dir, 'browsers');
  const ended = finished.then(({ stderr, stdout }) => Promise.reject(new Error(`it ended early: ${stderr}${stdout}`)));
  await Promise.race([until(() => existsSync(notes) && readdirSync(notes).length > 0), ended]);
  ended.catch(() => {});
  const [note = ''] = readdirSync(notes);
  await until(() => readFileSync(join(notes, note), 'utf8') !== '');
  return readFileSync(join(notes, note), 'utf8');
}

/** Waits for a state that comes in its own time; the limit of the test ends the wait. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 50));
}

function processesWith(profile: string): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(profile);
    } catch {
      return false;
    }
  });
}
