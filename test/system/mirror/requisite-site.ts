import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { crc32, deflateSync } from 'node:zlib';

/** A picture of one colour. */
export function png(width: number, height: number, [r, g, b]: readonly [number, number, number]): Buffer {
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const frame = Buffer.alloc(8);
    frame.writeUInt32BE(data.length, 0);
    frame.writeUInt32BE(crc32(body), 4);
    return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
  };
  const head = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 2, 0, 0, 0]);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  const row = Buffer.concat([Buffer.from([0]), Buffer.from(Array.from({ length: width }, () => [r, g, b]).flat())]);
  const rows = deflateSync(Buffer.concat(Array.from({ length: height }, () => row)));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([signature, chunk('IHDR', head), chunk('IDAT', rows), chunk('IEND', Buffer.alloc(0))]);
}

export interface SiteFile {
  readonly type: string;
  readonly body: string | Uint8Array;
  readonly status?: number;
  readonly location?: string;
}

const HTML = 'text/html; charset=utf-8';
const html = (body: string): SiteFile => ({ type: HTML, body });
const picture = (...rgb: [number, number, number]): SiteFile => ({ type: 'image/png', body: png(24, 24, rgb) });

const SCRIPT = 'for (const i of document.querySelectorAll(".lazy")) i.src = i.dataset.src;';

/** Every kind of requisite, on two origins: `other` is the address of the second one, such as a CDN. */
export function requisiteSite(other: string): Map<string, SiteFile> {
  return new Map<string, SiteFile>(
    Object.entries({
      '/': html(`<!doctype html><html lang=en><head><title>Start</title>
<link rel=stylesheet href="/style/main.css?v=3"><link rel=icon href=/favicon.ico>
<link rel=preconnect href="${other}"><script src="/app.js" integrity="sha256-${createHash('sha256').update(SCRIPT).digest('base64')}" async></script>
<style>@import "/style/inline.css"; .inline { background-image: url("/img/inline.png") }</style></head>
<body><h1 class=title>Start</h1><p>A page of text with every kind of requisite that a browser loads to show it.</p>
<p><a href="/about">About</a> <a href="docs/">Docs</a> <a href="/query?id=1&amp;sort=a">One</a>
<a href="/query?id=2">Two</a> <a href="/moved">Moved</a> <a href="/latin">Latin</a> <a href="/based">Based</a>
<a href="#end">End</a></p>
<img src="/img/plain.png" width=24 height=24><img srcset="/img/1x.png 1x, /img/2x.png 2x" width=24 height=24>
<picture><source type="image/png" srcset="/img/picture.png"><img src="/img/fallback.png" width=24 height=24></picture>
<img data-src="/img/lazy.png" class=lazy width=24 height=24><img src="${other}/cdn.png" width=24 height=24>
<div class=inline style="width:24px;height:24px"></div><div class=sheet style="width:24px;height:24px"></div>
<div style="width:24px;height:24px;background:url('/img/attribute.png')"></div>
<img src="/img/drawing.svg" width=24 height=24><img src="/picture?name=dynamic" width=24 height=24>
<svg width=24 height=24><image href="/img/in-svg.png" width=24 height=24></image></svg>
<object data="/img/object.svg" type="image/svg+xml" width=24 height=24></object>
<video src="/clip.mp4" poster="/img/poster.png" width=24 height=24 preload=none></video>
<iframe src="/frame" width=60 height=30></iframe><noscript><img src="/img/noscript.png"></noscript>
<p id=end>The end.</p></body></html>`),
      '/about': html(
        `<!doctype html><title>About</title><link rel=stylesheet href="style/main.css?v=3"><p>About this site, in some words. <a href="/">Start</a> <a href="docs/guide.html#part">Guide</a><img src="img/missing.png"><img src="img/plain.png">`,
      ),
      '/docs/': html(
        `<!doctype html><title>Docs</title><link rel=stylesheet href="../style/main.css?v=3"><p>The documents. <a href="guide.html">Guide</a> <a href="../about">About</a>`,
      ),
      '/docs/guide.html': html(
        `<!doctype html><title>Guide</title><p id=part>A guide to the site. <a href="./">Docs</a><img src="../img/plain.png">`,
      ),
      '/query?id=1&sort=a': html(
        `<!doctype html><title>One</title><p>The first answer to a query. <a href="/">Start</a>`,
      ),
      '/query?id=2': html(
        `<!doctype html><title>Two</title><p>The second answer, of another text. <a href="/">Start</a>`,
      ),
      '/moved': { type: 'text/html', body: '', status: 301, location: '/about' },
      '/latin': {
        type: 'text/html',
        body: Buffer.from(
          '<!doctype html><meta charset=iso-8859-1><title>Caf\xe9</title><p>Caf\xe9 cr\xe8me <a href="/">Start</a>',
          'latin1',
        ),
      },
      '/based': html(
        `<!doctype html><base href="/docs/"><title>Based</title><p>Its links are told from elsewhere. <a href="guide.html">Guide</a> <a href="#x">X</a><img src="../img/plain.png" id=x>`,
      ),
      '/frame': html(`<!doctype html><title>Frame</title><body style="background:#fc0;margin:0"><p>framed</p></body>`),
      '/style/main.css?v=3': {
        type: 'text/css',
        body: `@import url("colors.css");\n@font-face { font-family: F; src: url(font.woff2) format("woff2") }\n.sheet { background: url(../img/sheet.png) }\n/* url(../img/comment.png) */`,
      },
      '/style/colors.css': { type: 'text/css', body: '@import "deep.css";\n.title { color: #06c }' },
      '/style/deep.css': { type: 'text/css', body: 'body { background: #eef url(/img/deep.png) no-repeat 100% 100% }' },
      '/style/inline.css': { type: 'text/css', body: 'p { margin: 2px }' },
      '/style/font.woff2': { type: 'font/woff2', body: Buffer.from('wOF2 no font in truth') },
      '/app.js': { type: 'text/javascript', body: SCRIPT },
      '/favicon.ico': { type: 'image/x-icon', body: png(16, 16, [9, 9, 9]) },
      '/clip.mp4': { type: 'video/mp4', body: Buffer.alloc(500, 1) },
      '/img/drawing.svg': {
        type: 'image/svg+xml',
        body: '<svg xmlns="http://www.w3.org/2000/svg" width="24" height="24"><circle cx="12" cy="12" r="9" fill="#0a0"/></svg>',
      },
      '/img/object.svg': {
        type: 'image/svg+xml',
        body: '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="24" height="24"><image xlink:href="of-svg.png" width="24" height="24"/></svg>',
      },
      '/picture?name=dynamic': picture(200, 120, 0),
      '/img/plain.png': picture(255, 0, 0),
      '/img/1x.png': picture(0, 255, 0),
      '/img/2x.png': picture(0, 0, 255),
      '/img/picture.png': picture(255, 255, 0),
      '/img/fallback.png': picture(0, 255, 255),
      '/img/lazy.png': picture(255, 0, 255),
      '/img/inline.png': picture(128, 0, 0),
      '/img/attribute.png': picture(0, 128, 0),
      '/img/sheet.png': picture(0, 0, 128),
      '/img/deep.png': picture(128, 128, 0),
      '/img/in-svg.png': picture(0, 128, 128),
      '/img/of-svg.png': picture(128, 0, 128),
      '/img/poster.png': picture(64, 64, 64),
      '/img/noscript.png': picture(32, 32, 32),
    }),
  );
}

export interface RunningSite {
  readonly origin: string;
  readonly files: Map<string, SiteFile>;
  /** Method and path of each request so far. */
  readonly requests: string[];
  close(): Promise<void>;
}

/** Serves files, with entity tags, until it is closed. */
export async function serveSite(files: Map<string, SiteFile>): Promise<RunningSite> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    requests.push(`${request.method} ${path}`);
    const file = files.get(path);
    if (file === undefined) return void response.writeHead(404, { 'content-type': 'text/plain' }).end('not found');
    const body = Buffer.from(file.body);
    const tag = `"${crc32(body).toString(16)}-${body.length}"`;
    const head = { 'content-type': file.type, etag: tag, 'access-control-allow-origin': '*' };
    if (file.status !== undefined)
      return void response.writeHead(file.status, { ...head, location: file.location }).end();
    if (request.headers['if-none-match'] === tag) return void response.writeHead(304, head).end();
    response.writeHead(200, { ...head, 'content-length': body.length }).end(request.method === 'HEAD' ? '' : body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    files,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
