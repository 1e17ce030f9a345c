import { isAscii } from 'node:buffer';
import { decodeBody, sniffEncoding } from '../../core/plugin-host/parsing/decode.ts';
import type { WireResponse } from '../../core/ports/segment-store.ts';
import { shownResponse } from '../../core/steps/render/visit-rendered.ts';
import type { PageAccess } from '../deps.ts';
import { type ReplaceAddress, withCssAddresses } from './css-addresses.ts';
import { withHtmlAddresses } from './html-addresses.ts';

/** A stored body that is ready to be shown. */
export interface StoredDocument {
  /** MIME type in lower case, without parameters; empty where none was declared. */
  readonly type: string;
  /** The whole header of what is shown, which may differ from that of the response; `null` when absent. */
  readonly contentType: string | null;
  /** Content codings undone. */
  readonly body: Uint8Array;
  /** A browser has made it; absent: it is as it came. */
  readonly isRendered?: boolean;
}

/** A body of which addresses are read. */
const ADDRESSED: Readonly<Record<string, { readonly kind: 'html' | 'xml' | 'text'; readonly read: ReadAddresses }>> = {
  'text/html': { kind: 'html', read: withHtmlAddresses },
  'application/xhtml+xml': { kind: 'xml', read: withHtmlAddresses },
  'image/svg+xml': { kind: 'xml', read: withHtmlAddresses },
  'text/css': { kind: 'text', read: withCssAddresses },
};

type ReadAddresses = (
  text: string,
  url: string,
  replace: ReplaceAddress,
  kind: { readonly isRendered: boolean },
) => string;

/** The document of a stored response: what a browser made of it, where it was rendered. */
export async function storedDocument(
  stored: WireResponse,
  undoContentCoding: PageAccess['undoContentCoding'],
): Promise<StoredDocument> {
  const { rawHeaders, body } = shownResponse(stored);
  const contentType = headerOf(rawHeaders, 'content-type');
  return {
    type: mimeType(contentType),
    contentType,
    body: await undoContentCoding(body ?? new Uint8Array(0), headerOf(rawHeaders, 'content-encoding') ?? undefined),
    ...(stored.rendered !== undefined && { isRendered: true }),
  };
}

export const mimeType = (contentType: string | null): string =>
  (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';

function headerOf(rawHeaders: readonly string[], name: string): string | null {
  for (let i = 0; i + 1 < rawHeaders.length; i += 2)
    if (rawHeaders[i]?.toLowerCase() === name) return rawHeaders[i + 1]!;
  return null;
}

/**
 * The document with its addresses replaced, as UTF-8. It begins with a byte order mark, which browsers believe first,
 * unless it says by itself to be so encoded: the header is lost. `null`: no address was replaced.
 */
export function withAddresses(document: StoredDocument, url: string, replace: ReplaceAddress): Uint8Array | null {
  const { type, contentType, body, isRendered = false } = document;
  const addressed = ADDRESSED[type];
  if (addressed === undefined) return null;
  const { kind, read } = addressed;
  const { text } = decodeBody(body, { contentType, kind });
  const replaced = read(text, url, replace, { isRendered });
  if (replaced === text) return null;
  const bytes = Buffer.from(replaced);
  const saysSo = !hasMark(body) && sniffEncoding(body, { contentType: null, kind }) === 'utf-8';
  return saysSo || isAscii(bytes) ? bytes : Buffer.concat([MARK, bytes]);
}

/** The byte order mark in UTF-8. */
const MARK = Buffer.from('\uFEFF');
const hasMark = (body: Uint8Array): boolean => MARK.equals(body.subarray(0, MARK.length));

/** The addresses of requisites in a document, each once, in document order. */
export function requisitesOf(document: StoredDocument, url: string): readonly string[] {
  const found = new Set<string>();
  withAddresses(document, url, (address, use) => {
    if (use === 'requisite') found.add(address);
    return null;
  });
  return [...found];
}
