import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A page as text of its body, or what its address answers instead. */
export type Answer = string | { readonly status: number; readonly location?: string };

export interface ChangingSite {
  readonly origin: string;
  /** By path; what is not here is 404. Tests change it between crawls. */
  readonly pages: Map<string, Answer>;
  close(): Promise<void>;
}

/** A site of a few pages that a test rewrites; `/` links to all that there are at its start. */
export async function startChangingSite(first: Readonly<Record<string, Answer>>): Promise<ChangingSite> {
  const pages = new Map<string, Answer>(Object.entries(first));
  const links = [...pages.keys()].map((path) => `<a href="${path}">${path}</a>`).join(' ');
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    const answer: Answer = path === '/' ? `<p>The start.</p>${links}` : (pages.get(path) ?? { status: 404 });
    if (typeof answer !== 'string') {
      response.writeHead(answer.status, answer.location === undefined ? {} : { location: answer.location }).end();
      return;
    }
    if (path.endsWith('.txt')) {
      response.setHeader('content-type', 'text/plain');
      response.end(answer);
      return;
    }
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end(`<!doctype html><html lang="en"><title>Page ${path}</title><main>${answer}</main></html>`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    pages,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Text of `count` words that belong to a topic, so that other topics have other signatures. */
export const words = (topic: string, count = 80): string =>
  `<p>${Array.from({ length: count }, (_, i) => `${topic}${(i * 7) % 53}`).join(' ')}.</p>`;
