import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Exchange, FetchProtocol } from '../../src/core/ports/fetch-protocol.ts';
import { addCookies, cookieViews, openCookies, readNetscapeCookies } from '../../src/http/hosts/cookie-jar.ts';
import { createHostProtocol, type HostAccess } from '../../src/http/hosts/host-protocol.ts';
import { cookieFile, cookieFiles } from '../../src/store/files/cookie-files.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'cookies-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const reopened = (match = '*.example.org') => openCookies(cookieFile(dir, match));

describe('cookies of an entry', () => {
  it('are there again after a restart, those of a session among them, in files of the owner alone', () => {
    const jar = reopened();
    jar.keep('https://www.example.org/a/b', [
      'sid=1; Path=/; Secure; HttpOnly',
      'all=2; Domain=example.org; Path=/; Max-Age=1000',
      'gone=3; Max-Age=0',
      'other=4; Domain=example.com',
      'suffix=5; Domain=org',
    ]);
    jar.flush();
    const again = reopened();
    expect(again.header('https://www.example.org/')).toBe('sid=1; all=2');
    expect(again.header('http://www.example.org/')).toBe('all=2');
    expect(again.header('https://shop.example.org/')).toBe('all=2');
    expect(again.header('https://example.com/')).toBe('');
    const [name = ''] = readdirSync(join(dir, 'cookies'));
    expect(statSync(join(dir, 'cookies')).mode & 0o777).toBe(0o700);
    expect(statSync(join(dir, 'cookies', name)).mode & 0o777).toBe(0o600);
    expect(openCookies(cookieFile(dir, 'example.org')).header('https://www.example.org/')).toBe('');
  });

  it('are bounded in size and number, those used longest ago going first', () => {
    const jar = reopened();
    jar.keep('https://a.example.org/', ['first=1', `long=${'x'.repeat(5000)}`]);
    for (let i = 0; i < 400; i++) jar.keep('https://a.example.org/', [`c${i}=1; Path=/p${i}`]);
    jar.flush();
    const [stored] = cookieFiles(dir);
    const names = cookieViews(stored?.text ?? '', Date.now()).map(({ name }) => name);
    expect(names.length).toBe(300);
    expect(names).not.toContain('long');
    expect(names).toContain('c399');
  });

  it('begin anew where the file is torn', () => {
    const jar = reopened();
    jar.keep('https://www.example.org/', ['sid=1']);
    jar.flush();
    const [name = ''] = readdirSync(join(dir, 'cookies'));
    writeFileSync(join(dir, 'cookies', name), '{"match": "*.exa');
    expect(reopened().header('https://www.example.org/')).toBe('');
    expect(cookieFiles(dir)).toEqual([]);
  });

  it('are taken in from the format of Netscape', () => {
    const lines = [
      '# Netscape HTTP Cookie File',
      '#HttpOnly_.example.org\tTRUE\t/\tTRUE\t4102444800\tsid\tabc',
      'www.example.org\tFALSE\t/shop\tFALSE\t0\tcart\ta=b',
      '.example.org\tTRUE\t/\tFALSE\t1\told\tx',
      'not a cookie',
      '',
    ];
    const { cookies, faults } = readNetscapeCookies(lines.join('\r\n'));
    expect(faults).toEqual([5]);
    addCookies(cookieFile(dir, '*.example.org'), cookies);
    const jar = reopened();
    expect(jar.header('https://shop.example.org/')).toBe('sid=abc');
    expect(jar.header('https://www.example.org/shop/1')).toBe('cart=a=b; sid=abc');
    expect(jar.header('https://b.www.example.org/shop/1')).toBe('sid=abc');
    const views = cookieFiles(dir).flatMap(({ text }) => cookieViews(text, Date.now()));
    expect(views.map(({ name, expires }) => [name, expires])).toEqual([
      ['sid', '2100-01-01T00:00:00.000Z'],
      ['cart', null],
    ]);
    expect(JSON.stringify(views)).not.toContain('abc');
  });

  it('are sent over https, and their values do not reach the head that is stored', async () => {
    const rawHeaders = [
      'Set-Cookie',
      'sid=topsecret; Path=/',
      'X-Other',
      'a',
      'set-cookie',
      'b=alsosecret',
      'Set-Cookie',
      'secret',
    ];
    const sent: (string | undefined)[] = [];
    const inner: FetchProtocol = {
      schemes: ['http', 'https'],
      async exchange({ headers }) {
        sent.push(headers.cookie);
        const head = { headers: { 'set-cookie': 'sid=topsecret; Path=/, b=alsosecret' }, rawHeaders };
        return { head } as unknown as Exchange;
      },
      close: async () => {},
    };
    const access: HostAccess = { headers: {}, secrets: {}, sendsOverHttp: false, protocol: null, cookies: reopened() };
    const protocol = createHostProtocol(inner, { of: () => Promise.resolve(access), close: async () => {} });
    const ask = (url: string) => protocol.exchange({ url, method: 'GET', headers: {}, maxBodyBytes: 1, timeoutMs: 1 });
    for (const scheme of ['http', 'https', 'http', 'https']) {
      const { head } = await ask(`${scheme}://www.example.org/`);
      expect(head.rawHeaders).toEqual([
        'Set-Cookie',
        'sid=***; Path=/',
        'X-Other',
        'a',
        'set-cookie',
        'b=***',
        'Set-Cookie',
        '***',
      ]);
      expect(JSON.stringify(head)).not.toContain('secret');
    }
    expect(sent).toEqual([undefined, undefined, undefined, 'sid=topsecret; b=alsosecret; secret']);
  });
});
