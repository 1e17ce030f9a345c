import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join, relative } from 'node:path';
import { type Served, serve } from '../harness/places.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.gif': 'image/gif',
  '.ico': 'image/x-icon',
  '.txt': 'text/plain',
  '.xml': 'application/xml',
};

/** A folder of documentation, served as nginx would serve it. */
export interface DocumentSite extends Served {
  /** Address of its first page. */
  readonly start: string;
  /** Paths of all HTML pages, from the folder. */
  readonly pages: readonly string[];
  /** Requests so far, and body bytes sent. */
  readonly counts: { requests: number; bytes: number };
  /** Gives pages a text of their own; resolves with it. */
  revise(pages: readonly string[], text: string): void;
}

export async function documentSite(folder: string): Promise<DocumentSite> {
  const revised = new Map<string, { readonly text: string; readonly at: Date }>();
  const counts = { requests: 0, bytes: 0 };
  const served = await serve((request, response) => {
    counts.requests++;
    const path = decodeURIComponent(new URL(request.url ?? '/', 'http://x').pathname).slice(1);
    const name = path === '' || path.endsWith('/') ? `${path}index.html` : path;
    const file = join(folder, name);
    const found = statSync(file, { throwIfNoEntry: false });
    if (found?.isDirectory()) return void response.writeHead(301, { location: `/${name}/` }).end();
    if (found === undefined) return void response.writeHead(404, { 'content-type': 'text/plain' }).end('not found');
    const revision = revised.get(name);
    const bytes = readFileSync(file);
    const body = revision === undefined ? bytes : Buffer.concat([bytes, Buffer.from(`<p>${revision.text}</p>`)]);
    const etag = `"${createHash('sha256').update(body).digest('hex').slice(0, 16)}"`;
    const changed = new Date(Math.floor((revision?.at ?? found.mtime).getTime() / 1_000) * 1_000);
    const since = Date.parse(request.headers['if-modified-since'] ?? '');
    const tag = request.headers['if-none-match'];
    const isKnown = tag === undefined ? since >= changed.getTime() : tag === etag;
    const head = { etag, 'last-modified': changed.toUTCString(), 'content-type': TYPES[extname(name)] ?? 'text/plain' };
    if (isKnown) return void response.writeHead(304, head).end();
    response.writeHead(200, { ...head, 'content-length': body.length });
    if (request.method === 'HEAD') return void response.end();
    counts.bytes += body.length;
    response.end(body);
  });
  return {
    ...served,
    start: `${served.origin}/index.html`,
    counts,
    pages: readdirSync(folder, { recursive: true, encoding: 'utf8', withFileTypes: true })
      .filter((entry) => entry.name.endsWith('.html') && !entry.isDirectory())
      .map((entry) => relative(folder, join(entry.parentPath, entry.name))),
    revise(pages, text) {
      for (const page of pages) revised.set(page, { text, at: new Date() });
    },
  };
}
