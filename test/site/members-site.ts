import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

export interface MembersSite {
  readonly server: Server;
  /** Pages behind the login, by path: bodies of HTML. */
  readonly pages: Map<string, string>;
  /** Statuses and paths of requests as they came; `POST /login` with `ok`, `forged` or `refused`. */
  readonly log: string[];
  /** Sessions that were begun, by the value of their cookie. */
  readonly sessions: Set<string>;
  /** The sessions end: the next page asks for a login again. */
  expire(): void;
}

/**
 * A site behind a login form: a hidden token against forgery that is bound to a cookie, a session of its own, and an
 * ETag for each page. Pages redirect to the form, or answer with it in place, `inPlace` by path.
 */
export function membersSite(
  login: { readonly user: string; readonly password: string },
  inPlace: string[] = [],
): MembersSite {
  const pages = new Map<string, string>();
  const log: string[] = [];
  const live = new Set<string>();
  const sessions = new Set<string>();
  const tokens = new Map<string, string>();

  const showForm = (response: ServerResponse): void => {
    const [visitor, token] = [randomBytes(8).toString('hex'), randomBytes(8).toString('hex')];
    tokens.set(visitor, token);
    response.setHeader('set-cookie', `visitor=${visitor}; Path=/; HttpOnly`).setHeader('content-type', 'text/html');
    response.end(`<title>Log in</title><form action="/search"><input name="q"></form>
<form method="post" action="/session?from=form&amp;v=1"><input type="hidden" name="csrf" value="a&quot;${token}">
<label>Name <input name="username"></label><input type=password name=password><button>In</button></form>`);
  };
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    const cookies = cookiesOf(request);
    const note = (text: string | number): number => log.push(`${text} ${request.method} ${pathname}`);
    if (pathname === '/robots.txt' || pathname === '/sitemap.xml') return response.writeHead(404).end();
    if (pathname === '/login') {
      note(200);
      return showForm(response);
    }
    if (pathname === '/session' && request.method === 'POST') {
      const fields = new URLSearchParams(await bodyOf(request));
      const isForged = fields.get('csrf') !== `a"${tokens.get(cookies.get('visitor') ?? '')}`;
      const isMember = fields.get('username') === login.user && fields.get('password') === login.password;
      note(isForged ? 'forged' : isMember ? 'ok' : 'refused');
      if (isForged || !isMember) return response.writeHead(303, { location: '/login?failed' }).end();
      const session = `session-${randomBytes(8).toString('hex')}`;
      live.add(session);
      sessions.add(session);
      return response.writeHead(303, { location: '/', 'set-cookie': `sid=${session}; Path=/; HttpOnly` }).end();
    }
    const body = pages.get(pathname);
    if (!live.has(cookies.get('sid') ?? '')) {
      note(inPlace.includes(pathname) ? 'form' : 302);
      if (inPlace.includes(pathname)) return showForm(response);
      return response.writeHead(302, { location: `/login?next=${pathname}` }).end();
    }
    if (body === undefined) {
      note(404);
      return response.writeHead(404).end();
    }
    const etag = `"${Buffer.byteLength(body)}-${body.length}-${hashOf(body)}"`;
    const isSame = request.headers['if-none-match'] === etag;
    note(isSame ? 304 : 200);
    response.writeHead(isSame ? 304 : 200, { etag, 'content-type': 'text/html; charset=utf-8' });
    response.end(isSame ? undefined : body);
  });
  return { server, pages, log, sessions, expire: () => live.clear() };
}

const hashOf = (text: string): number => [...text].reduce((hash, char) => (hash * 31 + char.charCodeAt(0)) | 0, 7);

const cookiesOf = ({ headers }: IncomingMessage): Map<string, string> =>
  new Map((headers.cookie ?? '').split('; ').map((each) => each.split('=') as [string, string]));

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text;
}
