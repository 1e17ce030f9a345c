import type { Config } from '../core/config/schema.ts';
import { CrawlError } from '../core/domain/errors.ts';
import { hostOf } from '../core/domain/url/canonical/url-key.ts';
import type { Log } from '../core/ports/log.ts';
import { type ProxyServer, parseProxy } from '../http/guard/proxied-socket.ts';

/** Variables of the environment that name a proxy, as curl and others read them. */
const VARIABLES = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy'] as const;

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Warns, once, before requests to hosts for which the environment names a proxy: requests go directly to the servers,
 * whose addresses the guard checks. A proxy would resolve names itself, beyond the guard, so it is used only if
 * `http.proxy` says so.
 * @param isOwnHost hosts with private or allowed addresses, which the network's proxy does not apply to
 */
export function unusedProxies(
  env: Environment,
  isOwnHost: (host: string) => boolean,
  log: Pick<Log, 'warn'>,
): (hosts: Iterable<string>) => void {
  const variables = VARIABLES.filter((name) => (env[name] ?? '') !== '');
  const exempt = noProxyOf(env);
  let hasWarned = variables.length === 0;
  return (hosts) => {
    if (hasWarned) return;
    for (const host of hosts) {
      if (isOwnHost(host) || exempt.some((entry) => isExempt(host, entry))) continue;
      hasWarned = true;
      log.warn(
        `${variables.join(', ')} of the environment: proxies are not used, requests go to the servers themselves; ` +
          'set http.proxy to "environment" to use them, or run incrawl on a machine with a direct connection',
      );
      return;
    }
  };
}

/** The entries of NO_PROXY. */
function noProxyOf(env: Environment): string[] {
  return (env.NO_PROXY || env.no_proxy || '').split(/[\s,]+/).filter((entry) => entry !== '');
}

/** An entry of NO_PROXY: `*`, or a host or domain, optionally with a leading dot and a port. */
function isExempt(host: string, entry: string): boolean {
  if (entry === '*') return true;
  const suffix = entry.toLowerCase().replace(/^\*?\./, '');
  const name = /:\d+$/.test(suffix) ? host : host.replace(/:\d+$/, '');
  return name === suffix || name.endsWith(`.${suffix}`);
}

/** The proxy for a URL; `null`: the request goes directly to its server. */
export type ProxyFor = (url: string) => ProxyServer | null;

/**
 * The setting of `http.proxy`: none, one proxy for all hosts, or those of the environment, with NO_PROXY. Private and
 * allowed hosts are requested directly: through a proxy their names would mean machines near the proxy. Throws
 * `config-invalid`.
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
  // Most libraries prefer upper case; only curl reads http_proxy in lower case only.
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
