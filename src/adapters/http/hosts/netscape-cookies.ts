import type { ImportedCookie } from './cookie-jar.ts';

/**
 * Reads `cookies.txt`, the format of Netscape that browsers' extensions, curl and wget write: domain, whether hosts
 * below it get the cookie, path, secure, expiry in seconds, name, value, with tabs between them. A line that has
 * another form is given back by its number, since its text may be a secret.
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
      // 0: a cookie of a session, which has no end of its own.
      expires: Number(expires) === 0 ? 'Infinity' : new Date(Number(expires) * 1000),
      isHostOnly: below === 'FALSE',
    });
  }
  return { cookies, faults };
}
