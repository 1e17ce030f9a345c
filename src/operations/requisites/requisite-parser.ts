import { encodeParsed } from '../../core/plugin-host/parsing/encode-parsed.ts';
import type { PageParser } from '../../core/ports/page-parser.ts';
import type { Outlink } from '../../core/ports/segment-store.ts';
import { mimeType, requisitesOf } from './stored-document.ts';

/** The text of a requisite is never read, so only the digest of its body tells whether it has changed. */
const UNREAD = {
  kind: 'parsed',
  signature: null,
  signatureName: 'requisite',
  title: null,
  textChars: 0,
  stated: null,
  places: [],
  noindex: false,
  metadata: {},
} as const;

/**
 * Finds what style sheets and SVG pictures import in turn. Everything else has no outlinks: an HTML page given in place
 * of a picture is the error page of a server.
 */
export const requisiteParser: PageParser = {
  pending: 0,
  async parse({ index, url, contentType, body }) {
    const type = mimeType(contentType);
    const isRead = type === 'text/css' || type === 'image/svg+xml';
    const found = isRead ? requisitesOf({ type, contentType, body }, url) : [];
    const outlinks = found.map((address): Outlink => ({ url: address, anchor: '', rel: 'link', nofollow: false }));
    return encodeParsed({
      index,
      url,
      outcome: UNREAD,
      contentType: contentType ?? '',
      charset: null,
      lang: null,
      canonical: null,
      text: '',
      outlinks,
    });
  },
  close: async () => {},
};
