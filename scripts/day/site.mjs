// Serves a folder of HTML files as nginx would, its subfolders from loopback addresses of their own: the top level from
// 127.0.0.1, each folder that holds pages from 127.0.0.2 and on. A path asked of the wrong address is redirected.
import { createReadStream, readdirSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';

const TYPES = {
  '.css': 'text/css',
  '.gif': 'image/gif',
  '.html': 'text/html',
  '.ico': 'image/x-icon',
  '.jpg': 'image/jpeg',
  '.js': 'text/javascript',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain',
};

/** Relative paths of the HTML files below a folder. */
export const pagesOf = (folder) =>
  readdirSync(folder, { recursive: true })
    .filter((path) => extname(path) === '.html')
    .sort();

/** Started site: `origins`, `counts` of requests by status since the last `reset`, and `close`. */
export async function startSite(folder, port) {
  const sections = [
    ...new Set(
      pagesOf(folder)
        .filter((path) => path.includes('/'))
        .map((path) => path.split('/')[0]),
    ),
  ];
  const addresses = ['127.0.0.1', ...sections.map((_, at) => `127.0.0.${at + 2}`)];
  const origins = addresses.map((address) => `http://${address}:${port}`);
  const counts = new Map();
  const servers = await Promise.all(
    addresses.map((address, at) => {
      const server = createServer((request, response) => {
        const { status, headers, file } = answerTo(request, at);
        counts.set(status, (counts.get(status) ?? 0) + 1);
        response.writeHead(status, headers);
        if (file === undefined || request.method === 'HEAD') response.end();
        else createReadStream(file).pipe(response);
      });
      return new Promise((resolve, reject) => {
        server.once('error', reject).listen(port, address, () => resolve(server));
      });
    }),
  );

  function answerTo(request, at) {
    const path = normalize(decodeURIComponent(request.url.split('?')[0]));
    const owner = 1 + sections.indexOf(path.split('/')[1]);
    if (path !== '/robots.txt' && owner !== at) {
      return { status: 301, headers: { location: `${origins[owner]}${path}`, 'content-length': 0 } };
    }
    const file = join(folder, path.endsWith('/') ? `${path}index.html` : path);
    const info = statSync(file, { throwIfNoEntry: false });
    if (!info?.isFile()) return { status: 404, headers: { 'content-length': 0 } };
    const etag = `"${Math.floor(info.mtimeMs).toString(16)}-${info.size.toString(16)}"`;
    const headers = { etag, 'last-modified': info.mtime.toUTCString() };
    if (request.headers['if-none-match'] === etag) return { status: 304, headers };
    headers['content-type'] = TYPES[extname(file)] ?? 'application/octet-stream';
    headers['content-length'] = info.size;
    return { status: 200, headers, file };
  }

  return {
    origins,
    counts,
    reset: () => counts.clear(),
    close: () =>
      Promise.all(
        servers.map((server) => {
          server.closeAllConnections();
          return new Promise((resolve) => server.close(resolve));
        }),
      ),
  };
}
