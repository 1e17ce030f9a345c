import { posix } from 'node:path';
import type { ServedFile, ServedSite } from './served-site.ts';

/** A request for a file; header names are lower case. */
export interface FileRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export interface StaticAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Empty for a HEAD and a 304. */
  readonly body: Buffer;
}

/** What a server adds to pages that it makes anew for each request. */
export interface Dynamic {
  /** Seconds since the epoch. */
  readonly time: number;
  /** Never the same. */
  readonly nonce: string;
}

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html',
  htm: 'text/html',
  xml: 'text/xml',
  rdf: 'text/xml',
  txt: 'text/plain',
  md: 'text/plain',
  pdf: 'application/pdf',
};

const isEntityTag = /^(?:W\/)?("[^"]*")$/;

/** Answers as nginx does from a folder with `index index.html`; `dynamic` takes all validators away. */
export function staticAnswer(site: ServedSite, request: FileRequest, dynamic: Dynamic | null): StaticAnswer {
  const { method, url } = request;
  if (method !== 'GET' && method !== 'HEAD') return plain(405, method);
  const at = url.indexOf('?');
  const [raw, query] = at < 0 ? [url, ''] : [url.slice(0, at), url.slice(at)];
  const path = decodedPath(raw);
  if (path === null) return plain(400, method);
  const name = path.slice(1);
  if (path.endsWith('/')) {
    const index = site.file(`${name}index.html`);
    if (index !== undefined) return found(index, 'index.html', request, dynamic);
    return plain(site.isFolder(name.slice(0, -1)) ? 403 : 404, method);
  }
  if (site.isFolder(name)) {
    const location = `http://${String(request.headers.host ?? '')}${encodeURI(path)}/${query}`;
    return { ...plain(301, method), headers: { 'content-type': 'text/html', location } };
  }
  const file = site.file(name);
  return file === undefined ? plain(404, method) : found(file, name, request, dynamic);
}

/** Without percent-encoding, dot segments and repeated slashes; `null` for one that cannot be read. */
function decodedPath(raw: string): string | null {
  try {
    const path = posix.normalize(decodeURIComponent(raw));
    return path.startsWith('/') && !path.includes('\0') ? path : null;
  } catch {
    return null;
  }
}

function found(file: ServedFile, name: string, request: FileRequest, dynamic: Dynamic | null): StaticAnswer {
  const extension = /\.([^./]+)$/.exec(name)?.[1]?.toLowerCase() ?? '';
  const type = TYPES[extension] ?? 'application/octet-stream';
  const isHead = request.method === 'HEAD';
  if (dynamic !== null) {
    const body = type === 'text/html' ? withNonce(file.body, dynamic) : file.body;
    const headers = { 'content-type': type, 'cache-control': 'no-store' };
    return { status: 200, headers, body: isHead ? Buffer.alloc(0) : body };
  }
  const lastModified = new Date(1_000 * file.modified).toUTCString();
  const etag = `"${file.modified.toString(16)}-${file.body.length.toString(16)}"`;
  const validators = { 'last-modified': lastModified, etag };
  if (isNotModified(request, lastModified, etag)) return { status: 304, headers: validators, body: Buffer.alloc(0) };
  const headers = { ...validators, 'content-type': type, 'content-length': String(file.body.length) };
  return { status: 200, headers: { ...headers, 'accept-ranges': 'bytes' }, body: isHead ? Buffer.alloc(0) : file.body };
}

/** As nginx: a date must be the very same, and where both conditions are given, both must hold. */
function isNotModified({ headers }: FileRequest, lastModified: string, etag: string): boolean {
  const [since, none] = [headers['if-modified-since'], headers['if-none-match']];
  if (since === undefined && none === undefined) return false;
  if (since !== undefined && Date.parse(String(since)) !== Date.parse(lastModified)) return false;
  return none === undefined || isTagAmong(String(none), etag);
}

const isTagAmong = (list: string, etag: string): boolean =>
  list.split(',').some((each) => each.trim() === '*' || isEntityTag.exec(each.trim())?.[1] === etag);

function withNonce(body: Buffer, { time, nonce }: Dynamic): Buffer {
  const text = body.toString('latin1');
  const at = text.search(/<\/body>/i);
  if (at < 0) return body;
  const iso = `${new Date(1_000 * time).toISOString().slice(0, 19)}+00:00`;
  const added = `<div id="served"><p>Page served at ${iso}, request ${nonce}</p></div>`;
  return Buffer.concat([body.subarray(0, at), Buffer.from(added), body.subarray(at)]);
}

function plain(status: number, method: string): StaticAnswer {
  const body = `<html><head><title>${status}</title></head><body><center><h1>${status}</h1></center></body></html>\n`;
  const headers = { 'content-type': 'text/html', 'content-length': String(body.length) };
  return { status, headers, body: Buffer.from(method === 'HEAD' ? '' : body) };
}
