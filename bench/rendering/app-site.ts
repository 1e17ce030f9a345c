import { createHash } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A single-page application on loopback: every page is the same shell, its text and links come as JSON. */
export interface AppSite {
  readonly origin: string;
  /** Answers since the last call: bodies and 304s of shells, data and shared files; bytes of bodies. */
  taken(): { readonly pages: number; readonly data: number; readonly shared: number; readonly bytes: number };
  /** Gives this share of the pages, spread evenly, other text; returns how many. */
  change(share: number): number;
  close(): Promise<void>;
}

/** Text of a page, characters. */
const TEXT = 3_000;
/** The script is as long as that of a small application with its framework, bytes. */
const SCRIPT_BYTES = 150_000;

const SHELL =
  '<!DOCTYPE html><html><head><meta charset="utf-8"><title>Shop</title><link rel="stylesheet" href="/app.css"><script defer src="/app.js"></script></head><body><div id="app"></div></body></html>';
const SHOW = `const number = location.pathname === '/' ? 0 : Number(location.pathname.split('/').pop());
fetch('/api/items/' + number).then((answer) => answer.json()).then(({ name, text, links }) => {
  document.title = name;
  const main = document.createElement('main');
  for (const part of text.split('\\n')) main.append(Object.assign(document.createElement('p'), { textContent: part }));
  for (const to of links) main.append(Object.assign(document.createElement('a'), { href: '/items/' + to, textContent: 'Item ' + to }));
  document.getElementById('app').append(main);
});
`;
const UNUSED = 'function part(a, b) { const c = []; for (const d of a) if (d !== b) c.push({ d, b }); return c; }\n';
const SCRIPT =
  Array.from({ length: Math.ceil(SCRIPT_BYTES / UNUSED.length) }, (_, i) => UNUSED.replace('part', `part${i}`)).join(
    '',
  ) + SHOW;
const STYLE = 'body { font: 16px sans-serif } main { max-width: 40rem; margin: auto } p { line-height: 1.5 }\n'.repeat(
  50,
);

export async function startAppSite(pages: number): Promise<AppSite> {
  const versions = new Array<number>(pages).fill(0);
  let log = { pages: 0, data: 0, shared: 0, bytes: 0 };
  const send = (response: ServerResponse, condition: unknown, type: string, body: string): void => {
    const etag = `"${createHash('sha1').update(body).digest('base64url')}"`;
    if (condition === etag) return void response.writeHead(304, { etag }).end();
    log.bytes += Buffer.byteLength(body);
    response.writeHead(200, { 'content-type': type, etag, 'cache-control': 'no-cache' }).end(body);
  };
  const server = createServer(({ url = '/', headers }, response) => {
    const condition = headers['if-none-match'];
    const number = /^\/(?:api\/)?(?:items\/(\d+))?$/.exec(url)?.[1] ?? '0';
    const i = Number(number);
    if (url === '/robots.txt' || url === '/favicon.ico' || i >= pages) return void response.writeHead(404).end();
    if (url === '/app.js' || url === '/app.css') {
      log.shared++;
      return url === '/app.js'
        ? send(response, condition, 'text/javascript', SCRIPT)
        : send(response, condition, 'text/css', STYLE);
    }
    if (url.startsWith('/api/')) {
      log.data++;
      return send(response, condition, 'application/json', JSON.stringify(itemOf(i, versions[i] as number, pages)));
    }
    log.pages++;
    send(response, condition, 'text/html', SHELL);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    taken() {
      const before = log;
      log = { pages: 0, data: 0, shared: 0, bytes: 0 };
      return before;
    },
    change(share) {
      const step = Math.round(1 / share);
      for (let i = step - 1; i < pages; i += step) versions[i] = (versions[i] as number) + 1;
      return Math.floor(pages / step);
    },
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function itemOf(i: number, version: number, pages: number): object {
  let text = '';
  for (let at = 0; text.length < TEXT; at++) {
    text += `w${(Math.imul((i + 1) * 7_919 + at + version * 104_729, 0x9e37_79b1) >>> 8) % 4_999} `;
    if (at % 60 === 59) text += '\n';
  }
  return { name: `Item ${i}`, text, links: [4 * i + 1, 4 * i + 2, 4 * i + 3, 4 * i + 4].filter((to) => to < pages) };
}
