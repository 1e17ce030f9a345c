import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { type Served, serve } from '../harness/places.ts';

/** A single-page application on loopback: every page is the same shell, its text and links come as JSON. */
export interface AppSite extends Served {
  /** Answers since the last call: bodies and 304s of shells, data and shared files. */
  taken(): number;
  /** Gives this share of the pages, spread evenly, other text. */
  change(share: number): void;
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
  let answers = 0;
  const send = (response: ServerResponse, condition: unknown, type: string, body: string): void => {
    answers++;
    const etag = `"${createHash('sha1').update(body).digest('base64url')}"`;
    if (condition === etag) response.writeHead(304, { etag }).end();
    else response.writeHead(200, { 'content-type': type, etag, 'cache-control': 'no-cache' }).end(body);
  };
  const site = await serve(({ url = '/', headers }, response) => {
    const condition = headers['if-none-match'];
    const i = Number(/^\/(?:api\/)?(?:items\/(\d+))?$/.exec(url)?.[1] ?? '0');
    if (url === '/robots.txt' || url === '/favicon.ico' || i >= pages) return void response.writeHead(404).end();
    if (url === '/app.js') return send(response, condition, 'text/javascript', SCRIPT);
    if (url === '/app.css') return send(response, condition, 'text/css', STYLE);
    if (!url.startsWith('/api/')) return send(response, condition, 'text/html', SHELL);
    send(response, condition, 'application/json', JSON.stringify(itemOf(i, versions[i] as number, pages)));
  });
  return {
    ...site,
    taken() {
      const before = answers;
      answers = 0;
      return before;
    },
    change(share) {
      const step = Math.round(1 / share);
      for (let i = step - 1; i < pages; i += step) versions[i] = (versions[i] as number) + 1;
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
