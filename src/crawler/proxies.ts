import { type ProxyServer, parseProxy } from '../adapters/http/guard/proxy-server.ts';
import type { Config } from '../config/schema.ts';
import { CrawlError } from '../domain/errors.ts';
import { hostOf } from '../domain/url/canonical/url-key.ts';
import { type Environment, isExempt, noProxyOf } from './unused-proxies.ts';

/** The proxy for a URL; `null`: it is requested from its server itself. */
export type ProxyFor = (url: string) => ProxyServer | null;

/**
 * What `http.proxy` says: nothing, one proxy for all, or those of the environment, with NO_PROXY. Private and allowed
 * hosts are requested directly: behind a proxy their names would mean machines near the proxy. Throws `config-invalid`.
 */
export function generalProxy(
  { http }: Pick<Config, 'http'>,
  env: Environment,
  isOwnHost: (host: string) => boolean,
): ProxyFor | null {
  if (http.proxy === 'none') return null;
  if (http.proxy !== 'environment') {
    const proxy = parseProxy(http.proxy);
    return (url) => (isOwnHost(hostOf(url)) ? null : proxy);
  }
  const all = ['ALL_PROXY', 'all_proxy'];
  // Upper case first is what most libraries do; curl alone reads http_proxy in lower case only.
  const plain = firstProxy(env, ['HTTP_PROXY', 'http_proxy', ...all]);
  const secure = firstProxy(env, ['HTTPS_PROXY', 'https_proxy', ...all]);
  if (plain === null && secure === null) return null;
  const exempt = noProxyOf(env);
  return (url) => {
    const host = hostOf(url);
    if (isOwnHost(host) || exempt.some((entry) => isExempt(host, entry))) return null;
    return url.startsWith('https:') ? secure : plain;
  };
}

function firstProxy(env: Environment, names: readonly string[]): ProxyServer | null {
  const name = names.find((each) => (env[each] ?? '') !== '');
  if (name === undefined) return null;
  const text = env[name] ?? '';
  const proxy = parseProxy(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`);
  if (proxy !== null) return proxy;
  const wanted = 'expected a proxy such as http://proxy.example:3128 or socks5://127.0.0.1:1080';
  throw new CrawlError('config-invalid', `the variable ${name} of the environment (http.proxy): ${wanted}`);
}
