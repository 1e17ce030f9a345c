import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ChangingSite {
  readonly origin: string;
  /**
   * Bodies by path; what is missing is answered with 404, what begins with `http` or `/` with a redirect. HTML unless
   * the path says otherwise.
   */
  readonly pages: Map<string, string>;
  /** Content types by path, for those that say another than their path. */
  readonly types: Map<string, string>;
  /** Further header fields by path. A request whose condition names the `etag` among them is answered by 304. */
  readonly headers: Map<string, Readonly<Record<string, string>>>;
  /** Requests as they came: method and path. */
  readonly requests: string[];
  close(): Promise<void>;
}

const TYPES: readonly (readonly [RegExp, string])[] = [
  [/\.txt$/, 'text/plain; charset=utf-8'],
  [/\.xml$/, 'application/rss+xml'],
];

/** A site whose pages the test changes between two crawls. */
export async function startChangingSite(pages: Readonly<Record<string, string>>): Promise<ChangingSite> {
  const stored = new Map(Object.entries(pages));
  const types = new Map<string, string>();
  const headers = new Map<string, Readonly<Record<string, string>>>();
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    const body = stored.get(path);
    const further = headers.get(path) ?? {};
    requests.push(`${request.method} ${path}`);
    if (body === undefined) response.writeHead(404).end();
    else if (/^(?:https?:|\/)/.test(body)) response.writeHead(301, { location: body }).end();
    else if (further.etag !== undefined && request.headers['if-none-match'] === further.etag)
      response.writeHead(304, further).end();
    else {
      const type = types.get(path) ?? TYPES.find(([pattern]) => pattern.test(path))?.[1] ?? 'text/html; charset=utf-8';
      response.writeHead(200, { 'content-type': type, ...further }).end(body);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    pages: stored,
    types,
    headers,
    requests,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
