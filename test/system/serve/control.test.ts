import { once } from 'node:events';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGate } from '../../cli/support/gate.ts';
import { type LocalSite, startSite } from '../../cli/support/local-site.ts';
import { workDir } from '../../support/work-dir.ts';
import { json, type Running, run, start } from '../support/binary.ts';
import { findChromium, openTab } from './browser.ts';

const TOKEN = 'a token of the test, long enough';
const CRAWL = [
  '--allow',
  '127.0.0.1',
  '--delay',
  '0',
  '--quiet',
  '-D',
  'sitemaps.mode=off',
  '-D',
  'fetch.soft404=false',
];
const chromium = findChromium();
const { INCRAWL_SCREENSHOTS: pictures } = process.env;

describe('serve --control', () => {
  const dir = join(workDir(), 'crawldb');
  const gate = createGate();
  let site: LocalSite;
  let live: Running;
  let crawl: Running;
  let view = '';

  beforeAll(async () => {
    site = await startSite({ pages: 6, gate });
    mkdirSync(dir, { recursive: true });
    const file = join(dir, '..', 'token');
    writeFileSync(file, `${TOKEN}\n`, { mode: 0o600 });
    await halted(2);
    live = start(['serve', '--control', '--token-file', file, '--port', '0', '--json', '--dir', dir]);
    const [line] = (await once(live.child.stdout!, 'data')) as [string];
    view = (JSON.parse(line) as { url: string }).url.replace(/\/$/, '');
  });
  afterAll(async () => {
    gate.open();
    crawl.child.kill('SIGKILL');
    live.child.kill('SIGTERM');
    await Promise.all([live.finished, crawl.finished]);
    await site.close();
  });

  /** Starts a crawl of which the server holds a request back, after so many more. */
  async function halted(more: number): Promise<void> {
    const seen = site.log.length;
    gate.closeAfter(more);
    crawl = start(['crawl', `${site.origin}/`, '--dir', dir, ...CRAWL]);
    await site.seen(seen + more + 1);
  }

  const bearer = { authorization: `Bearer ${TOKEN}` };
  const tell = async (command: string, form: Record<string, string> = {}, headers: Record<string, string> = bearer) => {
    const answer = await fetch(`${view}/control/${command}`, {
      method: 'POST',
      headers,
      body: new URLSearchParams(form),
    });
    const type = answer.headers.get('content-type') ?? '';
    return { status: answer.status, body: type.includes('json') ? await answer.json() : await answer.text() };
  };
  const isQuiet = async (): Promise<void> => {
    for (;;) {
      const { run } = await json<{ run: { steering?: { inFlight: number } } | null }>(['top', '--dir', dir]);
      if (run?.steering?.inFlight === 0) return;
    }
  };

  it('refuses to start without a token, and with one that others may read', async () => {
    const env = { INCRAWL_SERVE_TOKEN: '' };
    expect(await run(['serve', '--control', '--dir', dir], { env })).toMatchObject({
      ...{ code: 2, stderr: expect.stringContaining('--control needs a token') },
    });
    const open = join(dir, '..', 'open');
    writeFileSync(open, TOKEN);
    chmodSync(open, 0o644);
    expect(await run(['serve', '--control', '--token-file', open, '--dir', dir])).toMatchObject({
      ...{ code: 2, stderr: expect.stringContaining(`chmod 600 ${open}`) },
    });
  });

  it('takes no command without the token, from other origins, under other names, or by GET', async () => {
    const cookie = { authorization: `Basic ${Buffer.from(`:${TOKEN}`).toString('base64')}` };
    const refused = [
      await tell('pause', {}, {}),
      await tell('pause', {}, { authorization: 'Bearer another token of its length..' }),
      await tell('pause', {}, cookie),
      await tell('pause', {}, { ...cookie, origin: 'http://attacker.test' }),
      await tell('pause', {}, { ...bearer, origin: 'null' }),
    ];
    expect(refused.map(({ status }) => status)).toEqual([401, 401, 403, 403, 403]);
    expect((await fetch(`${view}/control/pause`, { headers: bearer })).status).toBe(405);
    const { port } = new URL(view);
    const asking = request({
      port,
      method: 'POST',
      path: '/control/pause',
      headers: { ...bearer, host: 'attacker.test' },
    });
    const [answer] = (await once(asking.end(), 'response')) as [{ statusCode?: number; resume(): void }];
    answer.resume();
    expect(answer.statusCode).toBe(421);
    const { run: shown } = await json<{ run: { steering: { paused: boolean } } }>(['top', '--dir', dir]);
    expect(shown.steering.paused).toBe(false);
  });

  it('pauses, takes seeds, touches and delays; a crawl that is killed while paused has lost none of them', async () => {
    const { host } = new URL(site.origin);
    const both = await Promise.all([tell('pause'), tell('pause')]);
    expect(both.map(({ status, body }) => [status, (body as { paused: boolean }).paused])).toEqual([
      ...[[200, true] as const, [200, true] as const],
    ]);
    gate.open();
    await isQuiet();
    const asked = site.log.length;
    expect(await tell('inject', { seeds: `${site.origin}/page/6?new\nno URL` })).toMatchObject({
      body: { injected: 1 },
    });
    expect(await tell('touch', { u: `${site.origin}/` })).toMatchObject({ body: { touched: 1 } });
    expect(await tell('delay', { host, seconds: '0.2' })).toMatchObject({ body: { host, delayMs: 200, leastMs: 0 } });
    expect(await tell('delay', { host, seconds: 'soon' })).toMatchObject({
      status: 400,
      body: { error: 'usage-invalid' },
    });
    const page = await tell('inject', { seeds: `${site.origin}/` }, { ...bearer, accept: 'text/html' });
    expect(page.body).toContain('1 kept unchanged');
    const seen = async (path: string): Promise<string> => (await fetch(`${view}${path}`, { headers: bearer })).text();
    expect(await seen('/')).toMatch(/class="activity running paused"[\s\S]*action="\/control\/resume"/);
    expect(await seen('/metrics')).toContain('incrawl_run_paused 1');
    expect(site.log.length).toBe(asked);
    crawl.child.kill('SIGKILL');
    await crawl.finished;
    expect(await tell('resume')).toMatchObject({ status: 409, body: { error: 'run-missing' } });
    await run(['crawl', '--dir', dir, ...CRAWL]);
    expect(site.log.filter((path) => path === '/')).toHaveLength(2);
    expect(site.log).toContain('/page/6?new');
    // The start page was asked for again, two pages are missing, and robots.txt forbids one.
    const { byStatus } = await json<{ byStatus: Record<string, number> }>(['readdb', '--stats', '--dir', dir]);
    expect(byStatus).toEqual({ fetched: 6, notmodified: 1, gone: 2, redir_perm: 1, unfetched: 1 });
  });

  it('takes the same commands from "incrawl ctl"', async () => {
    await run(['due', 'touch', `${site.origin}/`, '--dir', dir]);
    await halted(0);
    const { host } = new URL(site.origin);
    const commands: (readonly [RegExp, ...string[]])[] = [
      [/^Paused: no further request begins, 1 under way will end\./, 'pause'],
      [/^The crawl goes on\.$/m, 'resume'],
      [/: 1 s between requests\.$/m, 'delay', host, '1'],
      [/^1 made due/, 'touch', `${site.origin}/page/1`],
      [/^1 URL: 1 kept unchanged$/m, 'inject', `${site.origin}/`],
      [/^The crawl ends after this round\.$/m, 'stop'],
    ];
    for (const [said, ...words] of commands) {
      const { stdout, stderr } = await run(['ctl', ...words, '--dir', dir]);
      expect(`${stdout}${stderr}`).toMatch(said);
    }
    gate.open();
    expect((await crawl.finished).code).toBe(0);
  });

  it.skipIf(chromium === null)('in a browser: its buttons pause, resume and stop', async () => {
    await run(['due', 'touch', `${site.origin}/`, `${site.origin}/page/1`, `${site.origin}/page/2`, '--dir', dir]);
    await halted(0);
    const tab = await openTab(chromium as string);
    try {
      await tab.send('Network.enable');
      const authorization = `Basic ${Buffer.from(`:${TOKEN}`).toString('base64')}`;
      await tab.send('Network.setExtraHTTPHeaders', { headers: { authorization } });
      await tab.send('Emulation.setDeviceMetricsOverride', {
        width: 1280,
        height: 800,
        deviceScaleFactor: 1,
        mobile: false,
      });
      const shows = async (pattern: RegExp): Promise<void> => {
        for (;;) if (pattern.test(await tab.evaluate<string>('document.body?.innerText ?? ""'))) return;
      };
      await tab.open(`${view}/`);
      await shows(/A crawl runs \(crawl, process \d+\)[\s\S]*Pause\s+Stop after this round/);
      await tab.evaluate(`document.querySelector('form[action="/control/pause"] button').click()`);
      await shows(/pausing, 1 request in flight[\s\S]*Resume\s+Stop after this round/);
      gate.open();
      await shows(/process \d+; paused\)/);
      await tab.evaluate(`document.querySelector('form[action="/control/stop"] button').click()`);
      await shows(/paused, stops after this round[\s\S]*Resume\s+Stops after this round/);
      if (pictures !== undefined) {
        await tab.evaluate(`document.querySelector('details').open = true`);
        const { data } = await tab.send('Page.captureScreenshot');
        writeFileSync(join(pictures, 'control.png'), Buffer.from(String(data), 'base64'));
      }
      expect(tab.errors()).toEqual([]);
      await tab.evaluate(`document.querySelector('form[action="/control/resume"] button').click()`);
      expect((await crawl.finished).code).toBe(0);
      await shows(/No crawl is running/);
    } finally {
      await tab.close();
    }
  });
});
