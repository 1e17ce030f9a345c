import { canonicalUrl } from './canonical-url.ts';

/** Parts of URLs as users type them, in canonical spelling; `null` for invalid ones. */

/** `Example.org:8080` as `example.org:8080`, the politeness key of its URLs. */
export function typedHost(text: string): string | null {
  const host = text.trim();
  if (/[\s/?#@\\]/.test(host)) return null;
  const canonical = canonicalUrl(`http://${host}/`);
  return 'error' in canonical ? null : canonical.url.slice('http://'.length, -1);
}

/** A host without a port. */
export function typedDomain(text: string): string | null {
  const host = typedHost(text);
  return host === null || /:\d+$/.test(host) ? null : host;
}

/** A URL prefix with scheme and host complete; the rest is taken as typed. */
export function typedUrlPrefix(text: string): string | null {
  const [, origin, rest] = /^(https?:\/\/[^/?#\\]*)(.*)$/is.exec(text.trim()) ?? [];
  if (origin === undefined) return null;
  const canonical = canonicalUrl(`${origin}/`);
  return 'error' in canonical ? null : `${canonical.url.slice(0, -1)}${rest}`;
}
