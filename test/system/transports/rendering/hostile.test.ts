import { createSocket } from 'node:dgram';
import { readdirSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { seed, visiting } from '../../../integration/visiting.ts';
import { listen } from './apps.ts';
import { noBrowser } from './browser.ts';

const LONG = `<p>${'Words that are on the page. '.repeat(20)}</p>`;
const page = (script: string): string =>
  `<html><head><title>t</title></head><body>${LONG}<script>${script}</script></body></html>`;
const ADD = `document.body.insertAdjacentHTML('beforeend', '<p id="added">Added by a script</p>');`;

/** An address that the crawler may not reach, either. */
const HIDDEN = '127.0.0.2';

/** Pages by path: what they try, and whether their document is taken. */
const PAGES: Readonly<Record<string, { readonly script: string; readonly isTaken: boolean }>> = {
  '/well': { script: ADD, isTaken: true },
  '/dialogs': {
    script: `for (let i = 0; i < 20; i++) { alert(i); confirm(i); prompt(i); } onbeforeunload = () => 'stay'; ${ADD}`,
    isTaken: true,
  },
  '/windows': { script: `for (let i = 0; i < 5; i++) window.open('/secret?' + i); ${ADD}`, isTaken: true },
  '/download': {
    script: `const a = document.createElement('a'); a.href = '/file.bin'; a.download = 'x'; a.click(); ${ADD}`,
    isTaken: true,
  },
  '/away': { script: `${ADD} location.href = '/secret?away';`, isTaken: true },
  '/frames': {
    script: `document.body.append(Object.assign(document.createElement('iframe'), { src: '/secret?frame' })); ${ADD}`,
    isTaken: true,
  },
  '/timers': {
    script: `const tick = () => setTimeout(tick, 0); tick(); setInterval(() => {}, 1); ${ADD}`,
    isTaken: true,
  },
  '/sockets': {
    script: `new WebSocket('ws://' + location.host + '/secret'); navigator.sendBeacon('/secret', 'x'); ${ADD}`,
    isTaken: true,
  },
  '/posts': { script: `fetch('/secret', { method: 'POST', body: 'x' }).catch(() => {}); ${ADD}`, isTaken: true },
  '/prefetch': {
    script: `document.head.insertAdjacentHTML('beforeend', '<link rel="prefetch" href="/secret?p"><link rel="preconnect" href="http://127.0.0.1:1">'); ${ADD}`,
    isTaken: true,
  },
  '/requests': {
    script: `for (let i = 0; i < 1000; i++) fetch('/data/' + i).catch(() => {}); ${ADD}`,
    isTaken: true,
  },
  '/hangs': { script: `${ADD} document.write('<script src="/hang"></' + 'script>');`, isTaken: true },
  '/waits': { script: `${ADD} fetch('/hang');`, isTaken: true },
  '/metadata': { script: `${ADD} location.replace('http://169.254.169.254/latest/meta-data/');`, isTaken: true },
  '/throws': { script: `${ADD} throw new Error('no');`, isTaken: true },
  '/endless': { script: `${ADD} for (;;) {}`, isTaken: true },
  '/memory': { script: 'const held = []; for (;;) held.push(new Array(1e6).fill(held.length));', isTaken: false },
  '/elements': {
    script: `for (;;) document.body.insertAdjacentHTML('beforeend', '<b></b>'.repeat(1e5));`,
    isTaken: false,
  },
};

describe.skipIf(noBrowser !== null)(`hostile pages${noBrowser === null ? '' : ` (${noBrowser})`}`, () => {
  it('cost only themselves, and reach nothing that the crawler would not ask for', async () => {
    const secrets: string[] = [];
    let data = 0;
    const site = await visiting(
      (request, response) => {
        const path = request.url ?? '';
        if (path.startsWith('/secret') || path.startsWith('/file') || request.method === 'POST') secrets.push(path);
        if (path.startsWith('/data/')) data++;
        if (path === '/hang') return;
        const known = PAGES[path];
        if (known === undefined) return void response.writeHead(404).end();
        response.writeHead(200, { 'content-type': 'text/html' }).end(page(known.script));
      },
      ...['render.mode=always', 'render.timeout=4s', 'render.maxMemory=700MiB'],
    );
    const { crawler, origin } = site;
    await crawler.crawl({ ...seed(...Object.keys(PAGES).map((path) => `${origin}${path}`)), rounds: 1 });
    const found: Record<string, boolean> = {};
    for (const path of Object.keys(PAGES)) {
      const stored = await crawler.segmentRecord(`${origin}${path}`);
      found[path] = stored?.response?.rendered?.includes('Added by a script') ?? false;
    }
    expect(found).toEqual(Object.fromEntries(Object.entries(PAGES).map(([path, { isTaken }]) => [path, isTaken])));
    expect(secrets).toEqual([]);
    // As many as render.maxRequests allows, or as there was time for.
    expect(data).toBeGreaterThan(0);
    expect(data).toBeLessThanOrEqual(60);
    const metadata = (await crawler.segmentRecord(`${origin}/metadata`))?.parsed?.outlinks;
    expect(metadata).toMatchObject([{ url: 'http://169.254.169.254/latest/meta-data/', rel: 'refresh' }]);
    const away = (await crawler.segmentRecord(`${origin}/away`))?.parsed?.outlinks;
    expect(away).toMatchObject([{ url: `${origin}/secret?away`, rel: 'refresh' }]);
    expect((await crawler.record(`${origin}/memory`))?.lastError?.code).toBe('render-failed');
  }, 240_000);

  it('get no answer from addresses, robots.txt and origins that are not theirs to ask', async () => {
    const asked: string[] = [];
    const other = await listen((request, response) => {
      asked.push(request.url ?? '');
      if (request.url === '/robots.txt') return void response.writeHead(200).end('User-agent: *\nDisallow: /closed\n');
      const open = request.url?.startsWith('/open') ? { 'access-control-allow-origin': '*' } : {};
      response.writeHead(200, { 'content-type': 'text/plain', ...open }).end('SECRET OF ANOTHER');
    });
    const port = new URL(other).port;
    const targets = [
      `${other}/open`,
      `${other}/opaque`,
      `${other}/closed`,
      `http://127.0.0.2:${port}/open`,
      '/private/x',
    ];
    const script = `
      const show = (text) => document.body.append(Object.assign(document.createElement('p'), { textContent: text }));
      for (const url of ${JSON.stringify(targets)}) fetch(url).then((r) => r.text()).then((t) => show('GOT ' + url + ' ' + t), () => show('REFUSED ' + url));`;
    const site = await visiting(
      (request, response) => {
        if (request.url === '/private/x') asked.push('/private/x');
        response.writeHead(200, { 'content-type': 'text/html' }).end(page(script));
      },
      ...['render.mode=always', 'http.allowAddresses=["127.0.0.1"]'],
    );
    await site.crawler.crawl({ ...seed(`${site.origin}/`), rounds: 1 });
    const shown = (await site.crawler.segmentRecord(`${site.origin}/`))?.response?.rendered ?? '';
    expect(shown.match(/(?<=<p>)(?:GOT|REFUSED) [^\s<]+/g)?.sort()).toEqual(
      [`GOT ${other}/open`, ...targets.slice(1).map((url) => `REFUSED ${url}`)].sort(),
    );
    expect(asked.sort()).toEqual(['/opaque', '/open', '/robots.txt']);
  });

  it('open no connection of their own', async () => {
    const reached: string[] = [];
    const tcp = createTcpServer((socket) => {
      reached.push('tcp');
      socket.destroy();
    });
    const udp = createSocket('udp4').on('message', () => reached.push('udp'));
    await Promise.all([
      new Promise<void>((resolve) => tcp.listen(0, HIDDEN, resolve)),
      new Promise<void>((resolve) => udp.bind(0, HIDDEN, resolve)),
    ]);
    onTestFinished(() => {
      tcp.close();
      udp.close();
    });
    const [port, udpPort] = [(tcp.address() as AddressInfo).port, udp.address().port];
    const script = `
      const at = '${HIDDEN}:${port}';
      const attempt = (act) => { try { act(); } catch {} };
      attempt(() => new WebSocket('ws://' + at));
      attempt(() => new WebSocket('wss://' + at));
      attempt(() => new EventSource('http://' + at));
      attempt(() => new WebTransport('https://' + at));
      attempt(() => new Worker('http://' + at + '/worker.js'));
      attempt(() => new Worker(URL.createObjectURL(new Blob(["fetch('http://" + at + "').catch(() => {}); try { new WebSocket('ws://" + at + "'); } catch {}"]))));
      attempt(() => navigator.sendBeacon('http://' + at, 'x'));
      attempt(() => fetch('http://' + at, { method: 'POST', keepalive: true, mode: 'no-cors' }).catch(() => {}));
      attempt(() => {
        const peer = new RTCPeerConnection({ iceServers: [{ urls: 'stun:${HIDDEN}:${udpPort}' }, { urls: 'turn:' + at + '?transport=tcp', username: 'a', credential: 'b' }] });
        peer.createDataChannel('x');
        peer.createOffer().then((offer) => peer.setLocalDescription(offer));
      });
      for (const rel of ['preconnect', 'dns-prefetch', 'prefetch', 'prerender', 'icon', 'manifest'])
        document.head.append(Object.assign(document.createElement('link'), { rel, href: 'http://' + at }));
      for (const [name, field] of [['img', 'src'], ['iframe', 'src'], ['object', 'data'], ['embed', 'src'], ['video', 'src']])
        document.body.append(Object.assign(document.createElement(name), { [field]: 'http://' + at }));
      const rules = document.createElement('script');
      rules.type = 'speculationrules';
      rules.textContent = JSON.stringify({ prefetch: [{ source: 'list', urls: ['http://' + at + '/s'] }] });
      document.head.append(rules);
      setTimeout(() => { ${ADD} }, 2000);`;
    const site = await visiting(
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/html' }).end(page(script));
      },
      ...['render.mode=always', 'http.allowAddresses=["127.0.0.1"]'],
    );
    await site.crawler.crawl({ ...seed(`${site.origin}/`), rounds: 1 });
    expect((await site.crawler.segmentRecord(`${site.origin}/`))?.response?.rendered).toContain('Added by a script');
    // The browser ends with the crawler: what it had begun has then failed, or come.
    await site.reopen();
    expect(reached).toEqual([]);
  });

  it('leave no process and no profile behind when the browser is killed, or the crawl ends', async () => {
    const kills: number[] = [];
    const site = await visiting(
      (request, response) => {
        if (request.url === '/data' && kills.length === 0) {
          const pid = browserOf(site.dir);
          if (pid !== null) {
            kills.push(pid);
            process.kill(pid, 'SIGKILL');
          }
        }
        if (request.url === '/data') return void response.writeHead(200).end('Data of the page');
        const script = `fetch('/data').then((r) => r.text()).then((t) => document.body.append(t));`;
        response.writeHead(200, { 'content-type': 'text/html' }).end(page(script));
      },
      ...['render.mode=always'],
    );
    const { totals } = await site.crawler.crawl({ ...seed(`${site.origin}/`), rounds: 1 });
    expect(kills).toHaveLength(1);
    expect([totals.fetched, totals.failed]).toEqual([1, 0]);
    expect((await site.crawler.segmentRecord(`${site.origin}/`))?.response?.rendered).toContain('Data of the page');
    await site.reopen();
    expect(readdirSync(`${site.dir}/browsers`)).toEqual([]);
    expect(browserOf(site.dir)).toBe(null);
  });
});

/** The browser whose profile is noted in a state directory. */
function browserOf(dir: string): number | null {
  const profiles = notesIn(dir).map((note) => readFileSync(`${dir}/browsers/${note}`, 'utf8'));
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      if (!command.includes('--type=') && profiles.some((profile) => command.includes(profile))) return Number(pid);
    } catch {
      // It has ended meanwhile.
    }
  }
  return null;
}

const notesIn = (dir: string): string[] => {
  try {
    return readdirSync(`${dir}/browsers`);
  } catch {
    return [];
  }
};
