import { createRequire } from 'node:module';
import type { UrlContext, UrlFilter, UrlVerdict } from 'incrawl/plugin';
import type { Options } from './options.ts';

const requireHere = createRequire(import.meta.url);

/**
 * Loaded only in mode `domain`. By `require`: an import would search the whole text of this CommonJS package for its
 * exported names.
 */
const loadTldts = (): typeof import('tldts') => requireHere('tldts');

/** Verdicts are kept per host; a crawl of the open web must not fill the memory with them. */
const MAX_CACHED_HOSTS = 20_000;

const IN_SCOPE: UrlVerdict = Object.freeze({ accept: true });

/** Which hosts are in scope under one set of seeds. */
interface HostScope {
  /** Number of seeds when this was made; a set that has grown since makes it stale. */
  readonly seeds: number;
  readonly hosts: ReadonlySet<string>;
  readonly domains: ReadonlySet<string>;
  readonly verdicts: Map<string, UrlVerdict>;
}

/** Keeps the crawl within hosts, domains or paths, and within a distance from the seeds. Options as in the README. */
export function createScopeFilter(options: Options): UrlFilter {
  const { mode, paths, maxDepth } = options;
  const tooDeep: UrlVerdict = { accept: false, reason: `more than ${maxDepth} links from a seed` };
  const otherPath: UrlVerdict = { accept: false, reason: 'path not in scope' };
  const scopes = new WeakMap<ReadonlySet<string>, HostScope>();

  const scopeOf = (seedHosts: ReadonlySet<string>): HostScope => {
    let scope = scopes.get(seedHosts);
    if (scope === undefined || scope.seeds !== seedHosts.size) {
      scope = createHostScope(options, seedHosts);
      scopes.set(seedHosts, scope);
    }
    return scope;
  };

  const judgeHost = (host: string, context: UrlContext): UrlVerdict => {
    if (mode !== 'list' && context.seedHosts.size === 0) return IN_SCOPE;
    const scope = scopeOf(context.seedHosts);
    const known = scope.verdicts.get(host);
    if (known !== undefined) return known;
    const verdict = verdictOn(host, scope, mode);
    if (scope.verdicts.size >= MAX_CACHED_HOSTS) scope.verdicts.clear();
    scope.verdicts.set(host, verdict);
    return verdict;
  };

  const judgePath = (url: string, hostStart: number, hostEnd: number, context: UrlContext): UrlVerdict => {
    const isOnPath = paths.some((path) => beginsWithPath(url, path, path.startsWith('/') ? hostEnd : hostStart));
    if (!isOnPath) return otherPath;
    const namesHost = paths.some((path) => !path.startsWith('/') && beginsWithPath(url, path, hostStart));
    return namesHost ? IN_SCOPE : judgeHost(url.slice(hostStart, hostEnd), context);
  };

  return {
    judgesDepth: maxDepth !== undefined,
    filter(url, context) {
      if (maxDepth !== undefined && context.depth > maxDepth) return tooDeep;
      if (mode === 'any') return IN_SCOPE;
      const hostStart = url.indexOf('//') + 2;
      const slash = url.indexOf('/', hostStart);
      const hostEnd = slash < 0 ? url.length : slash;
      if (mode === 'path') return judgePath(url, hostStart, hostEnd, context);
      return judgeHost(url.slice(hostStart, hostEnd), context);
    },
  };
}

function createHostScope({ mode, hosts, domains }: Options, seedHosts: ReadonlySet<string>): HostScope {
  const allHosts = new Set(hosts.map(withoutWww));
  const allDomains = new Set(domains);
  const tldts = mode === 'domain' ? loadTldts() : null;
  for (const host of mode === 'list' ? [] : seedHosts) {
    allHosts.add(withoutWww(host));
    const domain = tldts?.getDomain(host, { allowPrivateDomains: true }) ?? null;
    // An address, `localhost` or a public suffix has none: then the host stands only for itself.
    if (domain !== null) allDomains.add(domain);
  }
  return { seeds: seedHosts.size, hosts: allHosts, domains: allDomains, verdicts: new Map() };
}

function verdictOn(host: string, scope: HostScope, mode: Options['mode']): UrlVerdict {
  if (scope.hosts.has(withoutWww(host))) return IN_SCOPE;
  let domain = host.replace(/:\d+$/, '');
  for (;;) {
    if (scope.domains.has(domain)) return IN_SCOPE;
    const dot = domain.indexOf('.');
    if (dot < 0) break;
    domain = domain.slice(dot + 1);
  }
  return { accept: false, reason: `${mode === 'domain' ? 'domain' : 'host'} not in scope: ${host}` };
}

/** Sites answer under one of both names and redirect the other; this must not put a seed outside its own scope. */
function withoutWww(host: string): string {
  return host.startsWith('www.') ? host.slice(4) : host;
}

/** Whether `path` is in the URL at this place, and ends there with a segment. */
function beginsWithPath(url: string, path: string, at: number): boolean {
  if (!url.startsWith(path, at)) return false;
  const next = url[at + path.length];
  return path.endsWith('/') || next === undefined || next === '/' || next === '?';
}
