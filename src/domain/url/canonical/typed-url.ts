import { canonicalUrl } from './canonical-url.ts';

/** Parts of URLs as people type them, in the spelling that the crawl db knows; `null` for what is none. */

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

/** The beginning of a URL, with scheme and host whole; what follows them is taken as it stands. */
export function typedUrlPrefix(text: string): string | null {
  const [, origin, rest] = /^(https?:\/\/[^/?#\\]*)(.*)$/is.exec(text.trim()) ?? [];
  if (origin === undefined) return null;
  const canonical = canonicalUrl(`${origin}/`);
  return 'error' in canonical ? null : `${canonical.url.slice(0, -1)}${rest}`;
}
