import { createHash, timingSafeEqual } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import { secureHeaders } from 'hono/secure-headers';

/** Nothing but files of this server runs or shows; nobody frames it; forms go back to it only. */
export const headers: MiddlewareHandler = secureHeaders({
  contentSecurityPolicy: {
    defaultSrc: ["'none'"],
    scriptSrc: ["'self'"],
    styleSrc: ["'self'"],
    imgSrc: ["'self'"],
    connectSrc: ["'self'"],
    formAction: ["'self'"],
    baseUri: ["'none'"],
    frameAncestors: ["'none'"],
  },
  crossOriginResourcePolicy: 'same-origin',
  referrerPolicy: 'no-referrer',
  xFrameOptions: 'DENY',
  // It speaks plain HTTP on loopback; who puts TLS before it sets this there.
  strictTransportSecurity: false,
});

export interface GuardOptions {
  /** `null`: everybody who reaches the address may read, and nobody may write. */
  readonly token: string | null;
  /** The address that it listens on. */
  readonly host: string;
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '::1']);

export const isLoopback = (host: string): boolean => LOOPBACK.has(host) || /^127(?:\.\d{1,3}){3}$/.test(host);

/**
 * With a token: asks for it (as a bearer token, or as the password of basic authentication). Without one: answers only
 * under the names of this machine, so that no web page can have its own name point here (DNS rebinding) and read along.
 */
export function guard({ token, host }: GuardOptions): MiddlewareHandler {
  const expected = token === null ? null : digest(token);
  return async (c, next) => {
    c.header('Cache-Control', 'no-store');
    if (expected === null) {
      const name = nameOf(c.req.header('host') ?? '');
      if (!isLoopback(name) && name !== host) return c.text('This name is not served here.\n', 421);
      return next();
    }
    const sent = credentials(c);
    if (sent !== null && timingSafeEqual(digest(sent), expected)) return next();
    c.header('WWW-Authenticate', 'Basic realm="incrawl", charset="UTF-8"');
    return c.text('The token is wanted, as password or as bearer token.\n', 401);
  };
}

/** The host of a `Host` header, without port and brackets. */
function nameOf(header: string): string {
  return header
    .replace(/:\d+$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .toLowerCase();
}

function credentials(c: Context): string | null {
  const [, scheme, value = ''] = /^(\S+) +(.*)$/.exec(c.req.header('authorization') ?? '') ?? [];
  // What headers carry is read as Latin-1 by Node, and sent as UTF-8.
  if (scheme?.toLowerCase() === 'bearer') return Buffer.from(value, 'latin1').toString('utf8');
  if (scheme?.toLowerCase() !== 'basic') return null;
  const text = Buffer.from(value, 'base64').toString('utf8');
  return text.slice(text.indexOf(':') + 1);
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
