import { describe, expect, it } from 'vitest';
import { type ProxyServer, parseProxy, proxyName } from '../../src/http/guard/proxied-socket.ts';

describe('parseProxy', () => {
  it.each<[string, Partial<ProxyServer> | null]>([
    ['http://proxy.example:3128', { scheme: 'http', hostname: 'proxy.example', port: 3128, user: null }],
    ['http://proxy.example:80/', { port: 80 }],
    ['https://proxy.example', { scheme: 'https', port: 443 }],
    ['SOCKS5://127.0.0.1', { scheme: 'socks5', port: 1080 }],
    ['socks5h://[::1]:9', { scheme: 'socks5h', hostname: '::1', port: 9 }],
    ['http://me:p%40ss@proxy:1', { user: 'me', password: 'p@ss' }],
    ['http://me:%zz@proxy:1', null],
    ['socks4://proxy', null],
    ['proxy:3128', null],
    ['http://proxy:3128/path', null],
  ])('%s', (text, wanted) => {
    if (wanted === null) expect(parseProxy(text)).toBeNull();
    else expect(parseProxy(text)).toMatchObject(wanted);
  });

  it('has a name without password', () => {
    expect(proxyName(parseProxy('http://me:pass@[::1]:3128') as ProxyServer)).toBe('http://[::1]:3128');
  });
});
