import { existsSync, readFileSync, statSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';

/** A folder with the validator (`python`) and the viewer (`replay`) that the authors of the specification provide. */
export const TOOLS = process.env.INCRAWL_TEST_WACZ ?? '';
export const NO_TOOLS = existsSync(join(TOOLS, 'replay', 'sw.js'))
  ? null
  : 'INCRAWL_TEST_WACZ names no folder with them';

/** A page with the viewer, which shows the page of the archive that the query names; ranges of the archive. */
export function viewer(archive: string, origin: string): RequestListener {
  return ({ url = '', headers }, response) => {
    const { pathname, search } = new URL(url, 'http://viewer.test');
    if (pathname === '/') {
      const shown = `${origin}${decodeURIComponent(search.slice(1))}`.replace('&', '&amp;');
      response.setHeader('content-type', 'text/html');
      response.end(
        `<script src="/replay/ui.js"></script><replay-web-page source="/site.wacz" url="${shown}" replayBase="/replay/" embed="replayonly" style="height: 600px"></replay-web-page>`,
      );
      return;
    }
    const file = pathname === '/site.wacz' ? archive : join(TOOLS, pathname);
    if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return void response.writeHead(404).end();
    const bytes = readFileSync(file);
    response.setHeader('content-type', file.endsWith('.js') ? 'text/javascript' : 'application/octet-stream');
    response.setHeader('accept-ranges', 'bytes');
    const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(headers.range ?? '') ?? [];
    if (first + last === '') return void response.end(bytes);
    const from = first === '' ? Math.max(0, bytes.length - Number(last)) : Number(first);
    const to = first === '' || last === '' ? bytes.length - 1 : Math.min(Number(last), bytes.length - 1);
    response.writeHead(206, { 'content-range': `bytes ${from}-${to}/${bytes.length}` });
    response.end(bytes.subarray(from, to + 1));
  };
}
