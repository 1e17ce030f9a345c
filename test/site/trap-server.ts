import { type Served, serve } from '../../bench/harness/places.ts';
import { htmlOf, type TrapPage } from './trap-pages.ts';

export interface TrapServer extends Served {
  /** Requests for pages so far, by the first directory; the start page under an empty name. */
  readonly requests: ReadonlyMap<string, number>;
  /** Paths of the pages that were answered. */
  readonly answered: ReadonlySet<string>;
}

/** Serves made-up pages on loopback; there is no robots.txt and no sitemap. */
export async function startTrapServer(page: (path: string) => TrapPage | null): Promise<TrapServer> {
  const requests = new Map<string, number>();
  const answered = new Set<string>();
  const site = await serve(({ url: path = '/' }, response) => {
    const found = page(path);
    if (found === null) return void response.writeHead(404).end();
    const [, first = ''] = path.split('/');
    requests.set(first, (requests.get(first) ?? 0) + 1);
    answered.add(path);
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end(htmlOf(found));
  });
  return { ...site, requests, answered };
}
