import type { Context, Hono } from 'hono';
import { fileEndingOf } from '../../core/domain/export/file-endings.ts';
import { filePathOf } from '../../core/domain/export/written-files.ts';
import type { StoredCopy } from '../../query/pages/stored-copy.ts';
import { isForeseen } from '../../render/exit.ts';
import { bytes } from '../../render/quantities.ts';
import { type Markup, markup, type Shown } from '../markup.ts';
import type { StateAccess } from '../state-access.ts';
import type { ContentAddresses } from './content-address.ts';
import { contentHeaders } from './content-headers.ts';
import { inertHtml } from './inert-html.ts';

interface ContentRoutes {
  readonly state: StateAccess;
  readonly addresses: ContentAddresses;
}

/** How a stored response can be shown: as a document, a picture or a text; `null`: not at all. */
export function showingOf({ type, text }: Pick<StoredCopy, 'type' | 'text'>): 'document' | 'picture' | 'text' | null {
  if (DOCUMENTS.has(type)) return 'document';
  if (PICTURES.has(type)) return 'picture';
  return text === null ? null : 'text';
}

const DOCUMENTS: ReadonlySet<string> = new Set(['text/html', 'application/xhtml+xml']);
const PICTURES: ReadonlySet<string> = new Set(
  ['png', 'jpeg', 'gif', 'webp', 'avif', 'bmp', 'x-icon', 'vnd.microsoft.icon', 'svg+xml'].map(
    (name) => `image/${name}`,
  ),
);
/** Types beside pictures and style sheets that requisites keep: none of them can run. */
const KEPT_TYPE = /^(?:(?:font|audio|video)\/|application\/(?:x-)?font-)[\w.+-]+$/;
const OTHER_TYPE = 'application/octet-stream';

/** Stored responses, in forms that cannot act. All else is in the headers ({@link contentHeaders}). */
export function addContentRoutes(app: Hono, { state, addresses }: ContentRoutes): void {
  const { own } = addresses;
  const answer = async (c: Context, read: (url: string) => Promise<Response | null>): Promise<Response> => {
    try {
      return (await read(c.req.query('u') ?? '')) ?? notStored(c, 'This page is not in the crawl.');
    } catch (error) {
      if (!isForeseen(error)) throw error;
      return notStored(c, error.message);
    }
  };
  const route = (kind: string, read: (c: Context, url: string) => Promise<Response | null>): void => {
    app.get(`${own}${kind}`, (c) => answer(c, (url) => read(c, url)));
  };
  app.use(`${own}*`, contentHeaders(own));
  route('page', async (c, url) => {
    const { segment, at = '', depth = '' } = c.req.query();
    const choice = segment === undefined ? { at: timeOf(at) } : { segment };
    const addressOf = addresses.within(Math.max(0, Number(depth) || 0));
    const copy = await state.withSegments(url, (crawler) => crawler.storedCopy(url, choice, addressOf));
    return copy === null ? null : asDocument(c, copy, own);
  });
  route('file', async (c, url) => {
    const { segment = '', at = '' } = c.req.query();
    const addressOf = addresses.within(0);
    const copy = await state.withSegments(url, (crawler) =>
      crawler.storedRequisite(url, segment, timeOf(at), addressOf),
    );
    return copy === null ? null : asFile(c, copy, requisiteType(copy));
  });
  route('download', async (c, url) => {
    const { segment = '' } = c.req.query();
    const copy = await state.withSegments(url, (crawler) => crawler.storedCopy(url, { segment }, (found) => found.url));
    return copy === null ? null : asFile(c, { ...copy, text: null }, OTHER_TYPE);
  });
  // Pages of the live view, which name its state directory, are for those with the token.
  app.all(`${own}*`, (c) => notStored(c, 'There is no such page.'));
}

/** Ms since the epoch; 0 for anything else: the oldest that is stored. */
const timeOf = (text: string): number => (/^\d{1,15}$/.test(text) ? Number(text) : 0);

function asDocument(c: Context, copy: StoredCopy, own: string): Response {
  const { type, text, body } = copy;
  const showing = showingOf(copy);
  if (showing === 'document') return c.html(inertHtml(text ?? '', own, type !== 'text/html'));
  if (showing === 'text') return c.body(text ?? '', 200, { 'Content-Type': 'text/plain; charset=utf-8' });
  if (showing === null)
    return c.html(message(`${type || 'A file without a type'}, ${bytes(body.length)}: not a page.`));
  // Within a document even a drawing is a picture, which loads nothing.
  const source = `data:${type};base64,${Buffer.from(body).toString('base64')}`;
  return c.html(documentOf(markup`<img src="${source}" alt="">`));
}

function requisiteType({ type, text }: StoredCopy): string {
  if (type === 'text/css' && text !== null) return 'text/css; charset=utf-8';
  return PICTURES.has(type) || KEPT_TYPE.test(type) ? type : OTHER_TYPE;
}

/** Opened by itself, a file is kept and not shown: no type can make a document of it. */
function asFile(c: Context, { url, type, text, body }: StoredCopy, sentType: string): Response {
  const path = filePathOf(url, fileEndingOf(type));
  const name = path.slice(path.lastIndexOf('/') + 1).replace(/[^\w.~=-]/g, '_');
  return c.body(text ?? new Uint8Array(body), 200, {
    'Content-Type': sentType,
    'Content-Disposition': `attachment; filename="${name}"`,
  });
}

const notStored = (c: Context, text: string): Response => c.html(message(text), 404);

const message = (text: string): Markup =>
  documentOf(markup`<p>${text}</p><p>Only what the crawl has stored is shown here.</p>`);

const documentOf = (content: Shown): Markup =>
  markup`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Stored</title><style>body{font:16px/1.5 system-ui,sans-serif;margin:1.5rem}img{max-width:100%}</style></head><body>${content}</body></html>`;
