import { createHash, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import type { Context, MiddlewareHandler } from 'hono';
import { secureHeaders } from 'hono/secure-headers';

/**
 * Pages load from this server only, cannot be framed, and send forms to this server only.
 *
 * @param frameSource what they may frame, as a CSP source: a frame cannot lead elsewhere either
 */
export const headers = (frameSource: (c: Context) => string): MiddlewareHandler =>
  secureHeaders({
    contentSecurityPolicy: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'"],
      imgSrc: ["'self'"],
      connectSrc: ["'self'"],
      formAction: ["'self'"],
      baseUri: ["'none'"],
      frameSrc: [frameSource],
      frameAncestors: ["'none'"],
    },
    crossOriginResourcePolicy: 'same-origin',
    // Without a referrer, a form of these pages would not say where it comes from.
    referrerPolicy: 'same-origin',
    xFrameOptions: 'DENY',
    // This server speaks plain HTTP; a TLS proxy in front of it sets the header itself.
    strictTransportSecurity: false,
  });

export interface GuardOptions {
  /** `null`: every client that reaches the address may read, and none may write. */
  readonly token: string | null;
  /** The address to listen on. */
  readonly host: string;
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '::1']);

export const isLoopback = (host: string): boolean => LOOPBACK.has(host) || /^127(?:\.\d{1,3}){3}$/.test(host);

/**
 * With a token: requires it, as a bearer token or as the password of basic authentication. Without one: answers only
 * under the names of this machine, so that no web page can point its own host name here and read (DNS rebinding).
 *
 * @param hasSecret whether a path has a secret in it that stands for the token
 */
export function guard({ token, host }: GuardOptions, hasSecret = (_path: string): boolean => false): MiddlewareHandler {
  const expected = token === null ? null : digest(token);
  return async (c, next) => {
    c.header('Cache-Control', 'no-store');
    if (expected === null) {
      const name = nameOf(c.req.header('host') ?? '');
      if (!isLoopback(name) && name !== host)
        return c.text('Unknown host name: use the address that "incrawl serve" printed.\n', 421);
      return next();
    }
    if (hasSecret(c.req.path)) return next();
    const sent = credentials(c);
    if (sent !== null && timingSafeEqual(digest(sent), expected)) return next();
    c.header('WWW-Authenticate', 'Basic realm="incrawl", charset="UTF-8"');
    return c.text('Send the token as password or as bearer token.\n', 401);
  };
}

/** For requests that steer the crawl; they come after {@link guard}, with its token. */
export interface SteeringGuardOptions {
  /** Names by which browsers reach this server, in addition to its addresses. */
  readonly names: readonly string[];
}

/**
 * Admits requests from the pages of this server, and from programs with the token as bearer token. A browser adds
 * stored credentials to any request that any page causes, so the request must come from a page of this server.
 * `Sec-Fetch-Site` and `Origin` show that; a browser sends at least one of them. A page of another server that has
 * pointed its own name here (DNS rebinding) has the same origin, but its name gives it away. An address cannot be
 * pointed anywhere.
 */
export function steeringGuard({ names }: SteeringGuardOptions): MiddlewareHandler {
  const known = new Set(names.map((name) => name.toLowerCase()));
  return async (c, next) => {
    if (c.req.method !== 'POST') return c.text('Commands are sent by POST.\n', 405, { Allow: 'POST' });
    const host = c.req.header('host') ?? '';
    const name = nameOf(host);
    if (isIP(name) === 0 && name !== 'localhost' && !known.has(name)) {
      return c.text('Unknown host name: "incrawl serve --name" lists the names that may steer.\n', 421);
    }
    const [site, origin] = [c.req.header('sec-fetch-site'), c.req.header('origin')];
    const isOther =
      (site ?? 'same-origin') !== 'same-origin' || (origin !== undefined && hostOfOrigin(origin) !== host);
    const isProgram = site === undefined && origin === undefined;
    if (isOther || (isProgram && !isBearer(c))) {
      return c.text('Commands are accepted from pages of this server, or with the token as bearer token.\n', 403);
    }
    return next();
  };
}

/** Host and port of an `Origin` header; `null`: it has none. */
const hostOfOrigin = (origin: string): string | null => /^https?:\/\/([^/]+)$/.exec(origin)?.[1] ?? null;

const isBearer = (c: Context): boolean => /^bearer /i.test(c.req.header('authorization') ?? '');

/** The host of a `Host` header, without port and brackets. */
function nameOf(header: string): string {
  return header
    .replace(/:\d+$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .toLowerCase();
}

function credentials(c: Context): string | null {
  const [, scheme, value = ''] = /^(\S+) +(.*)$/.exec(c.req.header('authorization') ?? '') ?? [];
  // Clients send UTF-8; Node decodes headers as Latin-1.
  if (scheme?.toLowerCase() === 'bearer') return Buffer.from(value, 'latin1').toString('utf8');
  if (scheme?.toLowerCase() !== 'basic') return null;
  const text = Buffer.from(value, 'base64').toString('utf8');
  return text.slice(text.indexOf(':') + 1);
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
