import { describe, expect, it } from 'vitest';
import { defaultConfig } from '../../src/core/config/load.ts';
import { generalProxy } from '../../src/crawler/proxies.ts';
import { proxyName } from '../../src/http/guard/proxied-socket.ts';

const isOwnHost = (host: string): boolean => host.startsWith('127.');

function proxyOf(setting: string, env: Record<string, string>, url: string): string | null {
  const proxyFor = generalProxy(defaultConfig([`http.proxy=${setting}`]), env, isOwnHost);
  const proxy = proxyFor?.(url) ?? null;
  return proxy && proxyName(proxy);
}

describe('generalProxy', () => {
  const ENV = {
    HTTP_PROXY: 'http://p:1',
    https_proxy: 'me:word@q:2',
    NO_PROXY: '.exempt.example',
    ALL_PROXY: 'socks5://r',
  };

  it.each<[string, Record<string, string>, string, string | null]>([
    ['none', ENV, 'http://a.org/', null],
    ['environment', ENV, 'http://a.org/', 'http://p:1'],
    ['environment', ENV, 'https://a.org/', 'http://q:2'],
    ['environment', { ALL_PROXY: 'socks5://r' }, 'https://a.org/', 'socks5://r:1080'],
    ['environment', ENV, 'https://www.exempt.example/', null],
    ['environment', ENV, 'http://127.0.0.1:8080/', null],
    ['environment', {}, 'http://a.org/', null],
    ['socks5h://s:9', ENV, 'http://a.org/', 'socks5h://s:9'],
    ['socks5h://s:9', ENV, 'http://127.0.0.1/', null],
  ])('%s, %j: %s by %s', (setting, env, url, wanted) => expect(proxyOf(setting, env, url)).toBe(wanted));

  it('refuses a variable that names no proxy, without its password', () => {
    const env = { HTTPS_PROXY: 'ftp://me:hunter2@proxy' };
    expect(() => proxyOf('environment', env, 'https://a.org/')).toThrow(/^the variable HTTPS_PROXY of the environment/);
    expect(() => proxyOf('environment', env, 'https://a.org/')).not.toThrow(/hunter2/);
    expect(() => defaultConfig(['http.proxy=http://me:hunter2@proxy:1'])).toThrow(/http\.proxy/);
    expect(() => defaultConfig(['http.proxy=http://me:hunter2@proxy:1'])).not.toThrow(/hunter2/);
  });
});
