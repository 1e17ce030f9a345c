import { isPage, type Step } from './history.ts';
import type { LoggedRequest } from './site-server.ts';

/** What a run learnt of a file: that it is as it is now, or that it is gone. */
export type Found = 'seen' | 'gone';

/** By step, what was learnt of each file. */
export type Visits = readonly ReadonlyMap<string, Found>[];

/** Requests by what they were for. */
export interface RequestCounts {
  readonly all: number;
  /** Answers of 200 and 304 for HTML. */
  readonly pages: number;
  /** After the first run: all, and those that were not for live pages. */
  readonly later: number;
  readonly laterNotLive: number;
  /** The same by kind: robots.txt, redirects, missing and other files. */
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
 * crawler does not have; a missing file is news only where there was a copy.
 */
export function visitsOf(steps: readonly Step[], logs: readonly (readonly LoggedRequest[])[]): Visits {
  const held = new Set<string>();
  const bodies = new Map<string, number | undefined>();
  return logs.map((log, i) => {
    const { tree } = steps[i] as Step;
    const found = new Map<string, Found>();
    for (const { uri, status } of log) {
      if (uri === '/robots.txt') continue;
      const file = fileOf(uri);
      if (status === 200 && isPage(file)) {
        bodies.set(uri, tree.get(file));
        found.set(file, 'seen');
      } else if (status === 304) {
        if (!isPage(file) || bodies.get(uri) === tree.get(file)) found.set(file, 'seen');
      } else if ((status === 404 || status === 410) && held.has(file)) {
        found.set(file, 'gone');
      }
    }
    for (const file of found.keys()) held.add(file);
    return found;
  });
}

export function countRequests(logs: readonly (readonly LoggedRequest[])[]): RequestCounts {
  const kinds = logs.map((log) => log.map(kindOf));
  const later = kinds.slice(1).flat();
  const laterByKind: Record<string, number> = {};
  for (const kind of later) laterByKind[kind] = (laterByKind[kind] ?? 0) + 1;
  const laterNotLive = later.length - (laterByKind.page ?? 0);
  const pages = kinds.flat().filter((kind) => kind === 'page').length;
  return { all: kinds.flat().length, pages, later: later.length, laterNotLive, laterByKind };
}

function kindOf({ uri, status }: LoggedRequest): string {
  if (uri === '/robots.txt') return 'robots.txt';
  if (status === 200 || status === 304) return isPage(fileOf(uri)) ? 'page' : 'other file';
  if (status >= 300 && status < 400) return 'redirect';
  return status === 404 || status === 410 ? 'missing' : `status ${status}`;
}
