import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request as requestTo, type Server, type ServerResponse } from 'node:http';
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { membersSite } from './members-site.ts';
import { unknownIdentity } from './tls-identity.ts';

/** One site of an internet on loopback, with what a configuration needs to reach it. */
export interface Part {
  readonly name: string;
  readonly origin: string;
  /** Its entry of `hosts:` after `match`, a line each. */
  readonly entry: readonly string[];
  /** Bodies by path. Each is served with an ETag; `/` is the seed. */
  readonly pages: Map<string, Body>;
  /** Requests for pages as they were answered: `304 /a`. */
  readonly log: string[];
  /** Bytes of bodies sent. */
  sent: number;
  /** Bytes that a changed page costs besides its body. */
  readonly besides?: number;
  close(): Promise<void>;
}

export interface Body {
  readonly type: string;
  readonly bytes: Buffer;
}

export const html = (text: string): Body => ({ type: 'text/html; charset=utf-8', bytes: Buffer.from(text) });

type Answer = ServerResponse | Http2ServerResponse;

/** Serves pages by path, with ETags that conditional requests are answered by. */
function serve(
  part: Omit<Part, 'close' | 'origin' | 'entry' | 'name'>,
  path: string,
  condition: unknown,
  answer: Answer,
): void {
  if (path === '/robots.txt' || path === '/sitemap.xml') return void answer.writeHead(404).end();
  const body = part.pages.get(path);
  const etag = `"${createHash('sha1')
    .update(body?.bytes ?? '')
    .digest('hex')}"`;
  const status = body === undefined ? 404 : condition === etag ? 304 : 200;
  part.log.push(`${status} ${path}`);
  answer.writeHead(status, status === 404 ? {} : { etag, 'content-type': body?.type ?? '' });
  const sent = status === 200 ? (body?.bytes ?? Buffer.alloc(0)) : Buffer.alloc(0);
  part.sent += sent.length;
  answer.end(sent);
}

async function listening(server: Server | ReturnType<typeof createSecureServer>, host = '127.0.0.1'): Promise<number> {
  server.listen(0, host);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const ended = async (server: Server | ReturnType<typeof createSecureServer>): Promise<void> => {
  if ('closeAllConnections' in server) server.closeAllConnections();
  server.close();
};

const empty = (): { pages: Map<string, Body>; log: string[]; sent: number } => ({ pages: new Map(), log: [], sent: 0 });

/** A plain site; `mayRead` turns requests away with 401. */
async function plainSite(
  name: string,
  entry: readonly string[],
  {
    host = '127.0.0.1',
    mayRead = () => true as boolean,
  }: { host?: string; mayRead?: (request: IncomingMessage) => boolean } = {},
): Promise<Part> {
  const part = empty();
  const server = createServer((request, response) => {
    if (request.url !== '/robots.txt' && !mayRead(request)) return void response.writeHead(401).end();
    serve(part, request.url ?? '/', request.headers['if-none-match'], response);
  });
  const port = await listening(server, host);
  const origin = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  return Object.assign(part, { name, entry, origin, close: () => ended(server) });
}

/** A site that only a proxy with a password leads to: it answers nothing that has not come through it. */
export async function siteBehindProxy(login: { user: string; passwordAt: string; password: string }): Promise<Part> {
  const token = Buffer.from(`${login.user}:${login.password}`).toString('base64');
  const proxy = createServer((request, response) => {
    const { 'proxy-authorization': given, ...headers } = request.headers;
    if (given !== `Basic ${token}`) return void response.writeHead(407).end();
    const onward = requestTo(
      request.url ?? '',
      { headers: { ...headers, via: '1.1 proxy' }, agent: false },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
        answer.pipe(response);
      },
    );
    onward.on('error', () => response.destroy());
    onward.end();
  });
  const port = await listening(proxy);
  const url = `url: "http://127.0.0.1:${port}", user: ${login.user}, password: { env: ${login.passwordAt} }`;
  const site = await plainSite('proxy', [`proxy: { ${url} }`], {
    mayRead: ({ headers }) => headers.via === '1.1 proxy',
  });
  const { close } = site;
  return Object.assign(site, { close: () => Promise.all([ended(proxy), close()]).then(() => {}) });
}

export function siteBehindBasicAuth(login: { user: string; passwordAt: string; password: string }): Promise<Part> {
  const token = Buffer.from(`${login.user}:${login.password}`).toString('base64');
  const entry = [
    `credentials: { basic: { user: ${login.user}, password: { env: ${login.passwordAt} } } }`,
    'secretsOverHttp: true',
  ];
  return plainSite('basic', entry, { mayRead: ({ headers }) => headers.authorization === `Basic ${token}` });
}

/** A site behind a login form, see {@link membersSite}; `expire` ends its sessions. */
export async function siteBehindForm(login: { user: string; password: string }): Promise<Part & { expire(): void }> {
  const members = membersSite(login, ['/b']);
  const origin = `http://127.0.0.1:${await listening(members.server)}`;
  const pages = new Map<string, Body>();
  const { set } = pages;
  pages.set = (path, body) => {
    members.pages.set(path, body.bytes.toString());
    return set.call(pages, path, body);
  };
  const log = members.log;
  const entry = ['cookies: true', 'secretsOverHttp: true', `login: ${origin}/login`];
  return {
    name: 'form',
    origin,
    entry,
    pages,
    log,
    sent: 0,
    close: () => ended(members.server),
    expire: members.expire,
  };
}

export const library = (): Promise<Part> => plainSite('library', []);

export interface Application extends Part {
  /** Paths of shells sent with their body, which a browser then renders. */
  readonly shells: string[];
}

/**
 * A single-page application: all its pages are one shell, and what they show comes from `/data`, by script. `pages` are
 * what static pages would be; the log has the requests for their data.
 */
export async function application(): Promise<Application> {
  const [part, frame] = [empty(), empty()];
  const [shell, script] = [html('<div id="app"></div><script src="/app.js"></script>'), html(SHOW)];
  const server = createServer(({ url = '/', headers }, response) => {
    const condition = headers['if-none-match'];
    if (url.startsWith('/data/')) return serve(part, url.slice('/data'.length), condition, response);
    frame.pages.set('/app.js', { ...script, type: 'text/javascript' });
    if (part.pages.has(url)) frame.pages.set(url, shell);
    const before = frame.sent;
    serve(frame, url, condition, response);
    part.sent += frame.sent - before;
    if (part.pages.has(url) && frame.sent > before) shells.push(url);
  });
  const shells: string[] = [];
  const origin = `http://127.0.0.1:${await listening(server)}`;
  const about = { name: 'application', origin, entry: ['render: auto'], shells };
  const besides = shell.bytes.length + script.bytes.length;
  return Object.assign(part, about, { besides, close: () => ended(server) });
}

/** Shows the head and the body of the static page, a while after they have come. */
const SHOW = `fetch('/data' + location.pathname).then((answer) => answer.text()).then((text) => setTimeout(() => {
  const page = new DOMParser().parseFromString(text, 'text/html');
  document.title = page.title;
  document.getElementById('app').replaceWith(...page.body.childNodes);
}, 200));
`;

/** A host that speaks HTTP/2 alone; `caFile` has its authority. */
export async function http2Site(caFile: string): Promise<Part> {
  const part = empty();
  const server = createSecureServer(unknownIdentity, (request: Http2ServerRequest, response: Http2ServerResponse) => {
    if (request.httpVersionMajor === 2) serve(part, request.url, request.headers['if-none-match'], response);
  });
  const sessions = new Set<{ destroy(): void }>();
  server.on('session', (session) => sessions.add(session));
  const origin = `https://localhost:${await listening(server)}`;
  const close = async (): Promise<void> => {
    for (const session of sessions) session.destroy();
    await ended(server);
  };
  return Object.assign(part, { name: 'http2', origin, entry: ['http2: true', `ca: ${caFile}`], close });
}

/** A host of IPv6; `null` where this machine has none. */
export const ipv6Site = (): Promise<Part | null> => plainSite('ipv6', [], { host: '::1' }).catch(() => null);
