import { isPage, type Step } from './history.ts';
import type { LoggedRequest } from './site-server.ts';

/** By step, the files that a run learnt to be as they are now. */
export type Visits = readonly ReadonlySet<string>[];

/** Requests by what they were for. */
export interface RequestCounts {
  /** Answers of 200 and 304 for HTML. */
  readonly pages: number;
  /** Share of the requests after the first run that were not for live pages. */
  readonly notLive: number;
  /** Requests after the first run by kind: pages, robots.txt, redirects, missing and other files. */
  readonly laterByKind: Readonly<Record<string, number>>;
}

/** The file that a path names, as the site serves it. */
export function fileOf(uri: string): string {
  const end = uri.search(/[?#]/);
  const path = decodeURIComponent(end < 0 ? uri : uri.slice(0, end)).replace(/^\/+/, '');
  return path === '' || path.endsWith('/') ? `${path}index.html` : path;
}

/**
 * What the log of a server shows that the crawler learnt. A 304 confirms the copy unless it stands for a file that the
 * crawler does not have.
 */
export function visitsOf(steps: readonly Step[], logs: readonly (readonly LoggedRequest[])[]): Visits {
  const bodies = new Map<string, number | undefined>();
  return logs.map((log, i) => {
    const { tree } = steps[i] as Step;
    const seen = new Set<string>();
    for (const { uri, status } of log) {
      if (uri === '/robots.txt') continue;
      const file = fileOf(uri);
      if (status === 200 && isPage(file)) {
        bodies.set(uri, tree.get(file));
        seen.add(file);
      } else if (status === 304) {
        if (!isPage(file) || bodies.get(uri) === tree.get(file)) seen.add(file);
      }
    }
    return seen;
  });
}

export function countRequests(logs: readonly (readonly LoggedRequest[])[]): RequestCounts {
  const kinds = logs.map((log) => log.map(kindOf));
  const later = kinds.slice(1).flat();
  const laterByKind: Record<string, number> = {};
  for (const kind of later) laterByKind[kind] = (laterByKind[kind] ?? 0) + 1;
  return {
    pages: kinds.flat().filter((kind) => kind === 'page').length,
    notLive: (later.length - (laterByKind.page ?? 0)) / Math.max(1, later.length),
    laterByKind,
  };
}

function kindOf({ uri, status }: LoggedRequest): string {
  if (uri === '/robots.txt') return 'robots.txt';
  if (status === 200 || status === 304) return isPage(fileOf(uri)) ? 'page' : 'other file';
  if (status >= 300 && status < 400) return 'redirect';
  return status === 404 || status === 410 ? 'missing' : `status ${status}`;
}
