import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defaultConfig } from '../../../src/core/config/load.ts';
import { openCrawler } from '../../../src/crawler/index.ts';
import { workDir } from '../../support/work-dir.ts';
import { BINARY, run } from '../support/binary.ts';
import { browserProgram, noBrowser, playwright } from '../transports/rendering/browser.ts';
import { png, type RunningSite, requisiteSite, serveSite } from './requisite-site.ts';

const NETWORK = ['--allow', '127.0.0.0/8', '--delay', '0'];

let [site, cdn]: RunningSite[] = [];
let dir = '';
let copy = '';
let where: string[] = [];

/** What this test uses of a page of Playwright. */
interface ShownPage {
  goto(url: string, options: { readonly waitUntil: 'load' }): Promise<unknown>;
  on(event: 'request' | 'requestfailed', listener: (request: { url(): string }) => void): void;
  screenshot(): Promise<Buffer>;
}

/** The folder of the site in the mirror. */
const hostFolder = (): string => `http_127.0.0.1_${new URL(site!.origin).port}`;
const fileOf = (path: string): string => join(copy, hostFolder(), path);
const textOf = (path: string): string => readFileSync(fileOf(path), 'utf8');

async function mirrored(...args: string[]) {
  const done = await run(['mirror', ...args, ...NETWORK, ...where, '--json']);
  expect([done.code, done.stderr]).toEqual([0, expect.anything()]);
  expect(JSON.parse(done.stdout)).not.toHaveProperty('dryRun');
  return JSON.parse(done.stdout) as {
    crawl: { requisites: Record<string, number>; totals: Record<string, number> } | null;
    mirror: Record<string, number>;
  };
}

/** Bytes of all files but those of the mirror itself, with their times of change. */
function filesIn(folder: string): Map<string, { readonly text: string; readonly at: number }> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  return new Map(
    files
      .filter(
        (file) => statSync(join(folder, file)).isFile() && !/^(?:manifest\.json|\.incrawl-links\.json)$/.test(file),
      )
      .map((file) => {
        const path = join(folder, file);
        return [file, { text: readFileSync(path, 'latin1'), at: statSync(path).mtimeMs }] as const;
      }),
  );
}

beforeAll(async () => {
  cdn = await serveSite(new Map([['/cdn.png', { type: 'image/png', body: png(24, 24, [1, 2, 3]) }]]));
  site = await serveSite(requisiteSite(cdn.origin));
  dir = workDir();
  copy = join(dir, 'copy');
  where = ['--dir', join(dir, 'crawl')];
}, 60_000);
afterAll(async () => {
  await site?.close();
  await cdn?.close();
});

describe('a mirror', () => {
  it('has pages with all that they need, under names of their own', async () => {
    const { crawl, mirror } = await mirrored(`${site!.origin}/`, copy);
    expect(mirror).toMatchObject({ pages: 9, redirects: 1, removed: 0, missing: 0, keptGone: 0 });
    expect(crawl!.requisites).toMatchObject({ failed: 0, gone: 1, urls: mirror.requisites! + 1 });
    const files = [...filesIn(copy).keys()];
    expect(files).toContain('index.html');
    expect(files).toContain(join(hostFolder(), 'docs', 'guide.html'));
    expect(files.filter((file) => file.endsWith('.png')).length).toBe(16);
    // A comment in a style sheet is no address, and a picture for another screen is one.
    expect(existsSync(fileOf('img/2x.png'))).toBe(true);
    expect(existsSync(fileOf('img/comment.png'))).toBe(false);
    // What the site itself lacks is not looked for on the web.
    const about = files.find((file) => /about~[0-9a-f]+\.html$/.test(file))!;
    expect(readFileSync(join(copy, about), 'utf8')).toContain('src="img/missing.png"');
  }, 60_000);

  it('has no address of the web in it but those that name pages there', () => {
    for (const [file, { text }] of filesIn(copy)) {
      if (!/\.(?:html|css|svg)$/.test(file)) continue;
      const addresses = text.replaceAll(/data-href="[^"]*"|<form[^>]*>/g, '').match(/https?:\/\/[^\s"')]+/g) ?? [];
      expect([file, addresses.filter((url) => !url.startsWith('http://www.w3.org/'))]).toEqual([file, []]);
    }
  });

  it('keeps what it says in a manifest, and writes nothing when nothing has changed', async () => {
    const before = filesIn(copy);
    const manifest = JSON.parse(readFileSync(join(copy, 'manifest.json'), 'utf8'));
    expect(manifest.files.length).toBe(before.size - 1);
    expect(manifest.files.find(({ url }: { url: string }) => url === `${site!.origin}/about`)).toMatchObject({
      file: expect.stringMatching(/about~[0-9a-f]{12}\.html$/),
      kind: 'page',
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const { mirror } = await mirrored(copy, '--all');
    expect(mirror).toMatchObject({ written: 0, removed: 0, bytes: 0 });
    expect(filesIn(copy)).toEqual(before);
  }, 60_000);

  it('follows what changes, joins and leaves, and rewrites no other page', async () => {
    const before = filesIn(copy);
    const files = site!.files;
    const about = files.get('/about')!;
    const [oldPlain, oldAbout] = [files.get('/img/plain.png')!, about];
    files.set('/img/plain.png', { type: 'image/png', body: png(24, 24, [7, 7, 7]) });
    files.set('/about', { ...about, body: `${about.body} <a href="/new">A new page</a> of other words than before.` });
    files.set('/new', {
      type: 'text/html',
      body: '<!doctype html><title>New</title><p>New here. <a href="/query?id=2">Two</a>',
    });
    files.delete('/query?id=2');
    const { mirror } = await mirrored(copy, '--all');
    // Changed: about, the picture; new: one; relinked for what has gone: start.
    expect(mirror).toMatchObject({ written: 4, removed: 1, pages: 9 });
    const after = filesIn(copy);
    const touched = [...after]
      .filter(([file, { at }]) => before.get(file)?.at !== at)
      .map(([file]) => file.replace(/~[0-9a-f]+/, ''));
    expect(touched.map((file) => file.slice(hostFolder().length + 1)).sort()).toEqual(
      ['about.html', 'img/plain.png', 'index.html', 'new.html'].sort(),
    );
    expect(textOf('index.html')).toContain(`href="${site!.origin}/query?id=2"`);
    files.set('/img/plain.png', oldPlain).set('/about', oldAbout);
  }, 60_000);

  it('shows an earlier day from the segments, in a folder of its own', async () => {
    const at = new Date().toISOString();
    const then = filesIn(copy);
    await delay(20);
    await mirrored(copy, '--all');
    const past = join(dir, 'past');
    const { crawl, mirror } = await mirrored(past, '--at', at);
    expect(crawl).toBeNull();
    expect(mirror.written).toBeGreaterThan(20);
    const texts = (files: ReturnType<typeof filesIn>) => [...files].map(([file, { text }]) => [file, text]);
    expect(texts(filesIn(past))).toEqual(texts(then));
  }, 60_000);

  it('keeps pages that have gone where that is wanted', async () => {
    const kept = join(dir, 'kept');
    await mirrored(kept);
    site!.files.delete('/new');
    site!.files.delete('/latin');
    const { mirror } = await mirrored(kept, '--all', '--keep-gone');
    expect(mirror.keptGone).toBeGreaterThan(0);
    expect(readdirSync(join(kept, hostFolder())).some((name) => name.startsWith('latin'))).toBe(true);
    const again = await mirrored(kept, '--keep-gone');
    expect(again.mirror).toMatchObject({ keptGone: mirror.keptGone, written: 0 });
  }, 60_000);

  it('goes on after a signal, and links to what has joined meanwhile', async () => {
    const folder = join(dir, 'stopped');
    const guide = site!.files.get('/docs/guide.html')!;
    site!.files.delete('/docs/guide.html');
    await mirrored(folder, '--all');
    site!.files.set('/docs/guide.html', guide);
    expect(await run(['crawl', '--all', ...NETWORK, ...where, '-q'])).toMatchObject({ code: 0 });
    const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
    const config = defaultConfig(['http.allowAddresses=127.0.0.1']);
    const crawler = await openCrawler({ config, dir: join(dir, 'crawl'), log });
    try {
      for (let files = 1; files < 30; files += 4) {
        let asked = 0;
        const signal = Object.defineProperty(new AbortController().signal, 'aborted', { get: () => asked++ >= files });
        expect(await crawler.mirror(folder, { signal })).toMatchObject({ isCutShort: true });
      }
    } finally {
      await crawler.close();
    }
    const fresh = join(dir, 'fresh');
    await mirrored(folder, '--no-crawl');
    await mirrored(fresh, '--no-crawl');
    const texts = (files: ReturnType<typeof filesIn>) => [...files].map(([file, { text }]) => [file, text]);
    expect(texts(filesIn(folder))).toEqual(texts(filesIn(fresh)));
    expect(readFileSync(join(folder, hostFolder(), 'docs', 'index.html'), 'utf8')).toContain('href="guide.html"');
  }, 60_000);

  it('needs the stored requisites, which survive pruning', async () => {
    const pruned = await run(['state', 'prune', '--keep-days', '0', ...where, '--json']);
    expect([pruned.code, pruned.stderr]).toEqual([0, expect.anything()]);
    const { segments } = JSON.parse(pruned.stdout) as { segments: { id: string; verdict: string }[] };
    expect(segments.some(({ id, verdict }) => id.startsWith('requisites/') && verdict === 'removed')).toBe(true);
    const { mirror } = await mirrored(join(dir, 'after-prune'), '--no-crawl');
    expect(mirror).toMatchObject({ missing: 0 });
  }, 60_000);

  it('has its requisites in backups, and checked and repaired with the crawl', async () => {
    const backup = join(dir, 'backup');
    const [saved, checked] = [
      await run(['state', 'backup', backup, ...where]),
      await run(['state', 'backup', '--check', backup]),
    ];
    expect([saved.code, saved.stdout]).toEqual([0, expect.stringMatching(/\d+ rows of that of requisites/)]);
    expect([checked.code, checked.stdout]).toEqual([0, expect.stringContaining('of that of requisites')]);
    const restored = ['--dir', join(dir, 'restored')];
    expect(await run(['state', 'restore', backup, ...restored])).toMatchObject({ code: 0 });
    const again = await run(['mirror', join(dir, 'of-restored'), '--no-crawl', '--json', ...restored]);
    expect(JSON.parse(again.stdout).mirror).toMatchObject({ missing: 0 });
    expect(filesIn(join(dir, 'of-restored')).size).toBe(filesIn(join(dir, 'after-prune')).size);

    const sound = await run(['state', 'verify', '--deep', ...restored]);
    expect([sound.code, sound.stdout]).toEqual([0, expect.stringMatching(/; of requisites: \d+ records/)]);
    const segments = join(dir, 'restored', 'requisites', 'segments');
    const [segment] = readdirSync(segments) as [string];
    writeFileSync(join(segments, segment, 'data-00000.warc.gz'), 'no gzip');
    const damaged = await run(['state', 'verify', '--json', '--deep', ...restored]);
    const { findings } = JSON.parse(damaged.stdout) as { findings: { subject: string }[] };
    expect(damaged.code).toBe(1);
    for (const { subject } of findings) expect(subject).toContain(`requisites/`);
    const repaired = await run(['state', 'repair', ...restored]);
    expect([repaired.code, repaired.stdout]).toEqual([0, expect.stringContaining(`Segment requisites/${segment}`)]);

    writeFileSync(join(backup, 'requisites', 'segments', segment, 'data-00000.warc.gz'), 'no gzip');
    const broken = await run(['state', 'backup', '--check', backup]);
    expect([broken.code, broken.stderr]).toEqual([2, expect.stringContaining('the backup is damaged: requisites/')]);
  }, 60_000);

  it('is refused in a folder with other things, of another crawl, and for seeds alone', async () => {
    const other = join(dir, 'other');
    writeFileSync(other, 'a file');
    for (const [args, said] of [
      [[dir], 'expected a mirror, or an empty or new folder'],
      [[other], 'EEXIST'],
      [[`${site!.origin}/`], 'expected a folder for the copy'],
    ] as const) {
      const refused = await run(['mirror', ...args, ...where, '--no-crawl']);
      expect([refused.code === 0, refused.stderr]).toEqual([false, expect.stringContaining(said)]);
    }
    const foreign = await run(['mirror', `${site!.origin}/`, copy, '--dir', join(dir, 'second'), ...NETWORK]);
    expect([foreign.code, foreign.stderr]).toEqual([2, expect.stringContaining('the mirror of another crawl')]);
  }, 60_000);

  it('is old or new file by file, wherever a run is killed', async () => {
    const fresh = join(dir, 'killed');
    await mirrored(fresh, '--no-crawl');
    const whole = filesIn(fresh);
    const again = join(dir, 'killed-again');
    for (let kill = 0; kill < 12; kill++) {
      const child = spawn(process.execPath, [BINARY, 'mirror', again, '--no-crawl', ...where], { stdio: 'ignore' });
      const ended = new Promise((resolve) => child.once('exit', resolve));
      await delay(250 + kill * 40);
      child.kill('SIGKILL');
      await ended;
      if (!existsSync(again)) continue;
      for (const [file, { text }] of filesIn(again)) {
        if (file.startsWith('.incrawl-partial')) continue;
        expect(text, file).toBe(whole.get(file)?.text);
      }
    }
    await mirrored(again, '--no-crawl');
    expect([...filesIn(again).keys()]).toEqual([...whole.keys()]);
  }, 120_000);
});

describe.skipIf(noBrowser !== null)(
  `a mirror in a browser${noBrowser === null ? '' : ` (skipped: ${noBrowser})`}`,
  () => {
    it('looks like the site, from disk and without a request to the web', async () => {
      const shown = join(dir, 'shown');
      await mirrored(`${site!.origin}/`, shown, '--all');
      const browser = await playwright().chromium.launch({ executablePath: browserProgram(), args: ['--no-sandbox'] });
      try {
        const context = await browser.newContext({ viewport: { width: 800, height: 600 } });
        const page = (await context.newPage()) as unknown as ShownPage;
        const requests: string[] = [];
        const failures: string[] = [];
        page.on('request', (request) => requests.push(request.url()));
        page.on('requestfailed', (request) => failures.push(request.url()));
        await page.goto(`${site!.origin}/`, { waitUntil: 'load' });
        const original = await page.screenshot();
        requests.length = 0;
        failures.length = 0;
        await page.goto(pathToFileURL(join(shown, hostFolder(), 'index.html')).href, { waitUntil: 'load' });
        const local = await page.screenshot();
        expect(requests.filter((url) => !/^(?:file|data):/.test(url))).toEqual([]);
        expect(failures).toEqual([]);
        expect(local.equals(original)).toBe(true);
      } finally {
        await browser.close();
      }
    }, 120_000);
  },
);
