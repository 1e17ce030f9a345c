// http/hosts/: what the operator set for some hosts: headers, credentials, cookies, connections.

import { Cookie, CookieJar, type Store } from 'tough-cookie';

/**
 * Reads `cookies.txt`, the Netscape format that browser extensions, curl and wget write: domain, whether hosts below it
 * get the cookie, path, secure, expiry in seconds, name, value, separated by tabs. Lines in another format are returned
 * by their numbers, because their text may be a secret.
 */
export function readNetscapeCookies(text: string): { cookies: ImportedCookie[]; faults: number[] } {
  const cookies: ImportedCookie[] = [];
  const faults: number[] = [];
  for (const [i, line] of text.split(/\r?\n/).entries()) {
    const httpOnly = line.startsWith('#HttpOnly_');
    const fields = httpOnly ? line.slice('#HttpOnly_'.length) : line;
    if (fields.trim() === '' || fields.startsWith('#')) continue;
    const [domain = '', below, path = '', secure, expires = '', key = '', ...value] = fields.split('\t');
    const isFlag = (flag: string | undefined): boolean => flag === 'TRUE' || flag === 'FALSE';
    const name = domain.replace(/^\./, '').toLowerCase();
    if (!isFlag(below) || !isFlag(secure) || !/^\d+(\.\d+)?$/.test(expires) || name === '' || !path.startsWith('/')) {
      faults.push(i + 1);
      continue;
    }
    cookies.push({
      ...{ key, value: value.join('\t'), domain: name, path, httpOnly },
      secure: secure === 'TRUE',
      // 0: a session cookie, which has no expiry of its own.
      expires: Number(expires) === 0 ? 'Infinity' : new Date(Number(expires) * 1000),
      isHostOnly: below === 'FALSE',
    });
  }
  return { cookies, faults };
}

/** The place where the cookies of one entry of `hosts:` are kept between runs. */
export interface CookieFile {
  /** The text saved last; `null`: there is none, or it cannot be read. */
  load(): string | null;
  /** Replaces the text atomically: after a crash there is either the old text or the new one. */
  save(text: string): void;
}

/** The cookies of one entry of `hosts:`. */
export interface HostCookies {
  /** The Cookie header for a URL; empty: there are no cookies for it. */
  header(url: string): string;
  /** Stores the cookies that a response from a URL has set, according to RFC 6265. */
  keep(url: string, setCookies: readonly string[]): void;
  /** Saves what has been stored since. */
  flush(): void;
}

/** A cookie as it may be shown: without its value. */
export interface CookieView {
  readonly name: string;
  readonly domain: string;
  readonly path: string;
  readonly secure: boolean;
  /** ISO 8601; `null`: until the server ends the session. */
  readonly expires: string | null;
}

/** RFC 6265, section 6.1: the length that every client has to support; longer cookies are not accepted. */
const MAX_COOKIE_BYTES = 4_096;
/** The least recently used cookies are dropped first. */
const MAX_COOKIES = 300;
/** Longest time whose cookies a crash may lose, ms. */
const SAVE_AFTER_MS = 1_000;

const OPTIONS = { looseMode: true, allowSpecialUseDomain: true, rejectPublicSuffixes: true } as const;

export function openCookies(file: CookieFile): HostCookies {
  const jar = jarOf(file.load());
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    if (timer === undefined) return;
    clearTimeout(timer);
    timer = undefined;
    file.save(textOf(jar));
  };
  return {
    header: (url) => jar.getCookieStringSync(url),
    keep(url, setCookies) {
      for (const line of setCookies) {
        if (line.length <= MAX_COOKIE_BYTES) jar.setCookieSync(line, url, { ignoreError: true });
      }
      evict(jar);
      timer ??= setTimeout(flush, SAVE_AFTER_MS).unref();
    },
    flush,
  };
}

/** Adds cookies to a file, replacing those of the same name, domain and path. */
export function addCookies(file: CookieFile, cookies: readonly ImportedCookie[]): void {
  const jar = jarOf(file.load());
  for (const { isHostOnly, ...cookie } of cookies) {
    const { domain, path, secure } = cookie;
    const url = `${secure ? 'https' : 'http'}://${domain}${path}`;
    jar.setCookieSync(new Cookie({ ...cookie, domain: isHostOnly ? null : domain }), url, { ignoreError: true });
  }
  evict(jar);
  file.save(textOf(jar));
}

export interface ImportedCookie {
  readonly key: string;
  readonly value: string;
  /** Without a leading dot. */
  readonly domain: string;
  readonly path: string;
  readonly secure: boolean;
  readonly httpOnly: boolean;
  readonly expires: Date | 'Infinity';
  /** Whether hosts below the domain do not get the cookie. */
  readonly isHostOnly: boolean;
}

/** The cookies of a saved jar, except those that have expired. */
export function cookieViews(text: string, now: number): CookieView[] {
  return cookiesIn(jarOf(text)).flatMap((cookie) => {
    const { key, domain, path, secure } = cookie;
    const until = cookie.expiryTime() ?? Number.POSITIVE_INFINITY;
    if (until <= now) return [];
    const expires = Number.isFinite(until) ? new Date(until).toISOString() : null;
    return [{ name: key, domain: domain ?? '', path: path ?? '/', secure, expires }];
  });
}

/** A text that is not a jar counts as an empty jar: the sites then require a new login. */
function jarOf(text: string | null): CookieJar {
  if (text === null) return new CookieJar(undefined, OPTIONS);
  try {
    return CookieJar.deserializeSync(text);
  } catch {
    return new CookieJar(undefined, OPTIONS);
  }
}

const textOf = (jar: CookieJar): string => JSON.stringify(jar.serializeSync());

function cookiesIn({ store }: CookieJar): Cookie[] {
  let found: Cookie[] = [];
  // The in-memory store answers before it returns.
  (store as Store).getAllCookies((_error, cookies) => {
    found = cookies ?? [];
  });
  return found;
}

function evict(jar: CookieJar): void {
  const cookies = cookiesIn(jar);
  if (cookies.length <= MAX_COOKIES) return;
  const usedAt = ({ lastAccessed }: Cookie): number => (lastAccessed instanceof Date ? lastAccessed.getTime() : 0);
  cookies.sort((a, b) => usedAt(a) - usedAt(b));
  for (const { domain, path, key } of cookies.slice(0, cookies.length - MAX_COOKIES)) {
    jar.store.removeCookie(domain ?? '', path ?? '/', key, () => {});
  }
}
