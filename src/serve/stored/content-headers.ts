import { timingSafeEqual } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';

/** What CSP can name; an address of IPv6 is not among it. */
const NAMED_HOST = /^[a-z0-9.-]+(?::\d+)?$/i;

/**
 * The CSP source of stored content. It names the server as the browser does: a document with an origin of its own has
 * no `'self'` in some browsers, and a path leaves out all other pages of the live view.
 */
export function contentSource(c: Context, own: string): string {
  const host = c.req.header('host') ?? '';
  return NAMED_HOST.test(host) && c.req.header('x-forwarded-host') === undefined ? `${host}${own}` : "'self'";
}

/**
 * Stored content is that of strangers. Whatever it is, and however it is opened, it has an origin of its own, runs no
 * script, sends no form, opens no window and loads nothing but stored content.
 */
export function contentHeaders(own: string): MiddlewareHandler {
  return async (c, next) => {
    await next();
    const source = contentSource(c, own);
    const policy = [
      "default-src 'none'",
      `img-src ${source} data:`,
      `media-src ${source} data:`,
      `font-src ${source} data:`,
      `style-src ${source} 'unsafe-inline'`,
      `frame-src ${source}`,
      "form-action 'none'",
      "base-uri 'none'",
      'sandbox',
    ];
    const { headers } = c.res;
    headers.set('Content-Security-Policy', policy.join('; '));
    headers.set('X-Content-Type-Options', 'nosniff');
    headers.set('Referrer-Policy', 'no-referrer');
    headers.set('X-DNS-Prefetch-Control', 'off');
    headers.set('Cache-Control', 'no-store');
    // The document that asks has an origin of its own. Without the secret in the address nobody else can ask.
    headers.set('Cross-Origin-Resource-Policy', 'cross-origin');
    headers.set('Access-Control-Allow-Origin', '*');
  };
}

/** Whether a path is one of stored content, with the secret. */
export function isContentPath(own: string): (path: string) => boolean {
  const expected = Buffer.from(own);
  return (path) => {
    const sent = Buffer.from(path).subarray(0, expected.length);
    return sent.length === expected.length && timingSafeEqual(sent, expected);
  };
}
