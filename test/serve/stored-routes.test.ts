import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGate } from '../cli/support/gate.ts';
import { prepare, type Running, start } from '../support/program.ts';
import { workDir } from '../support/work-dir.ts';

interface File {
  readonly type: string;
  readonly body: string | Uint8Array;
  readonly location?: string;
}

const html = (body: string): File => ({ type: 'text/html; charset=utf-8', body });
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const files = new Map<string, File>([
  [
    '/',
    html(
      `<title>Start</title><link rel=stylesheet href=/s.css><img src=/p.png><img src=/d.svg><img src=/none.png><script src=/s.js></script>
      <a href=/text>t</a><a href=/json>j</a><a href=/picture>p</a><a href=/file>f</a><a href=/moved>m</a><a href=/latin>l</a><a href=/script>s</a><p>The first words of the page.`,
    ),
  ],
  ['/text', { type: 'text/plain', body: '<script>alert(1)</script> & text' }],
  ['/json', { type: 'application/json', body: '{"a":"<b>"}' }],
  ['/script', { type: 'text/javascript', body: 'alert(1)' }],
  [
    '/picture',
    { type: 'image/svg+xml', body: '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>' },
  ],
  ['/file', { type: 'application/x-thing; a="b"', body: Buffer.from([1, 2, 3]) }],
  ['/moved', { type: 'text/html', body: '', location: '/latin' }],
  [
    '/latin',
    { type: 'text/html; charset=iso-8859-1', body: Buffer.from('<title>Caf\xe9</title><p>Caf\xe9 words', 'latin1') },
  ],
  [
    '/s.css',
    { type: 'text/css', body: '@import "deep.css"; p { background: url(/p.png) url(//elsewhere.example/x) }' },
  ],
  ['/deep.css', { type: 'text/css', body: 'p { color: red }' }],
  ['/s.js', { type: 'text/javascript', body: 'alert(1)' }],
  ['/p.png', { type: 'image/png', body: PNG }],
  ['/d.svg', { type: 'image/svg+xml', body: '<svg xmlns="http://www.w3.org/2000/svg"/>' }],
]);

const dir = workDir();
const gate = createGate();
const bound = ['--dir', dir, '--allow', '127.0.0.1', '--delay', '0'];
const options = ['-D', 'fetch.requisites=same-host', '-D', 'dedup.mode=off'];
let site: Server;
let origin = '';
let live: Running;
let view = '';

beforeAll(async () => {
  site = createServer((asked, answer) => {
    const file = files.get(asked.url ?? '');
    if (file === undefined) return void answer.writeHead(404).end();
    const { type, body, location } = file;
    if (location !== undefined) return void answer.writeHead(301, { location }).end();
    // Headers of strangers are not passed on.
    const headers = {
      'content-type': type,
      link: '</x>; rel=preload; as=script',
      refresh: '0;/x',
      'set-cookie': 'a=b',
    };
    gate.pass(() => answer.writeHead(200, headers).end(body));
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(site.address() as { port: number }).port}`;
  await prepare(['crawl', `${origin}/`, ...bound, ...options]);
  files.set('/', html(String(files.get('/')!.body).replace('first words', 'second words')));
  await prepare(['crawl', ...bound, ...options, '--all']);
  live = start(['serve', '--port', '0', '--json', '--dir', dir]);
  view = (JSON.parse(await live.saying(/^\{.*\}\n/m)) as { url: string }).url.replace(/\/$/, '');
});
afterAll(async () => {
  live.stop();
  expect(await live.finished).toMatchObject({ code: 0 });
  site.closeAllConnections();
  site.close();
});

const viewOf = (path: string, more = ''): string => `${view}/stored?u=${encodeURIComponent(origin + path)}${more}`;
const unescaped = (text: string): string => text.replaceAll('&amp;', '&');
const textOf = async (url: string): Promise<string> => (await fetch(url)).text();
/** Addresses of stored content in a page, by their kind and the end of the URL that they stand for. */
const addressIn = (page: string, kind: string, end: string): string =>
  view +
  unescaped(
    [...page.matchAll(/\/content\/[\w-]+\/(\w+)\?[^"\s]*/g)].find(
      ([address, found]) =>
        found === kind && new URLSearchParams(unescaped(address!.split('?')[1]!)).get('u')?.endsWith(end) === true,
    )?.[0] ?? `/nothing/${kind}/${end}`,
  );
const documentOf = async (path: string): Promise<string> => addressIn(await textOf(viewOf(path)), 'page', path);

describe('a stored page', () => {
  it('is in a frame that can do nothing, below what is known of it', async () => {
    const answer = await fetch(viewOf('/'));
    const page = await answer.text();
    expect(page).toMatch(
      /<iframe class="stored" sandbox="" referrerpolicy="no-referrer" src="\/content\/[\w-]{22}\/page\?/,
    );
    expect(page).toContain('200, text/html');
    expect(page).toContain('1 of 5 not stored');
    expect(page).toContain('/compare?');
    const policy = answer.headers.get('content-security-policy');
    expect(policy).toMatch(/frame-src 127\.0\.0\.1:\d+\/content\/[\w-]{22}\/; frame-ancestors 'none'/);
    expect(policy).toContain(`default-src 'none'`);
  });

  it('has an origin of its own, whoever opens it, and loads stored content alone', async () => {
    const answer = await fetch(await documentOf('/'));
    const host = view.replace('http://', '');
    const headers = Object.fromEntries(answer.headers);
    const policy = headers['content-security-policy']!.split('; ');
    expect(policy).toContain('sandbox');
    expect(policy).toContain(`default-src 'none'`);
    expect(policy.filter((each) => /script|connect|self/.test(each))).toEqual([]);
    expect(policy.find((each) => each.startsWith('style-src'))).toMatch(
      new RegExp(`^style-src ${host.replaceAll('.', '\\.')}/content/[\\w-]{22}/ 'unsafe-inline'$`),
    );
    expect(headers).toMatchObject({
      'content-type': expect.stringMatching(/^text\/html; charset=utf-8$/i),
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'x-dns-prefetch-control': 'off',
    });
    expect(Object.keys(headers).filter((name) => /^(?:link|refresh|set-cookie)$/.test(name))).toEqual([]);
    const text = await answer.text();
    expect(text).toContain('second words');
    expect(text).not.toMatch(/<script|127\.0\.0\.1:\d+\/(?!content)[^"]*"/);
  });

  it('has its style sheets, with what they import, and pictures; not what could run', async () => {
    const page = await textOf(await documentOf('/'));
    const sheet = await fetch(addressIn(page, 'file', '/s.css'));
    expect(sheet.headers.get('content-type')).toBe('text/css; charset=utf-8');
    const css = await sheet.text();
    expect(css).not.toContain('elsewhere');
    expect(await textOf(addressIn(css, 'file', '/deep.css'))).toBe('p { color: red }');
    const picture = await fetch(addressIn(page, 'file', '/p.png'));
    expect(picture.headers.get('content-type')).toBe('image/png');
    expect(Buffer.from(await picture.arrayBuffer())).toEqual(PNG);
    // As a picture it shows; opened by itself it is kept as a file.
    const drawing = await fetch(addressIn(page, 'file', '/d.svg'));
    expect(drawing.headers.get('content-type')).toBe('image/svg+xml');
    expect(drawing.headers.get('content-disposition')).toMatch(/^attachment; filename="d\.svg"$/);
    const script = await fetch(addressIn(page, 'file', '/d.svg').replace('d.svg', 's.js'));
    expect(script.headers.get('content-type')).toBe('application/octet-stream');
  });

  it('that is no page: text as text, a picture within a document, all else as a file', async () => {
    for (const [path, text] of [
      ['/text', '<script>alert(1)</script> & text'],
      ['/json', '{"a":"<b>"}'],
      ['/script', 'alert(1)'],
    ] as const) {
      const answer = await fetch(await documentOf(path));
      expect([path, answer.headers.get('content-type')]).toEqual([path, 'text/plain; charset=utf-8']);
      expect(await answer.text()).toBe(text);
    }
    const picture = await fetch(await documentOf('/picture'));
    expect(picture.headers.get('content-type')).toMatch(/^text\/html/);
    expect(await picture.text()).toMatch(/<img src="data:image\/svg\+xml;base64,[\w+/=]+" alt="">/);
    const page = await textOf(viewOf('/file'));
    expect(page).not.toContain('<iframe');
    expect(page).toContain('application/x-thing');
    const file = await fetch(addressIn(page, 'download', '/file'));
    expect(file.headers.get('content-type')).toBe('application/octet-stream');
    expect(file.headers.get('content-disposition')).toMatch(/^attachment; filename="[\w.~=-]+"$/);
    expect([...new Uint8Array(await file.arrayBuffer())]).toEqual([1, 2, 3]);
    const shown = await textOf(addressIn(page, 'download', '/file').replace('/download?', '/page?'));
    expect(shown).toContain('not a page');
  });

  it('follows redirects, and is decoded', async () => {
    const moved = addressIn(await textOf(await documentOf('/')), 'page', '/moved');
    expect(await textOf(moved)).toContain('Café words');
  });

  it('is that of the time asked for; without one, the nearest, and it says so', async () => {
    const page = await textOf(viewOf('/'));
    const [oldest] = [...page.matchAll(/<option value="([\w-]+)"/g)].map(([, segment]) => segment);
    const older = await textOf(viewOf('/', `&segment=${oldest}`));
    expect(await textOf(addressIn(older, 'page', '/'))).toContain('first words');
    const before = await textOf(viewOf('/', '&at=2001-01-01T00:00:00.000Z'));
    expect(before).toContain('No response of 2001-01-01 00:00 is stored');
    expect(await textOf(addressIn(before, 'page', '/'))).toContain('first words');
    const pruned = await textOf(viewOf('/', '&segment=20010101000000-00001'));
    expect(pruned).toContain('state prune');
    expect(pruned).toContain(`segment=${oldest}`);
    const url = await textOf(`${view}/url?u=${encodeURIComponent(`${origin}/`)}`);
    const [visit] = [...url.matchAll(/href="(\/stored\?[^"]*at=[^"]*)"/g)].map(([, href]) => unescaped(href!));
    expect(await textOf(`${view}${visit}`)).not.toContain('class="notice"');
  });

  it('stands beside another date, to and from the page of the difference', async () => {
    const u = encodeURIComponent(`${origin}/`);
    const page = await textOf(`${view}/compare?u=${u}`);
    const frames = [...page.matchAll(/<iframe [^>]*src="([^"]*)"/g)].map(([, source]) => view + unescaped(source!));
    expect(frames.length).toBe(2);
    expect(await Promise.all(frames.map(textOf))).toEqual([
      expect.stringContaining('first words'),
      expect.stringContaining('second words'),
    ]);
    const diff = /href="(\/diff\?[^"]*)"/.exec(page)?.[1] ?? '';
    expect(await textOf(view + unescaped(diff))).toContain('/compare?');
    expect(await textOf(`${view}/compare?u=${u}text`)).toContain('Only one version');
    expect(await textOf(`${view}/compare?u=${u}never`)).toContain('is not stored');
  });

  it('is not there for URLs that are not in the crawl, malformed or without the secret', async () => {
    const known = await documentOf('/');
    const asked = (change: (url: URL) => void): Promise<Response> => {
      const url = new URL(known);
      change(url);
      return fetch(url);
    };
    const refused = [
      await asked((url) => url.searchParams.set('u', `${origin}/never`)),
      await asked((url) => url.searchParams.set('u', 'file:///etc/passwd')),
      await asked((url) => url.searchParams.set('u', '../../../etc/passwd')),
      await asked((url) => url.searchParams.delete('u')),
      await asked((url) => url.searchParams.set('segment', '../../../../etc')),
      await asked((url) => url.searchParams.set('segment', '<img src=x>')),
      await asked((url) => {
        url.searchParams.delete('segment');
        url.searchParams.set('at', 'x'.repeat(99));
        url.searchParams.set('u', `${origin}/never`);
      }),
      await asked((url) => {
        url.pathname = url.pathname.replace('/page', '/file');
      }),
      await asked((url) => {
        url.pathname = url.pathname.replace('/page', '/elsewhere');
      }),
    ];
    for (const answer of refused) {
      expect(answer.status).toBe(404);
      expect(answer.headers.get('content-security-policy')).toMatch(/; sandbox$/);
      expect(await answer.text()).not.toMatch(/<img|<script/);
    }
    const guessed = await asked((url) => {
      url.pathname = url.pathname.replace(/content\/[\w-]+/, `content/${'A'.repeat(22)}`);
    });
    expect(guessed.status).toBe(404);
    expect((await fetch(known, { method: 'POST' })).status).not.toBe(200);
    expect(await textOf(viewOf('/never'))).toContain('is not stored');
    expect((await fetch(`${view}/stored?u=ht!tp`)).status).toBe(400);
  });

  it('shows while a crawl runs', async () => {
    gate.closeAfter(0);
    const asking = once(site, 'request');
    const crawl = start(['crawl', ...bound, ...options, '--all']);
    await asking;
    expect(await textOf(await documentOf('/'))).toContain('second words');
    gate.open();
    expect((await crawl.finished).code).toBe(0);
  });

  it('needs no token of its own where the live view needs one, and no page tells the secret without it', async () => {
    live.stop();
    await live.finished;
    const token = 'a-token-of-this-test';
    live = start(['serve', '--port', '0', '--json', '--dir', dir], { env: { INCRAWL_SERVE_TOKEN: token } });
    view = (JSON.parse(await live.saying(/^\{.*\}\n/m)) as { url: string }).url.replace(/\/$/, '');
    expect((await fetch(viewOf('/'))).status).toBe(401);
    const authorization = `Bearer ${token}`;
    const page = await (await fetch(viewOf('/'), { headers: { authorization } })).text();
    const address = addressIn(page, 'page', '/');
    expect((await fetch(address)).status).toBe(200);
    expect((await fetch(address.replace(/content\/./, 'content/'))).status).toBe(401);
    expect((await fetch(address.replace(/content\/[\w-]+\//, 'content/'))).status).toBe(401);
  });
});

describe('a crawl without requisites', () => {
  it('shows its pages without their style', async () => {
    const plain = join(workDir(), 'plain');
    await prepare(['crawl', `${origin}/`, '--dir', plain, '--allow', '127.0.0.1', '--delay', '0']);
    const served = start(['serve', '--port', '0', '--json', '--dir', plain]);
    const at = (JSON.parse(await served.saying(/^\{.*\}\n/m)) as { url: string }).url.replace(/\/$/, '');
    const page = await textOf(`${at}/stored?u=${encodeURIComponent(`${origin}/`)}`);
    expect(page).toContain('5 of 5 not stored');
    const source = unescaped(/<iframe [^>]*src="([^"]*)"/.exec(page)?.[1] ?? '');
    const text = await textOf(at + source);
    expect(text).toContain('second words');
    expect(text).toContain('<img src="data:,">');
    served.stop();
    expect((await served.finished).code).toBe(0);
  });
});
