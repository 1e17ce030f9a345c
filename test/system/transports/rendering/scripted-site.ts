import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { crc32 } from 'node:zlib';
import { png } from '../../mirror/requisite-site.ts';

/** The items of the application, a page of each. */
export const ITEMS = [1, 2, 3];

const SHELL =
  '<!doctype html><html><head><meta charset="utf-8"><title>Orchard</title>' +
  '<script type="module" src="/js/main.js"></script></head><body><div id="app">Please wait.</div></body></html>';

/** It shows each part only when what it is made from has come. */
const MAIN = `
import { heading } from './parts/heading.js';
const app = document.getElementById('app');
const number = Number(location.pathname.split('/').pop()) || 0;
const link = document.createElement('link');
link.rel = 'stylesheet';
link.href = '/style/late.css';
document.head.append(link);
const { listOf } = await import('./parts/list.js');
const data = await (await fetch('/api/items.json')).json();
const own = number === 0 ? null : await (await fetch('/api/items/' + number + '.json')).json();
const picture = document.createElement('img');
picture.src = '/img/named.png';
picture.width = picture.height = 24;
const drawn = new Image();
drawn.onload = () => {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 24;
  canvas.getContext('2d').drawImage(drawn, 0, 0);
  canvas.id = 'drawn';
  app.append(canvas);
};
drawn.src = '/img/drawn.png';
app.innerHTML = heading(own ? own.name : 'All items') + '<p>' + (own ? own.text : data.text) + '</p>' + listOf(data.items);
app.append(picture);
const clock = document.createElement('p');
clock.id = 'clock';
app.append(clock);
fetch('/api/now?t=' + Date.now() + '.' + Math.random())
  .then((answer) => answer.ok ? answer.text() : 'none')
  .catch(() => 'none')
  .then((text) => { clock.textContent = 'The server says: ' + text; });
`;

const FILES: Readonly<Record<string, readonly [type: string, body: string | Buffer]>> = {
  '/js/main.js': ['text/javascript', MAIN],
  '/js/parts/heading.js': [
    'text/javascript',
    "import { mark } from '/js/deep/mark.js';\nexport const heading = (text) => '<h1>' + mark + text + '</h1>';",
  ],
  '/js/deep/mark.js': ['text/javascript', "export const mark = 'The orchard: ';"],
  '/js/parts/list.js': [
    'text/javascript',
    `export const listOf = (items) => '<ul>' + items.map((i) => '<li><a href="/items/' + i + '">Item ' + i + '</a></li>').join('') + '</ul>';`,
  ],
  '/style/late.css': [
    'text/css',
    '@font-face { font-family: Late; src: url(/font/late.woff2) }\nh1 { color: rgb(1, 2, 3); font-family: Late, serif }',
  ],
  '/font/late.woff2': ['font/woff2', Buffer.from('wOF2 no font in truth')],
  '/img/named.png': ['image/png', png(24, 24, [200, 0, 0])],
  '/img/drawn.png': ['image/png', png(24, 24, [0, 200, 0])],
  '/api/items.json': [
    'application/json',
    JSON.stringify({ items: ITEMS, text: 'Apples and pears of every kind, as the orchard has them this year.' }),
  ],
  ...Object.fromEntries(
    ITEMS.map((i) => [
      `/api/items/${i}.json`,
      [
        'application/json',
        JSON.stringify({ name: `Item ${i}`, text: `What there is to say of item ${i}, in so many words.` }),
      ],
    ]),
  ),
};

export interface ScriptedSite {
  readonly origin: string;
  /** Paths asked for so far, robots.txt and sitemaps left out. */
  readonly asked: string[];
  /** Answers, by path, in place of those of the site. */
  readonly changed: Map<string, string>;
  close(): Promise<void>;
}

/**
 * An application whose pages are one shell, and whose scripts import modules and fetch data, pictures, a style sheet
 * and a font.
 */
export async function scriptedSite(): Promise<ScriptedSite> {
  const asked: string[] = [];
  const changed: ScriptedSite['changed'] = new Map();
  const server = createServer(({ url = '/', headers }, response) => {
    if (url !== '/robots.txt' && url !== '/sitemap.xml') asked.push(url);
    if (url.startsWith('/api/now?')) {
      response.writeHead(200, { 'content-type': 'text/plain', 'cache-control': 'no-store' });
      return void response.end(`it is ${asked.length}`);
    }
    const isPage = url === '/' || ITEMS.some((i) => url === `/items/${i}`);
    const [type, file] = isPage ? (['text/html', SHELL] as const) : (FILES[url] ?? []);
    if (type === undefined || file === undefined) return void response.writeHead(404).end();
    const body = Buffer.from(changed.get(url) ?? file);
    const etag = `"${crc32(body).toString(16)}"`;
    if (headers['if-none-match'] === etag) return void response.writeHead(304, { etag }).end();
    response.writeHead(200, { 'content-type': type, etag, 'set-cookie': 'seen=1' }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    changed,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
