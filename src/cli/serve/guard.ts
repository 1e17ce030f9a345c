import { createHash, timingSafeEqual } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import { secureHeaders } from 'hono/secure-headers';

/** Pages load from this server only, cannot be framed, and send forms to this server only. */
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
  // This server speaks plain HTTP; a TLS proxy before it sets the header itself.
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
 * under the names of this machine, so that no web page can point its own name here and read (DNS rebinding).
 */
export function guard({ token, host }: GuardOptions): MiddlewareHandler {
  const expected = token === null ? null : digest(token);
  return async (c, next) => {
    c.header('Cache-Control', 'no-store');
    if (expected === null) {
      const name = nameOf(c.req.header('host') ?? '');
      if (!isLoopback(name) && name !== host)
        return c.text('Unknown host name: use the address that "incrawl serve" printed.\n', 421);
      return next();
    }
    const sent = credentials(c);
    if (sent !== null && timingSafeEqual(digest(sent), expected)) return next();
    c.header('WWW-Authenticate', 'Basic realm="incrawl", charset="UTF-8"');
    return c.text('Send the token as password or as bearer token.\n', 401);
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
  // Clients send UTF-8; Node decodes headers as Latin-1.
  if (scheme?.toLowerCase() === 'bearer') return Buffer.from(value, 'latin1').toString('utf8');
  if (scheme?.toLowerCase() !== 'basic') return null;
  const text = Buffer.from(value, 'base64').toString('utf8');
  return text.slice(text.indexOf(':') + 1);
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
