import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { Answer } from '../../../integration/visiting.ts';

/** An item of the shop: what a page of it says. */
export interface Item {
  name: string;
  text: string;
  links: number[];
}

const WORDS = 'granite harbour lantern meadow orchard pebble quarry ribbon saddle timber'.split(' ');
const sentence = (i: number, part: number): string =>
  `The ${WORDS[i % 10]} number ${i} of part ${part} is kept beside the ${WORDS[(i * 7 + part) % 10]} and the ${WORDS[(i + part) % 10]}.`;

export const itemsOf = (count: number): Item[] =>
  Array.from({ length: count }, (_, i) => ({
    name: `Item ${i}`,
    text: Array.from({ length: 8 }, (_, part) => sentence(i, part)).join(' '),
    links: [2 * i + 1, 2 * i + 2].filter((next) => next < count),
  }));

const contentOf = (i: number, { name, text, links }: Item): string =>
  `<h1>${name}</h1><p>${text}</p><ul>${links.map((to) => `<li><a href="/items/${to}">Item ${to}</a></li>`).join('')}</ul><p>Number ${i} of the shop.</p>`;

const TITLE = '<title>Shop</title>';
export const SHELL = `<!DOCTYPE html><html><head><meta charset="utf-8">${TITLE}<link rel="stylesheet" href="/app.css"><script defer src="/app.js"></script></head><body><div id="app"></div><noscript>Scripts are needed.</noscript></body></html>`;

/** The application shows an item a while after its data has come. */
const APP = `
const number = location.pathname === '/' ? 0 : Number(location.pathname.split('/').pop());
setTimeout(async () => {
  const { html } = await (await fetch('/api/items/' + number)).json();
  setTimeout(() => { document.getElementById('app').innerHTML = '<main>' + html + '</main>'; }, 400);
}, 300);
setInterval(() => {}, 100);
`;

const tagOf = (text: string): string => `"${Buffer.from(text).toString('base64url').slice(-24)}${text.length}"`;

export interface Shop {
  readonly answer: Answer;
  readonly items: Item[];
  /** Paths asked for, in order, without robots.txt. */
  readonly asked: string[];
  readonly agents: Set<string>;
  /** Answers of its own, by path. */
  readonly extra: Map<string, Answer>;
}

/**
 * A shop as a single-page application, whose every page is the same shell, or as static pages of the same content.
 * Both answer conditional requests.
 */
export function shop(count: number, kind: 'application' | 'static', shell = SHELL): Shop {
  const items = itemsOf(count);
  const asked: string[] = [];
  const agents = new Set<string>();
  const extra: Shop['extra'] = new Map();
  const send = (request: IncomingMessage, response: ServerResponse, type: string, text: string): void => {
    const etag = tagOf(text);
    if (request.headers['if-none-match'] === etag) return void response.writeHead(304, { etag }).end();
    response.writeHead(200, { 'content-type': type, etag, 'cache-control': 'no-cache' }).end(text);
  };
  const answer: Answer = (request, response) => {
    const path = request.url ?? '/';
    if (path !== '/robots.txt') asked.push(path);
    agents.add(request.headers['user-agent'] ?? '');
    const own = extra.get(path);
    if (own !== undefined) return own(request, response);
    if (path === '/app.js') return send(request, response, 'text/javascript', APP);
    if (path === '/app.css') return send(request, response, 'text/css', 'main { color: #222 }');
    const [, api, number] = /^(?:(\/api)?\/items\/(\d+)|\/)$/.exec(path) ?? [];
    const i = Number(number ?? 0);
    const item = items[i];
    if (item === undefined || !/^\/(?:api\/)?(?:items\/\d+)?$/.test(path)) return void response.writeHead(404).end();
    const content = contentOf(i, item);
    if (api !== undefined) return send(request, response, 'application/json', JSON.stringify({ html: content }));
    if (kind === 'application') return send(request, response, 'text/html', shell);
    const page = `<!DOCTYPE html><html><head><meta charset="utf-8">${TITLE}</head><body><div id="app"><main>${content}</main></div></body></html>`;
    send(request, response, 'text/html', page);
  };
  return { answer, items, asked, agents, extra };
}

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

export async function serving(answer: Listener): Promise<{ origin: string; close: () => Promise<unknown> }> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = (): Promise<unknown> => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

/** Its origin; it ends with the test. */
export async function listen(answer: Listener): Promise<string> {
  const { origin, close } = await serving(answer);
  onTestFinished(() => void close());
  return origin;
}
