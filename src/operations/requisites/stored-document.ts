import { decodeBody } from '../../core/plugin-host/parsing/decode.ts';
import type { WireResponse } from '../../core/ports/segment-store.ts';
import { shownResponse } from '../../core/steps/render/visit-rendered.ts';
import type { PageAccess } from '../deps.ts';
import { type ReplaceAddress, withCssAddresses } from './css-addresses.ts';
import { withHtmlAddresses } from './html-addresses.ts';

/** A stored body that is ready to be shown. */
export interface StoredDocument {
  /** MIME type in lower case, without parameters; empty where none was declared. */
  readonly type: string;
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
  const type = mimeType(headerOf(rawHeaders, 'content-type'));
  return {
    type,
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
 * The document with its addresses replaced, as UTF-8. It begins with a byte order mark where it says to be otherwise
 * encoded, since browsers believe the mark first. `null`: no address was replaced, and the body is good as it is.
 *
 * @param contentType the whole header
 */
export function withAddresses(
  { type, body, isRendered = false }: StoredDocument,
  url: string,
  contentType: string | null,
  replace: ReplaceAddress,
): Uint8Array | null {
  const addressed = ADDRESSED[type];
  if (addressed === undefined) return null;
  const { text, charset } = decodeBody(body, { contentType, kind: addressed.kind });
  const replaced = addressed.read(text, url, replace, { isRendered });
  if (replaced === text) return null;
  return Buffer.from(charset === 'utf-8' ? replaced : `\uFEFF${replaced}`);
}

/** The addresses of requisites in a document, each once, in document order. */
export function requisitesOf(document: StoredDocument, url: string, contentType: string | null): readonly string[] {
  const found = new Set<string>();
  withAddresses(document, url, contentType, (address, use) => {
    if (use === 'requisite') found.add(address);
    return null;
  });
  return [...found];
}
