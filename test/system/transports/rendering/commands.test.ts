import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { json as jsonHere, prepare, run as runHere } from '../../../support/program.ts';
import { workDir } from '../../../support/work-dir.ts';
import { json, run, start } from '../../support/binary.ts';
import { type Item, type Shop, serving, shop } from './apps.ts';
import { noBrowser } from './browser.ts';

const PAGES = 4;
const CRAWL = ['--allow', '127.0.0.1', '--delay', '0', '--quiet', '-D', 'render.mode=always'];
/** Every page is due at each start. */
const OFTEN = ['schedule.name=fixed', 'schedule.interval=1s', 'schedule.minInterval=1s', 'fetch.auditShare=0'];

describe.skipIf(noBrowser !== null)(`commands on rendered pages${noBrowser === null ? '' : ` (${noBrowser})`}`, () => {
  const dir = join(workDir(), 'crawldb');
  let site: Shop;
  let url: string;
  let origin: string;
  const crawl = async (of: string, rounds: number, ...more: readonly string[]): Promise<void> => {
    const settings = [...OFTEN, 'render.screenshot=true'].flatMap((each) => ['-D', each]);
    await prepare(['crawl', `${origin}/`, '--dir', of, '--rounds', `${rounds}`, ...CRAWL, ...settings, ...more]);
  };
  const textIn = async (of: string): Promise<string> => {
    const stored = await jsonHere<{ parsed: { text: string } }>(['readseg', '--get', url, '--dir', of]);
    return stored.parsed.text;
  };

  beforeAll(async () => {
    site = shop(PAGES, 'application');
    const server = await serving(site.answer);
    origin = server.origin;
    url = `${origin}/items/2`;
    await crawl(dir, 3);
    const item = site.items[2] as Item;
    item.text = item.text.replaceAll('number', 'copy');
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    await crawl(dir, 1);
    return server.close;
  }, 180_000);

  it('screenshots are written to a file, and shown beside what changed', async () => {
    const cwd = workDir();
    expect(await run(['readseg', '--get', url, '--screenshot', 'page.png', '--dir', dir], { cwd })).toMatchObject({
      code: 0,
    });
    const png = readFileSync(join(cwd, 'page.png'));
    expect(png.subarray(1, 4).toString()).toBe('PNG');
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([1280, 800]);
    const diff = await json<{ from: object; to: object }>(['diff', url, '--html', 'diff.html', '--dir', dir], { cwd });
    expect([diff.from, diff.to]).toMatchObject([{ hasScreenshot: true }, { hasScreenshot: true }]);
    const html = readFileSync(join(cwd, 'diff.html'), 'utf8');
    const [before, after] = [...html.matchAll(/src="data:image\/png;base64,([^"]+)"/g)].map(([, data]) => data);
    expect(after).toBe(png.toString('base64'));
    expect(before).not.toBe(after);
    const none = await run(['readseg', '--get', `${origin}/nowhere`, '--screenshot', 'no.png', '--dir', dir], { cwd });
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('No screenshot is stored of')]);
  });

  it('the live view shows them', async () => {
    const live = start(['serve', '--port', '0', '--json', '--dir', dir]);
    onTestFinished(() => void live.child.kill('SIGTERM'));
    const line = await new Promise<string>((resolve, reject) => {
      live.child.stdout?.on('data', (text: string) => resolve(text));
      void live.finished.then(({ stderr }) => reject(new Error(stderr)));
    });
    const view = (JSON.parse(line) as { url: string }).url.replace(/\/$/, '');
    const imagesOf = async (path: string): Promise<string[]> => {
      const html = await (await fetch(`${view}${path}?u=${encodeURIComponent(url)}`)).text();
      return [...html.matchAll(/<img src="([^"]+)"/g)].map(([, source = '']) => source.replaceAll('&amp;', '&'));
    };
    const [ofPage, ofDiff] = [await imagesOf('/url'), await imagesOf('/diff')];
    expect([ofPage.length, ofDiff.length]).toEqual([1, 2]);
    const pictures: number[] = [];
    for (const source of [...ofPage, ...ofDiff]) {
      const answer = await fetch(`${view}${source}`);
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/png']);
      pictures.push((await answer.arrayBuffer()).byteLength);
    }
    expect(pictures[0]).toBe(pictures[2]);
    const missing = await fetch(`${view}/screenshot?u=${encodeURIComponent(`${origin}/nowhere`)}`);
    expect(missing.status).toBe(404);
    const outside = await fetch(`${view}/screenshot?u=${encodeURIComponent(url)}&segment=..%2F..`);
    expect([outside.status, await outside.text()]).toEqual([404, expect.not.stringContaining('at ')]);
  });

  it('are verified, backed up, restored, dumped, loaded, merged and pruned', async () => {
    const text = await textIn(dir);
    expect(text).toContain('copy 2');
    const work = workDir();
    const [backup, restored, loaded, merged] = ['backup', 'restored', 'loaded', 'merged'].map((name) =>
      join(work, name),
    );
    await prepare(['state', 'verify', '--deep', '--dir', dir]);
    await prepare(['state', 'backup', backup as string, '--dir', dir]);
    await prepare(['state', 'restore', backup as string, '--dir', restored as string]);
    await prepare(['state', 'verify', '--deep', '--dir', restored as string]);
    const dump = await runHere(['db', 'export', '--dir', dir]);
    await prepare(['db', 'import', '--dir', loaded as string], { input: dump.stdout });
    const again = await runHere(['db', 'export', '--dir', loaded as string]);
    const rendered = (lines: string): string[] => lines.match(/"rendered":\{.*?\]\}/g) ?? [];
    expect(rendered(dump.stdout)).toHaveLength(PAGES);
    expect(rendered(again.stdout)).toEqual(rendered(dump.stdout));
    await prepare(['db', 'merge', dir, '--dir', merged as string]);
    await prepare(['state', 'verify', '--deep', '--dir', merged as string]);
    expect(rendered((await runHere(['db', 'export', '--dir', merged as string])).stdout)).toEqual(
      rendered(dump.stdout),
    );
    await prepare(['state', 'prune', '--keep-days', '0', '--compact', '--dir', merged as string]);
    await prepare(['state', 'verify', '--deep', '--dir', merged as string]);
    for (const each of [restored, merged] as string[]) expect(await textIn(each)).toBe(text);
    const file = join(work, 'page.png');
    await prepare(['readseg', '--get', url, '--screenshot', file, '--dir', merged as string]);
    expect(readFileSync(file).subarray(1, 4).toString()).toBe('PNG');
    // What was made from the dump comes back without a browser, too.
    site.asked.length = 0;
    await crawl(loaded as string, 1, '-D', 'render.screenshot=false');
    expect(site.asked.filter((path) => path === '/app.css')).toEqual([]);
  }, 120_000);

  it('are parsed anew from the rendered document, and listed', async () => {
    const reparsed = await jsonHere(['reparse', '--dir', dir]);
    expect(reparsed).toMatchObject({ parsed: PAGES, differing: 0, failed: 0 });
    const list = await runHere(['readdb', '--where', 'rendered', '--format', 'jsonl', '--dir', dir]);
    expect(list.stdout.trim().split('\n')).toHaveLength(PAGES);
  });
});
