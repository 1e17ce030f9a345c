import type { Log } from '../ports/log.ts';

/** Variables of the environment that name a proxy, as curl and others read them. */
const VARIABLES = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy'] as const;

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Warns, once, when hosts are about to be requested for which the environment names a proxy: requests go to the servers
 * themselves, whose addresses the guard checks. A proxy would resolve names itself, behind the guard, so it is used
 * only where `http.proxy` says so.
 * @param isOwnHost hosts with private or allowed addresses, which are beside the network's proxy
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
export function noProxyOf(env: Environment): string[] {
  return (env.NO_PROXY || env.no_proxy || '').split(/[\s,]+/).filter((entry) => entry !== '');
}

/** An entry of NO_PROXY: `*`, or a host or domain, with or without a dot before it and a port behind it. */
export function isExempt(host: string, entry: string): boolean {
  if (entry === '*') return true;
  const suffix = entry.toLowerCase().replace(/^\*?\./, '');
  const name = /:\d+$/.test(suffix) ? host : host.replace(/:\d+$/, '');
  return name === suffix || name.endsWith(`.${suffix}`);
}
